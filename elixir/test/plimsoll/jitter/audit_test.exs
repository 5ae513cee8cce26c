defmodule Plimsoll.Jitter.AuditTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Jitter.Audit

  # Events as the VM sends them, with times in microseconds; scheduler 1 is normal, 0 is dirty.
  defp seen(events, stop \\ nil) do
    {:ok, audit} = Audit.prepare("lists")
    pid = self()

    state =
      Enum.reduce(events, Audit.new(audit, []), fn
        {kind, name, scheduler, us}, state when kind in [:return_from, :exception_from] ->
          Audit.take(
            state,
            {:trace_ts, pid, kind, {:lists, name, 1}, :value, scheduler, us * 1000}
          )

        {kind, name, scheduler, us}, state ->
          Audit.take(state, {:trace_ts, pid, kind, {:lists, name, 1}, scheduler, us * 1000})
      end)

    state = if stop, do: Audit.unreturned(state, stop * 1000), else: state

    for function <- Audit.result(state)[:functions], into: %{} do
      {function[:function], Map.new(function)}
    end
  end

  test "a call that blocks is one hold of its whole length" do
    seen =
      seen([
        {:in, :x, 1, 0},
        {:call, :sum, 1, 10},
        {:return_from, :sum, 1, 5_010},
        {:out, :x, 1, 5_020}
      ])

    assert %{calls: 1, dirty_calls: 0, unreturned: 0, holds: [[5000, 1]]} = seen["sum/1"]
  end

  test "a call that yields is a hold for each slice, and waiting is none" do
    seen =
      seen([
        {:in, :x, 1, 0},
        {:call, :sum, 1, 0},
        {:out, :sum, 1, 900},
        {:in, :sum, 2, 50_000},
        {:out, :sum, 2, 50_900},
        {:in, :sum, 1, 60_000},
        {:return_from, :sum, 1, 60_100}
      ])

    assert %{calls: 1, holds: holds} = seen["sum/1"]
    assert Enum.sort(holds) == [[100, 1], [900, 2]]
  end

  test "time on a dirty scheduler holds no normal one" do
    seen =
      seen([
        {:in, :x, 1, 0},
        {:call, :sum, 1, 0},
        {:out, :sum, 1, 5},
        {:in, :sum, 0, 10},
        {:out, :sum, 0, 9_000},
        {:in, :sum, 1, 9_010},
        {:return_from, :sum, 1, 9_013}
      ])

    assert %{calls: 1, dirty_calls: 1, holds: holds} = seen["sum/1"]
    assert Enum.sort(holds) == [[3, 1], [5, 1]]
  end

  test "what an inner function takes is its own" do
    seen =
      seen([
        {:in, :x, 1, 0},
        {:call, :sort, 1, 0},
        {:call, :sum, 1, 100},
        {:return_from, :sum, 1, 2_100},
        {:return_from, :sort, 1, 2_150}
      ])

    assert seen["sort/1"].holds == [[150, 1]]
    assert seen["sum/1"].holds == [[2000, 1]]
  end

  test "an exception ends the call, and those inside it" do
    seen =
      seen([
        {:in, :x, 1, 0},
        {:call, :sort, 1, 0},
        {:call, :sum, 1, 10},
        {:exception_from, :sort, 1, 30},
        {:call, :sort, 1, 40},
        {:return_from, :sort, 1, 47}
      ])

    assert Enum.sort(seen["sort/1"].holds) == [[7, 1], [10, 1]]
    assert seen["sum/1"].holds == [[20, 1]]
  end

  test "a call that has not returned is counted with the time so far" do
    seen = seen([{:in, :x, 1, 0}, {:call, :sum, 1, 0}], 7_000)
    assert %{calls: 1, unreturned: 1, holds: [[7000, 1]]} = seen["sum/1"]
  end

  test "lengths are kept to three digits, rounded up" do
    for us <- [0, 1, 999, 1000, 1001, 123_456, 99_999_999] do
      assert Audit.coarse(us) in us..(us + div(us, 90) + 1)
    end

    assert Audit.coarse(123_456) == 124_000
  end

  test "a module is found in Erlang's spelling and in Elixir's" do
    assert {:ok, %{module: :lists}} = Audit.prepare("lists")
    assert {:ok, %{module: Plimsoll.Native, natives: natives}} = Audit.prepare("Plimsoll.Native")
    assert {:spin, 2} in natives
    assert {:ok, %{module: Plimsoll.Native}} = Audit.prepare("Elixir.Plimsoll.Native")
    assert {:error, message} = Audit.prepare("no_such_module_here")
    assert message =~ "no_such_module_here" and message =~ "--pa"
  end

  test "a module whose every call is traced in a VM of its own gives its calls" do
    code = "'Elixir.Plimsoll.Jitter.CLI':main([])."

    {output, 0} =
      Plimsoll.TestVM.erl(["-eval", code], %{
        "PLIMSOLL_JITTER_LOAD" => "eval",
        "PLIMSOLL_JITTER_AUDIT" => "Plimsoll.Native",
        "PLIMSOLL_JITTER_EVAL" => "'Elixir.Plimsoll.Native':spin(1, 100000)",
        "PLIMSOLL_JITTER_WINDOW_MS" => "300",
        "PLIMSOLL_JITTER_WORKERS" => "1"
      })

    assert [_, calls, dirty] =
             Regex.run(
               ~r/"function":"spin\/2","native":true,"calls":(\d+),"dirty_calls":(\d+)/,
               output
             )

    assert String.to_integer(calls) > 5
    # Every one but perhaps the one in flight.
    assert String.to_integer(dirty) in (String.to_integer(calls) - 1)..String.to_integer(calls)
  end
end
