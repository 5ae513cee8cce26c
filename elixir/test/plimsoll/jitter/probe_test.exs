defmodule Plimsoll.Jitter.ProbeTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Jitter.{Probe, Schedule}

  defp collected(index) do
    receive do
      {:late, ^index, from, late} -> [{from, late} | collected(index)]
      {:finished, ^index} -> []
    after
      10_000 -> flunk("the probe does not finish")
    end
  end

  test "a probe that begins too late records the wake-ups that it missed" do
    second = 1_000_000
    start = System.monotonic_time(:millisecond) * 1000 - second
    schedule = %Schedule{first: start, period: 10_000, count: 105}
    test = self()
    spawn_link(fn -> Probe.run(test, 3, schedule) end)
    batches = collected(3)
    late = Enum.flat_map(batches, &elem(&1, 1))
    assert length(late) == 105
    # Wake-up 0 was intended a second ago, wake-up 100 just now.
    assert hd(late) >= second
    assert Enum.at(late, 50) in div(second, 2)..(hd(late) - 1)
    assert Enum.at(late, 104) < hd(late)
  end

  test "batches follow one another without a hole" do
    start = System.monotonic_time(:millisecond) * 1000
    test = self()
    spawn_link(fn -> Probe.run(test, 0, %Schedule{first: start, period: 1000, count: 250}) end)
    batches = collected(0)
    assert length(batches) >= 2

    assert 250 ==
             Enum.reduce(batches, 0, fn {from, late}, next ->
               assert from == next
               next + length(late)
             end)
  end
end
