defmodule Plimsoll.Workload.SettingsTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.Settings

  doctest Settings

  @good %{"PLIMSOLL_LEVEL" => "3", "PLIMSOLL_SECONDS" => "2", "PLIMSOLL_SEED" => "7"}

  defp read(env), do: Settings.read(&Map.get(env, &1))

  test "whole and broken seconds, and a seed of 64 bits, are read" do
    assert {:ok, %Settings{level: 3, seconds: 2.0, seed: 7}} = read(@good)
    assert {:ok, %{seconds: 0.05}} = read(%{@good | "PLIMSOLL_SECONDS" => "0.05"})
    assert {:ok, %{seconds: 0.0000001}} = read(%{@good | "PLIMSOLL_SECONDS" => "0.0000001"})

    assert {:ok, %{seed: 0xFFFFFFFFFFFFFFFF}} =
             read(%{@good | "PLIMSOLL_SEED" => "18446744073709551615"})
  end

  for {name, values} <- [
        {"PLIMSOLL_LEVEL", ["0", "-1", "", "x", "1.5", "2 ", "+2", "100001"]},
        {"PLIMSOLL_SECONDS",
         ["0", "0.0", "-1", "", "NaN", "inf", "1s", "1e999", "1.0e999", "1.0e7"]},
        {"PLIMSOLL_SEED", ["-1", "", "0x1", "18446744073709551616"]}
      ],
      value <- values ++ [String.duplicate("9", 1_000)] do
    test "#{name}=#{inspect(String.slice(value, 0, 30))} is refused by name" do
      assert {:error, message} = read(%{@good | unquote(name) => unquote(value)})
      assert message =~ unquote(name)
      assert message =~ "set it to"
    end
  end

  test "what is not set is said to be not set" do
    for name <- ["PLIMSOLL_LEVEL", "PLIMSOLL_SECONDS"] do
      assert {:error, message} = read(Map.delete(@good, name))
      assert message =~ "#{name} is not set"
    end
  end
end
