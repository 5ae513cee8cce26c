defmodule Plimsoll.Workload.LatencyTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.Latency

  doctest Latency

  test "quantiles are those of the sorted times, to one per cent" do
    :rand.seed(:exsss, 8)
    times = for _ <- 1..5_000, do: :math.exp(:rand.normal() * 2 - 6)
    histogram = Latency.new()
    for time <- times, do: Latency.add(histogram, time)
    sorted = Enum.sort(times)

    for p <- [0.01, 0.5, 0.95, 0.999] do
      want = Enum.at(sorted, ceil(p * 5_000) - 1)
      assert_in_delta Latency.quantile(histogram, p), want, 0.0101 * want
    end
  end

  test "nothing has no quantile, and what is out of range counts at the end of it" do
    histogram = Latency.new()
    assert Latency.quantile(histogram, 0.5) == nil
    for time <- [0, 1.0e-9, 1.0e9], do: Latency.add(histogram, time)
    assert_in_delta Latency.quantile(histogram, 0.5), 1.0e-6, 1.0e-7
    assert_in_delta Latency.quantile(histogram, 0.99), 1000, 20
  end
end
