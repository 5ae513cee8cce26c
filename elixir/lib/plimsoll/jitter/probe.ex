defmodule Plimsoll.Jitter.Probe do
  @moduledoc """
  A process of normal priority that sleeps until its next intended wake-up and notes how late it is.

  It waits on a timer with an absolute time, so that an intended time on a whole millisecond is met
  at the clock tick itself: `receive after` would add up to a millisecond of rounding. What it noted
  goes to the reporter in batches of about a tenth of a second, so that measuring costs a message
  ten times a second and no output.
  """

  alias Plimsoll.Jitter.Schedule

  @batch 100_000

  @doc """
  Runs one probe to the end of its schedule. Sends `{:late, index, first_number, latenesses}` and at
  last `{:finished, index}` to `reporter`; latenesses are in microseconds.
  """
  @spec run(pid, non_neg_integer, Schedule.t()) :: :ok
  def run(reporter, index, schedule) do
    size = max(div(@batch, schedule.period), 1)
    wait(%{reporter: reporter, index: index, schedule: schedule, size: size}, 0, 0, [])
  end

  # `batch` holds the latenesses from wake-up `from` up to `next`, newest first.
  defp wait(%{schedule: %{count: count}} = probe, count, from, batch) do
    flush(probe, from, batch)
    send(probe.reporter, {:finished, probe.index})
    :ok
  end

  defp wait(probe, next, from, batch) do
    sleep_until(Schedule.intended(probe.schedule, next))
    {late, next} = Schedule.due(probe.schedule, next, System.monotonic_time(:microsecond))
    batch = :lists.reverse(late, batch)

    if next - from >= probe.size do
      flush(probe, from, batch)
      wait(probe, next, next, [])
    else
      wait(probe, next, from, batch)
    end
  end

  defp sleep_until(time) do
    # The VM refuses timers for times before its own start.
    if time > System.monotonic_time(:microsecond) do
      timer = :erlang.start_timer(div(time, 1000), self(), :wake, abs: true)

      receive do
        {:timeout, ^timer, :wake} -> :ok
      end
    end
  end

  defp flush(_probe, _from, []), do: :ok

  defp flush(probe, from, batch) do
    send(probe.reporter, {:late, probe.index, from, :lists.reverse(batch)})
  end
end
