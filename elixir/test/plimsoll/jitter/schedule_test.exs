defmodule Plimsoll.Jitter.ScheduleTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Jitter.Schedule

  doctest Schedule

  setup do
    :rand.seed(:exsss, {7, 8, 9})
    :ok
  end

  defp random_schedule do
    %Schedule{
      first: :rand.uniform(2_000_000) - 1_000_000,
      period: :rand.uniform(20_000),
      count: :rand.uniform(60)
    }
  end

  # What a probe records that wakes at these moments, as `{number, lateness}`.
  defp recorded(schedule, moments) do
    {all, _next} =
      Enum.reduce(moments, {[], 0}, fn now, {all, next} ->
        {late, after_next} = Schedule.due(schedule, next, now)
        {all ++ Enum.zip(next..(next + length(late))//1, late), after_next}
      end)

    all
  end

  test "every intended time that has come is recorded once, against the first moment awake after it" do
    for _ <- 1..500 do
      schedule = random_schedule()

      moments =
        for _ <- 1..:rand.uniform(30) do
          schedule.first + :rand.uniform(80 * schedule.period) - 10 * schedule.period
        end

      moments = Enum.sort(moments)

      expected =
        for number <- 0..(schedule.count - 1),
            intended = schedule.first + number * schedule.period,
            awake = Enum.find(moments, &(&1 >= intended)),
            do: {number, awake - intended}

      assert recorded(schedule, moments) == expected
    end
  end

  test "one stall counts as many late wake-ups as it swallowed, each later than the next" do
    schedule = %Schedule{first: 0, period: 10, count: 200}
    {late, next} = Schedule.due(schedule, 5, 1_050)
    assert late == Enum.to_list(1_000..0//-10)
    assert next == 106
  end

  test "nobody is early: before the intended time nothing is recorded" do
    for _ <- 1..200 do
      schedule = random_schedule()
      next = :rand.uniform(schedule.count) - 1
      now = Schedule.intended(schedule, next) - :rand.uniform(100_000)
      assert {[], ^next} = Schedule.due(schedule, next, now)
    end
  end

  test "probes are spread over one period on whole milliseconds and fill the window" do
    for _ <- 1..200 do
      probes = :rand.uniform(40)
      start = :rand.uniform(1_000_000) * 1000
      period = :rand.uniform(50) * 1000
      window = :rand.uniform(2_000) * 1000
      schedules = Schedule.spread(probes, start, period, window)
      assert length(schedules) == probes

      for schedule <- schedules do
        assert rem(schedule.first - start, 1000) == 0
        assert (schedule.first - start) in 0..(period - 1)

        inside =
          Stream.iterate(schedule.first, &(&1 + period))
          |> Enum.take_while(&(&1 < start + window))

        assert schedule.count == length(inside)
      end
    end
  end
end
