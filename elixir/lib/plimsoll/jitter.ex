defmodule Plimsoll.Jitter do
  @moduledoc """
  How late processes wake up while others keep the schedulers busy: one run, in a VM of its own.

  *Probes* (`Plimsoll.Jitter.Probe`) sleep and wake on a closed schedule
  (`Plimsoll.Jitter.Schedule`), *workers* do a load (`Plimsoll.Jitter.Load`) without pause, and the
  *reporter* (`Plimsoll.Jitter.Reporter`) writes what happens. A load may block every scheduler, and
  then nothing in here can end the run: whoever started the VM watches its heartbeat and ends it.

  Uses the VM's system monitor and its scheduler accounting, of which there is one each: not for a VM
  that belongs to somebody.
  """

  alias Plimsoll.Jitter.{Audit, Load, Probe, Reporter, Schedule, Settings}

  # From the start of the workers to the first intended wake-up.
  @settle_ms 150
  # 64-bit words from one worker's counter to the next: two cache lines.
  @stride 16

  @doc """
  Makes one run; `emit` takes each event, a keyword list, in the order in which they happen: `begin`,
  then `beat` ten times a second, then `done`. Times in events count from the beginning of the
  window, in microseconds.

  `{:error, message}`: the settings ask for what there is not; `{:cannot_run, message}`: it cannot run
  here; `{:failed, message}`: a worker failed.
  """
  @spec run(Settings.t(), (keyword -> term)) ::
          :ok | {:error | :cannot_run | :failed, String.t()}
  def run(%Settings{} = settings, emit) do
    Process.flag(:trap_exit, true)
    Process.flag(:priority, :high)
    settings = with_workers(settings)

    with {:ok, audit} <- Audit.prepare(settings.audit),
         {:ok, load} <- Load.fetch(settings) do
      jobs = :counters.new((settings.workers + 1) * @stride, [:atomics])
      workers = start_workers(load, settings, audit, jobs)

      try do
        with :ok <- await_ready(length(workers)) do
          measure(settings, workers, audit, jobs, emit)
        end
      after
        for pid <- workers, do: Process.exit(pid, :kill)
      end
    end
  end

  defp with_workers(%{load: "idle"} = settings), do: %{settings | workers: 0}

  defp with_workers(%{workers: 0} = settings) do
    %{settings | workers: :erlang.system_info(:schedulers_online)}
  end

  defp with_workers(settings), do: settings

  defp start_workers(:none, _settings, _audit, _jobs), do: []

  defp start_workers({start, job}, settings, audit, jobs) do
    owner = self()
    # The tracer of an audit needs a scheduler now and then, even where there is only one.
    pause = if audit == nil, do: fn -> :ok end, else: &:erlang.yield/0

    for index <- 1..settings.workers do
      spawn_link(fn ->
        state = start.(index)
        send(owner, {:ready, self()})

        receive do
          :go -> work(job, state, pause, jobs, index * @stride)
        end
      end)
    end
  end

  defp work(job, state, pause, jobs, slot) do
    state = job.(state)
    :counters.add(jobs, slot, 1)
    pause.()
    work(job, state, pause, jobs, slot)
  end

  defp await_ready(0), do: :ok

  defp await_ready(left) do
    receive do
      {:ready, _worker} -> await_ready(left - 1)
      {:EXIT, _pid, reason} -> failed(reason)
    end
  end

  defp measure(settings, workers, audit, jobs, emit) do
    :erlang.system_flag(:scheduler_wall_time, true)
    start_ms = System.monotonic_time(:millisecond) + @settle_ms
    start = start_ms * 1000
    owner = self()

    schedules =
      Schedule.spread(
        settings.probes,
        start,
        settings.period_ms * 1000,
        settings.window_ms * 1000
      )

    report = fn -> Reporter.run(owner, settings.probes, start, emit) end
    # Everything that does not come out before the workers start may never come out.
    emit.([event: "begin", settle_us: @settle_ms * 1000] ++ facts(settings))
    reporter = :erlang.spawn_opt(report, [:link, priority: :max])
    :erlang.system_monitor(reporter, [{:long_schedule, 1}, {:long_gc, 1}])
    probe = fn {schedule, index} -> spawn_link(fn -> Probe.run(reporter, index, schedule) end) end
    probes = schedules |> Enum.with_index() |> Enum.map(probe)
    tracer = Audit.start(audit, workers)
    for pid <- workers, do: send(pid, :go)

    try do
      with :ok <- await_start(start_ms),
           before = reading(jobs, settings),
           :ok <- await_report(reporter) do
        now = reading(jobs, settings)
        :erlang.system_monitor(:undefined)
        if audit != nil, do: emit.([event: "audit"] ++ Audit.stop(tracer))
        emit.([event: "done"] ++ between(before, now))
        :ok
      end
    after
      :erlang.system_monitor(:undefined)
      :erlang.system_flag(:scheduler_wall_time, false)
      for pid <- [reporter | probes], do: Process.exit(pid, :kill)
    end
  end

  defp reading(jobs, settings) do
    times = :erlang.statistics(:scheduler_wall_time_all)
    {System.monotonic_time(:microsecond), sum(jobs, settings.workers), times}
  end

  defp between({begun, before, times}, {now, after_all, used}) do
    [jobs: after_all - before, seconds: (now - begun) / 1.0e6] ++ utilisation(times, used)
  end

  defp await_start(start_ms) do
    receive do
      {:EXIT, _pid, reason} when reason != :normal -> failed(reason)
    after
      max(start_ms - System.monotonic_time(:millisecond), 0) -> :ok
    end
  end

  defp await_report(reporter) do
    receive do
      {:reported, ^reporter} -> :ok
      {:EXIT, _pid, reason} when reason != :normal -> failed(reason)
    end
  end

  defp failed(reason) do
    # On one line: what reads it takes it as one message.
    {:failed,
     "a worker failed: " <>
       (reason |> Exception.format_exit() |> String.split() |> Enum.join(" "))}
  end

  defp facts(settings) do
    [
      otp_release: List.to_string(:erlang.system_info(:otp_release)),
      erts: List.to_string(:erlang.system_info(:version)),
      emulator_flavour: :erlang.system_info(:emu_flavor),
      schedulers_online: :erlang.system_info(:schedulers_online),
      dirty_cpu_online: :erlang.system_info(:dirty_cpu_schedulers_online),
      workers: settings.workers,
      probes: settings.probes,
      period_us: settings.period_ms * 1000,
      window_us: settings.window_ms * 1000
    ]
  end

  # Busy shares of the online normal schedulers and of the online dirty CPU schedulers.
  defp utilisation(before, now) do
    normal = :erlang.system_info(:schedulers)
    dirty = :erlang.system_info(:dirty_cpu_schedulers_online)
    before = Map.new(before, fn {id, active, total} -> {id, {active, total}} end)

    shares =
      for {id, active, total} <- now, {active0, total0} = before[id], total > total0, into: %{} do
        {id, (active - active0) / (total - total0)}
      end

    [
      utilisation: mean(shares, 1..:erlang.system_info(:schedulers_online)),
      dirty_utilisation: mean(shares, (normal + 1)..(normal + dirty))
    ]
  end

  defp mean(shares, ids) do
    case for id <- ids, share = shares[id], do: share do
      [] -> nil
      found -> Enum.sum(found) / length(found)
    end
  end

  defp sum(_jobs, 0), do: 0
  defp sum(jobs, workers), do: Enum.sum(for i <- 1..workers, do: :counters.get(jobs, i * @stride))
end
