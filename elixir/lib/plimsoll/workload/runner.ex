defmodule Plimsoll.Workload.Runner do
  @moduledoc """
  Keeps `level` processes doing a workload's jobs for a window of time, and counts what they
  complete.

  Closed loop: a process begins its next job when it has ended the one before. Each process counts
  in a slot of its own, two cache lines from its neighbours', so that counting costs no contention.
  A process of high priority, the *sampler*, reads the slots about thirty times in a window with the
  monotonic time that has really passed, so a late sample is still a true one. Jobs that are in
  flight when the window ends are not counted; they are killed (a NIF call first runs to its end).

  The window begins when every process is ready, and includes whatever warm-up the workload has:
  whoever reads the samples decides where it ends.
  """

  alias Plimsoll.Workload.Settings

  @samples 30
  # 64-bit words from one slot to the next: 128 bytes, because lines are prefetched in pairs.
  @stride 16

  @typedoc """
  `ops` completed in `seconds`: since the sample before, or in total, then with what the workload
  says of the run (`c:Plimsoll.Workload.extra/1`).
  """
  @type event ::
          {:sample, ops :: non_neg_integer, seconds :: float}
          | {:done, ops :: non_neg_integer, seconds :: float, extra :: [{atom, term}]}

  @typedoc "Why a run gave no figure: it cannot be made here, or something broke."
  @type refusal :: {:cannot_run | :failed, message :: String.t()}

  @doc """
  Runs `workload`, a module with the behaviour `Plimsoll.Workload`, and calls `emit` with every
  event, the last being `:done`; its figures are the sums of the samples'.

  `emit` runs in the calling process, so that the sampler never waits for output; events may
  therefore come late, and their figures are still of the moment when they were read. When a job or
  a callback fails, no `:done` is emitted; what `emit` raises is raised here. On return all
  processes of the run have ended.
  """
  @spec run(module, Settings.t(), (event -> term)) :: :ok | refusal
  def run(workload, %Settings{} = settings, emit) do
    caller = self()
    run = make_ref()

    body = fn ->
      # Linked processes end with the sampler, and it with the caller; their ends are messages.
      Process.flag(:trap_exit, true)
      result = set_up_and_run(workload, settings, &send(caller, {run, :event, &1}))
      # The caller may trap exits: no message but the result must reach it.
      Process.unlink(caller)
      send(caller, {run, :result, result})
    end

    {sampler, monitor} = :erlang.spawn_opt(body, [:link, :monitor, priority: :high])

    try do
      pass_on(run, monitor, emit)
    after
      Process.unlink(sampler)
      Process.exit(sampler, :shutdown)
      Process.demonitor(monitor, [:flush])
      await_end(sampler)
    end
  end

  defp pass_on(run, monitor, emit) do
    receive do
      {^run, :event, event} ->
        emit.(event)
        pass_on(run, monitor, emit)

      {^run, :result, result} ->
        result

      {:DOWN, ^monitor, :process, _sampler, reason} ->
        {:failed, failure("the sampler", reason)}
    end
  end

  defp set_up_and_run(workload, settings, emit) do
    case workload.setup(settings) do
      {:ok, shared} ->
        try do
          with_workers(workload, shared, settings, emit)
        after
          workload.cleanup(shared)
        end

      {:error, message} ->
        {:cannot_run, message}
    end
  catch
    kind, reason ->
      {:failed, "#{workload.name()} failed: #{Exception.format(kind, reason, __STACKTRACE__)}"}
  end

  defp with_workers(workload, shared, settings, emit) do
    slots = :counters.new((settings.level + 1) * @stride, [:atomics])
    go = make_ref()
    sampler = self()

    extra =
      if function_exported?(workload, :extra, 1),
        do: fn -> workload.extra(shared) end,
        else: fn -> [] end

    worker = fn index ->
      state = workload.start(shared, index)
      send(sampler, {go, :ready})

      receive do
        ^go -> work(workload, state, slots, index * @stride)
      end
    end

    workers = for index <- 1..settings.level, do: spawn_link(fn -> worker.(index) end)

    try do
      with :ok <- await_ready(go, settings.level) do
        # Before the first process begins: no work is counted for which no time is.
        begin = :erlang.monotonic_time()
        Enum.each(workers, &send(&1, go))
        sample(slots, settings, begin, extra, emit)
      end
    after
      Enum.each(workers, &Process.exit(&1, :kill))
      Enum.each(workers, &await_end/1)
    end
  end

  defp work(workload, state, slots, slot) do
    {ops, state} = workload.job(state)
    :counters.add(slots, slot, ops)
    work(workload, state, slots, slot)
  end

  defp await_ready(_go, 0), do: :ok

  defp await_ready(go, left) do
    receive do
      {^go, :ready} -> await_ready(go, left - 1)
      {:EXIT, _worker, reason} -> {:failed, failure("a process of the workload", reason)}
    end
  end

  # From here to the end of the window nothing but this module and built-in functions: to load a
  # module then takes many turns of processes of normal priority, seconds at a high level.
  defp sample(slots, settings, begin, extra, emit) do
    window = max(round(settings.seconds * second()), 1)

    run = %{
      slots: slots,
      level: settings.level,
      extra: extra,
      emit: emit,
      begin: begin,
      window: window
    }

    sample_from(run, 1, begin, 0)
  end

  # `number` is the sample that is due next, of @samples; `before` and `counted` are the time and
  # the total of the one before.
  defp sample_from(run, number, before, counted) do
    with :ok <- await(due(run, number)) do
      total = total(run.slots, run.level, 0)
      now = :erlang.monotonic_time()
      run.emit.({:sample, total - counted, (now - before) / second()})

      case next(run, number, now) do
        next when next > @samples ->
          run.emit.({:done, total, (now - run.begin) / second(), run.extra.()})
          :ok

        next ->
          sample_from(run, next, now, total)
      end
    end
  end

  defp due(run, number), do: run.begin + div(run.window * number, @samples)

  # One that came late swallows those that were due meanwhile.
  defp next(run, number, now) do
    if number < @samples and due(run, number + 1) <= now do
      next(run, number + 1, now)
    else
      number + 1
    end
  end

  # Until after `time`, so that no sample is without length.
  defp await(time) do
    case time - :erlang.monotonic_time() do
      left when left < 0 ->
        :ok

      left ->
        receive do
          {:EXIT, _worker, reason} -> {:failed, failure("a process of the workload", reason)}
        after
          div(left * 1000, second()) + 1 -> await(time)
        end
    end
  end

  defp total(_slots, 0, sum), do: sum

  defp total(slots, index, sum) do
    total(slots, index - 1, sum + :counters.get(slots, index * @stride))
  end

  # Units of the monotonic time in a second.
  defp second, do: :erlang.convert_time_unit(1, :second, :native)

  defp await_end(worker) do
    monitor = Process.monitor(worker)

    receive do
      {:DOWN, ^monitor, :process, ^worker, _reason} -> :ok
    end
  end

  defp failure(who, reason), do: "#{who} failed: #{Exception.format_exit(reason)}"
end
