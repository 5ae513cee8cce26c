defmodule Plimsoll.Workload.SpinTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.Spin

  doctest Spin

  test "processes and seeds begin in different, valid states" do
    states =
      for seed <- [0, 1, 0xFFFFFFFFFFFFFFFF], index <- 1..200, do: Spin.first_state(seed, index)

    assert Enum.all?(states, &(&1 in 1..0xFFFFFFFF))
    assert length(Enum.uniq(states)) > 590
  end

  test "work is cut into whole jobs that carry their state on" do
    {ops, state} = Spin.job(1)
    {^ops, state} = Spin.job(state)
    assert state == Spin.spin(1, 2 * ops)
  end

  test "spinning allocates nothing" do
    # Were one value a step a bignum, a million steps would fill this heap many times over.
    test = self()

    body = fn ->
      Spin.spin(0xFFFFFFFF, 1_000_000)
      send(test, Process.info(self(), :garbage_collection))
    end

    :erlang.spawn_opt(body, [:link, min_heap_size: 10_000])
    assert_receive {:garbage_collection, info}, 60_000
    assert info[:minor_gcs] == 0
  end
end
