defmodule Plimsoll.Workload.Latency do
  @moduledoc """
  How long jobs took: a histogram that any number of processes write to without waiting.

  A bucket is 2 % wide, so a quantile is right to 1 %. From a microsecond to 1000 seconds; what is
  shorter or longer counts as these.
  """

  @width 1.02
  @least 1.0e-6
  @buckets 1047

  @opaque t :: :counters.counters_ref()

  @doc "An empty histogram."
  @spec new() :: t
  def new, do: :counters.new(@buckets, [:write_concurrency])

  @doc "Counts a job of so many seconds."
  @spec add(t, number) :: :ok
  def add(histogram, seconds), do: :counters.add(histogram, bucket(seconds), 1)

  @doc """
  The time in seconds within which the share `p` of all jobs were done; `nil` without jobs.

      iex> histogram = Plimsoll.Workload.Latency.new()
      iex> for n <- 1..100, do: Plimsoll.Workload.Latency.add(histogram, n / 1000)
      iex> abs(Plimsoll.Workload.Latency.quantile(histogram, 0.5) / 0.05 - 1) < 0.011
      true
  """
  @spec quantile(t, float) :: float | nil
  def quantile(histogram, p) do
    case count(histogram, 1, 0) do
      0 -> nil
      count -> quantile(histogram, 1, p * count)
    end
  end

  # `left`: as many jobs are to be passed. The last bucket ends the search whatever is left,
  # because jobs may be added meanwhile.
  defp quantile(histogram, bucket, left) do
    case left - :counters.get(histogram, bucket) do
      left when left > 0 and bucket < @buckets -> quantile(histogram, bucket + 1, left)
      _passed -> @least * :math.pow(@width, bucket - 0.5)
    end
  end

  defp count(_histogram, bucket, sum) when bucket > @buckets, do: sum

  defp count(histogram, bucket, sum) do
    count(histogram, bucket + 1, sum + :counters.get(histogram, bucket))
  end

  # Bucket 1 holds the least and 2 % more, and everything below.
  defp bucket(seconds) when seconds <= @least, do: 1

  defp bucket(seconds) do
    case trunc(:math.log(seconds / @least) / :math.log(@width)) + 1 do
      bucket when bucket > @buckets -> @buckets
      bucket -> bucket
    end
  end
end
