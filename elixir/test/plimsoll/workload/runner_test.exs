defmodule Plimsoll.Workload.RunnerTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.{Runner, Settings}

  # Reports every call to the process whose identifier is in the setting `seed`, and counts jobs in
  # a way of its own. What each job does is decided by the test.
  defmodule Fake do
    @behaviour Plimsoll.Workload

    def name, do: "fake"
    def summary, do: "for tests"
    def unit, do: "things"

    def setup(%{seed: {test, _job, _counter}} = settings) do
      send(test, {:setup, settings.level})
      {:ok, settings.seed}
    end

    def start({test, job, counter}, index) do
      send(test, {:start, index, self()})
      {job, counter, index, 0}
    end

    def job({job, counter, index, done}) do
      ops = job.(index, done)
      :counters.add(counter, index, ops)
      {ops, {job, counter, index, done + 1}}
    end

    def cleanup({test, _job, _counter}), do: send(test, :cleanup)
  end

  defmodule Refusing do
    @behaviour Plimsoll.Workload
    def name, do: "refusing"
    def summary, do: "for tests"
    def unit, do: "things"
    def setup(_settings), do: {:error, "a part is missing: run ./x setup"}
    def start(_shared, _index), do: nil
    def job(state), do: {1, state}
    def cleanup(_shared), do: raise("nothing was set up")
  end

  defp run(level, job, options \\ []) do
    test = self()
    counter = :counters.new(level, [:atomics])
    seconds = Keyword.get(options, :seconds, 0.05)
    settings = %Settings{level: level, seconds: seconds, seed: {test, job, counter}}
    result = Runner.run(Fake, settings, &send(test, {:event, &1}))
    {result, events(), counter}
  end

  defp events do
    receive do
      {:event, event} -> [event | events()]
    after
      0 -> []
    end
  end

  defp workers(level) do
    for index <- 1..level do
      assert_received {:start, ^index, pid}
      pid
    end
  end

  defp busy(_index, _done) do
    Enum.reduce(1..500, 0, &(&1 + &2))
    1
  end

  test "the total is the sum of the samples, and so is the time" do
    {:ok, events, _counter} = run(3, &busy/2)
    {samples, [{:done, total, seconds, []}]} = Enum.split(events, -1)
    assert Enum.all?(samples, &match?({:sample, _ops, _seconds}, &1))
    assert total == samples |> Enum.map(&elem(&1, 1)) |> Enum.sum()
    assert_in_delta seconds, samples |> Enum.map(&elem(&1, 2)) |> Enum.sum(), 1.0e-9
  end

  test "a run lasts at least its window, in at most thirty samples that all have a length" do
    {:ok, events, _counter} = run(2, &busy/2)
    {samples, [{:done, _total, seconds, []}]} = Enum.split(events, -1)
    assert seconds >= 0.05
    assert length(samples) in 1..30
    assert Enum.all?(samples, fn {:sample, ops, seconds} -> ops >= 0 and seconds > 0.0 end)
  end

  test "exactly the completed jobs are counted, whatever they are worth" do
    # Process 1 completes 3 jobs worth 10 each, process 2 one worth 7; then they hang in a job.
    job = fn
      1, done when done < 3 -> 10
      2, 0 -> 7
      _index, _done -> Process.sleep(:infinity)
    end

    {:ok, events, counter} = run(2, job)
    assert {:done, 37, _seconds, []} = List.last(events)
    assert {30, 7} == {:counters.get(counter, 1), :counters.get(counter, 2)}
  end

  test "no more is counted than was done" do
    {:ok, events, counter} = run(4, &busy/2)
    {:done, total, _seconds, []} = List.last(events)
    done = Enum.sum(for index <- 1..4, do: :counters.get(counter, index))
    assert total > 0
    # A job can have ended after the last sample.
    assert total <= done
  end

  test "every process of the run has ended when it returns, and nothing is left in the mailbox" do
    Process.flag(:trap_exit, true)
    {:ok, _events, _counter} = run(5, &busy/2)
    assert_received {:setup, 5}
    for pid <- workers(5), do: refute(Process.alive?(pid))
    assert_received :cleanup
    assert {:messages, []} = Process.info(self(), :messages)
    assert {:links, []} = Process.info(self(), :links)
  end

  test "a job that fails ends the run with its reason, without a total" do
    job = fn
      2, 3 -> exit("the job broke")
      _index, _done -> 1
    end

    {result, events, _counter} = run(2, job, seconds: 60)
    assert {:failed, message} = result
    assert message =~ "the job broke"
    refute Enum.any?(events, &match?({:done, _, _, _}, &1))
    for pid <- workers(2), do: refute(Process.alive?(pid))
    assert_received :cleanup
  end

  test "what emit raises ends the run and is raised, and nothing else is left" do
    settings = %Settings{
      level: 2,
      seconds: 60,
      seed: {self(), &busy/2, :counters.new(2, [:atomics])}
    }

    Process.flag(:trap_exit, true)
    assert catch_throw(Runner.run(Fake, settings, fn _event -> throw(:full) end)) == :full
    assert_received {:setup, 2}
    for pid <- workers(2), do: refute(Process.alive?(pid))
    assert_received :cleanup
    assert {:links, []} = Process.info(self(), :links)
  end

  test "when the caller dies the run ends with it" do
    test = self()

    caller =
      spawn(fn ->
        settings = %Settings{
          level: 1,
          seconds: 60,
          seed: {test, &busy/2, :counters.new(1, [:atomics])}
        }

        Runner.run(Fake, settings, fn _event -> :ok end)
      end)

    assert_receive {:start, 1, worker}, 5_000
    monitor = Process.monitor(worker)
    Process.exit(caller, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^worker, _reason}, 5_000
    assert_receive :cleanup, 5_000
  end

  test "a workload that cannot run here says so, and is not cleaned up" do
    settings = %Settings{level: 1, seconds: 60, seed: 0}

    assert {:cannot_run, "a part is missing: run ./x setup"} =
             Runner.run(Refusing, settings, & &1)
  end
end
