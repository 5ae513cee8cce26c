defmodule Plimsoll.Jitter.Schedule do
  @moduledoc """
  The closed schedule of one probe: wake-up number `k`, from 0, is intended for
  `first + k * period`, whatever happened to the wake-ups before it.

  Lateness is measured against the intended time. A probe that wakes late records every intended
  time that has passed meanwhile, each with its own lateness: leaving them out would count one stall
  of a second as one late wake-up among many punctual ones ("coordinated omission").

  Times are in microseconds.
  """

  @enforce_keys [:first, :period, :count]
  defstruct @enforce_keys

  @typedoc "When wake-up 0 is intended, the time between two, and how many there are."
  @type t :: %__MODULE__{first: integer, period: pos_integer, count: non_neg_integer}

  @doc """
  The schedules of `probes` probes over a window of `window` that begins at `start`: their first
  wake-ups are spread over one period, on whole milliseconds, the VM's clock tick.

      iex> [a, b] = Plimsoll.Jitter.Schedule.spread(2, 1_000_000, 10_000, 25_000)
      iex> {a.first, a.count, b.first, b.count}
      {1_000_000, 3, 1_005_000, 2}
  """
  @spec spread(pos_integer, integer, pos_integer, pos_integer) :: [t]
  def spread(probes, start, period, window) do
    for index <- 0..(probes - 1) do
      offset = div(div(index * period, probes), 1000) * 1000
      count = div(max(window - offset, 0) + period - 1, period)
      %__MODULE__{first: start + offset, period: period, count: count}
    end
  end

  @doc "When wake-up `number` is intended."
  @spec intended(t, non_neg_integer) :: integer
  def intended(schedule, number), do: schedule.first + number * schedule.period

  @doc """
  What a probe records that waits for wake-up `next` and finds itself awake at `now`: the lateness of
  every intended time that has come, in order, and the number of the wake-up to wait for now.

      iex> schedule = %Plimsoll.Jitter.Schedule{first: 0, period: 10, count: 100}
      iex> Plimsoll.Jitter.Schedule.due(schedule, 3, 52)
      {[22, 12, 2], 6}
      iex> Plimsoll.Jitter.Schedule.due(schedule, 3, 29)
      {[], 3}
  """
  @spec due(t, non_neg_integer, integer) :: {[non_neg_integer], non_neg_integer}
  def due(%__MODULE__{} = schedule, next, now) do
    last = min(Integer.floor_div(now - schedule.first, schedule.period), schedule.count - 1)
    {for(number <- next..last//1, do: now - intended(schedule, number)), max(next, last + 1)}
  end
end
