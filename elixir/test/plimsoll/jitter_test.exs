defmodule Plimsoll.JitterTest do
  # The system monitor and the scheduler accounting are one each for the whole VM.
  use ExUnit.Case, async: false

  alias Plimsoll.Jitter
  alias Plimsoll.Jitter.Settings

  doctest Plimsoll.Jitter.Settings
  doctest Plimsoll.Jitter.Expression

  # In a process of its own, because a run traps exits.
  defp run(settings) do
    test = self()

    spawn(fn ->
      events = :ets.new(:events, [:public, :ordered_set])
      emit = &:ets.insert(events, {System.unique_integer([:monotonic]), &1})
      result = Jitter.run(settings, emit)
      send(test, {:ran, result, for({_, event} <- :ets.tab2list(events), do: event)})
    end)

    receive do
      {:ran, result, events} -> {result, events}
    after
      60_000 -> flunk("the run does not end")
    end
  end

  test "a run begins, beats and is done, and every wake-up of the schedule is there once" do
    for load <- ["idle", "spin", "erlang", "yielding", "dirty", "automatic", "matrix-yielding"] do
      settings = %Settings{load: load, workers: 1, probes: 3, window_ms: 250, input_bytes: 300}
      assert {:ok, events} = run(settings)
      assert [first | _] = events
      assert first[:event] == "begin" and first[:probes] == 3
      done = List.last(events)
      assert done[:event] == "done"
      if load != "idle", do: assert(done[:jobs] > 0)

      wakeups =
        for event <- events, event[:event] == "beat", [probe, from, late] <- event[:late] do
          {probe, from, length(late)}
        end

      for probe <- 0..2 do
        numbers = for {^probe, from, n} <- wakeups, number <- from..(from + n - 1), do: number
        # 25 intended times in 250 ms.
        assert numbers == Enum.to_list(0..24), "#{load}, probe #{probe}"
      end
    end
  end

  test "an expression is run with the variables of --with" do
    settings = %Settings{
      load: "eval",
      workers: 2,
      window_ms: 100,
      with: "L = [1, 2], {X, _} = {3, 4}",
      eval: "3 = lists:sum(L), 3 = X"
    }

    assert {:ok, events} = run(settings)
    assert List.last(events)[:jobs] > 0
  end

  test "an expression that fails ends the run with its reason, on one line" do
    assert {{:failed, message}, _events} =
             run(%Settings{
               load: "eval",
               workers: 1,
               window_ms: 100,
               eval: "no_such_module:work()"
             })

    assert message =~ "no_such_module"
    refute message =~ "\n"
  end

  test "what is no expression is refused with the option's name" do
    for {expression, with, named} <- [
          {"foo(", "", "--eval"},
          {"X + 1", "", "--eval"},
          {"\"", "", "--eval"},
          {"ok", "1 = 2", "--with"},
          {"ok", "foo(", "--with"}
        ] do
      settings = %Settings{load: "eval", window_ms: 100, eval: expression, with: with}
      assert {{:error, message}, []} = run(settings)
      assert message =~ named, message
    end
  end

  test "an unknown load names the known ones" do
    assert {{:error, message}, []} = run(%Settings{load: "idel"})
    assert message =~ "idel" and message =~ "yielding" and message =~ "ets-counter"
  end

  test "settings that make too many wake-ups are refused" do
    env = %{
      "PLIMSOLL_JITTER_PROBES" => "10000",
      "PLIMSOLL_JITTER_PERIOD_MS" => "1",
      "PLIMSOLL_JITTER_WINDOW_MS" => "1000000"
    }

    assert {:error, message} = Settings.read(&Map.get(env, &1))
    assert message =~ "wake-ups"
  end

  test "the VM's exit code says what went wrong" do
    main = ["-run", "Elixir.Plimsoll.Jitter.CLI", "main"]

    for {load, code} <- [{"idel", 2}, {"eval", 2}] do
      {output, got} = Plimsoll.TestVM.erl(main, %{"PLIMSOLL_JITTER_LOAD" => load})
      assert got == code, output
      assert output =~ "plimsoll: "
    end
  end
end
