defmodule Plimsoll.Workload.NutsTest do
  use ExUnit.Case, async: true

  alias Plimsoll.TestVM

  @env %{"PLIMSOLL_LEVEL" => "2", "PLIMSOLL_SECONDS" => "0.2", "PLIMSOLL_SEED" => "3"}

  defp done(workload, env) do
    {output, 0} = TestVM.run([workload], Map.merge(@env, env))
    output |> String.split("\n", trim: true) |> List.last()
  end

  test "the done line says where the draws were made, of what, and how long jobs took" do
    line = done("nuts", %{})
    assert line =~ ~s("on":"dirty","model":"m1","job_median_ms":)
    assert line =~ ~r/"job_p95_ms":[0-9.e-]+,"moved":0\}\z/
    assert done("nuts-stepping", %{}) =~ ~s("on":"stepping","model":"m1")
  end

  test "the environment chooses another model and mode" do
    env = %{"PLIMSOLL_NUTS_ON" => "stepping", "PLIMSOLL_NUTS_MODEL" => "m5"}
    assert done("nuts", env) =~ ~s("on":"stepping","model":"m5")
  end

  test "what it cannot choose is refused by name" do
    {output, 3} = TestVM.run(["nuts"], Map.put(@env, "PLIMSOLL_NUTS_ON", "both"))
    assert output =~ ~s(PLIMSOLL_NUTS_ON is "both": use dirty or stepping)
  end
end
