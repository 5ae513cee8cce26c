defmodule Plimsoll.Jitter.Audit do
  @moduledoc """
  Which functions of a module hold a normal scheduler for longer than a millisecond.

  The workers are traced: calls of and returns from the module's exported and native functions, and
  every moment at which a worker is put on a scheduler or taken off, with the scheduler's number and
  the time, taken where it happens. A *hold* is one uninterrupted stay on a normal scheduler inside a
  function, without what the module's other functions take meanwhile. So a native function that yields
  shows its slices, one that moves to a dirty scheduler what it does before and after, and one that
  blocks its whole length; a call that merely waits holds nothing.

  Tracing is switched off for a while, and this is counted, when its messages come faster than they
  can be read: memory stays bounded. It is the VM's only tracer: not for a VM that belongs to somebody.
  """

  @limit_us 1000
  @most_waiting 200_000
  @look_every 1000
  @rest_ms 50
  @flags [:call, :arity, :running, :scheduler_id, :monotonic_timestamp, :set_on_spawn]

  @enforce_keys [:module, :functions, :natives]
  defstruct @enforce_keys

  @typedoc "The module, its exported and native functions, and the native ones."
  @type t :: %__MODULE__{}

  @doc "Loads the module called `name`, in Erlang's spelling or in Elixir's; `nil` for no audit."
  @spec prepare(String.t() | nil) :: {:ok, t | nil} | {:error, String.t()}
  def prepare(nil), do: {:ok, nil}

  def prepare(<<first, _rest::binary>> = name) do
    # Named by the user, in a VM of its own.
    module =
      String.to_atom(if first in ?A..?Z and not elixir?(name), do: "Elixir." <> name, else: name)

    case :code.ensure_loaded(module) do
      {:module, module} ->
        natives = module.module_info(:nifs)
        exported = module.module_info(:exports) -- [module_info: 0, module_info: 1, __info__: 1]

        {:ok,
         %__MODULE__{module: module, functions: Enum.uniq(exported ++ natives), natives: natives}}

      {:error, why} ->
        {:error, "the module #{name} cannot be loaded (#{why}): give its folder with --pa"}
    end
  end

  def prepare(""), do: {:error, "--audit needs the name of a module"}

  defp elixir?(name), do: String.starts_with?(name, "Elixir.")

  @doc "Begins to trace the workers, which have not begun. `nil` for no audit."
  @spec start(t | nil, [pid]) :: pid | nil
  def start(nil, _workers), do: nil

  def start(%__MODULE__{} = audit, workers) do
    owner = self()

    body = fn ->
      for {name, arity} <- audit.functions do
        both_ways = [{:_, [], [{:exception_trace}]}]
        :erlang.trace_pattern({audit.module, name, arity}, both_ways, [:local])
      end

      switch_on(workers)
      send(owner, {:tracing, self()})
      listen(new(audit, workers), @look_every)
    end

    tracer = :erlang.spawn_opt(body, [:link, priority: :high])

    receive do
      {:tracing, ^tracer} -> tracer
    end
  end

  @doc "Ends tracing and tells what was seen, as members of an event."
  @spec stop(pid) :: keyword
  def stop(tracer) do
    send(tracer, {:stop, self()})

    receive do
      {:audited, ^tracer, seen} -> seen
    end
  end

  # State: `processes` holds what is known of each traced process (see `event/3`); `seen` per
  # function `{calls, dirty calls, unreturned, %{microseconds => holds}}`.
  @doc false
  def new(audit, workers) do
    schedulers = :erlang.system_info(:schedulers)
    %{audit: audit, workers: workers, normal: schedulers, processes: %{}, seen: %{}, suspended: 0}
  end

  defp switch_on(workers) do
    for pid <- workers do
      # One that has ended cannot be traced.
      try do
        :erlang.trace(pid, true, [{:tracer, self()} | @flags])
      catch
        :error, :badarg -> 0
      end
    end
  end

  defp switch_off, do: :erlang.trace(:all, false, [:all])

  defp listen(state, 0) do
    {:message_queue_len, waiting} = Process.info(self(), :message_queue_len)

    if waiting > @most_waiting do
      switch_off()
      forget()
      Process.sleep(@rest_ms)
      forget()
      switch_on(state.workers)
      listen(%{state | processes: %{}, suspended: state.suspended + 1}, @look_every)
    else
      listen(state, @look_every)
    end
  end

  defp listen(state, left) do
    receive do
      {:stop, from} ->
        now = System.monotonic_time(:nanosecond)
        switch_off()
        send(from, {:audited, self(), result(state |> rest() |> unreturned(now))})

      event ->
        listen(take(state, event), left - 1)
    end
  end

  # What was sent before tracing ended.
  defp rest(state) do
    receive do
      event when elem(event, 0) == :trace_ts -> rest(take(state, event))
    after
      0 -> state
    end
  end

  defp forget do
    receive do
      event when elem(event, 0) == :trace_ts -> forget()
    after
      0 -> :ok
    end
  end

  @doc false
  def take(state, {:trace_ts, pid, kind, function, scheduler, time})
      when kind in [:call, :in, :out] do
    event(state, pid, {kind, function}, scheduler, time)
  end

  def take(state, {:trace_ts, pid, kind, function, _value, scheduler, time})
      when kind in [:return_from, :exception_from] do
    event(state, pid, {:return, function}, scheduler, time)
  end

  def take(state, event) when elem(event, 2) in [:out_exited, :out_exiting] do
    %{state | processes: Map.delete(state.processes, elem(event, 1))}
  end

  def take(state, _other), do: state

  # A process is `{since, frames}`: since when it has been running on a normal scheduler what it is
  # running now (`nil`: it is not), and the calls it is in, innermost first, each
  # `{function, held, dirty?}` with the nanoseconds it has been running in this stay.
  defp event(state, pid, event, scheduler, time) do
    normal? = scheduler in 1..state.normal
    {since, frames} = Map.get(state.processes, pid, {nil, []})
    frames = credit(frames, since, time)
    since = if normal?, do: time

    {state, since, frames} =
      case event do
        {:in, _where} when normal? ->
          {state, since, frames}

        {:in, _where} ->
          {state, nil, on_dirty(frames)}

        {:out, _where} ->
          {state, frames} = settle(state, frames)
          {state, nil, frames}

        {:call, {_module, name, arity}} ->
          state = update(state, {name, arity}, fn {n, d, u, h} -> {n + 1, d, u, h} end)
          {state, since, [{{name, arity}, 0, false} | frames]}

        {:return, {_module, name, arity}} ->
          {state, frames} = return(state, frames, {name, arity})
          {state, since, frames}
      end

    %{state | processes: Map.put(state.processes, pid, {since, frames})}
  end

  defp credit([{function, held, dirty} | outer], since, time) when since != nil do
    [{function, held + time - since, dirty} | outer]
  end

  defp credit(frames, _since, _time), do: frames

  defp on_dirty([{function, held, _dirty} | outer]), do: [{function, held, true} | outer]
  defp on_dirty([]), do: []

  # The stay has ended: what each call held the scheduler in it is one hold.
  defp settle(state, frames) do
    state = Enum.reduce(frames, state, &hold/2)
    {state, for({function, _held, dirty} <- frames, do: {function, 0, dirty})}
  end

  # Calls inside it whose return was not seen have ended too.
  defp return(state, frames, function) do
    case Enum.split_while(frames, &(elem(&1, 0) != function)) do
      # Called before tracing began.
      {_all, []} ->
        {state, frames}

      {inside, [frame | outer]} ->
        state = Enum.reduce([frame | inside], state, &hold/2)
        dirty = if elem(frame, 2), do: 1, else: 0
        {update(state, function, fn {n, d, u, h} -> {n, d + dirty, u, h} end), outer}
    end
  end

  defp hold({_function, 0, _dirty}, state), do: state

  defp hold({function, held, _dirty}, state) do
    us = coarse(div(held + 999, 1000))
    update(state, function, fn {n, d, u, h} -> {n, d, u, Map.update(h, us, 1, &(&1 + 1))} end)
  end

  # Three digits, rounded up: as many as the figures have, so that memory stays bounded.
  @doc false
  def coarse(us) when us < 1000, do: us
  def coarse(us), do: 10 * coarse(div(us + 9, 10))

  defp update(state, function, change) do
    %{
      state
      | seen:
          Map.put(state.seen, function, change.(Map.get(state.seen, function, {0, 0, 0, %{}})))
    }
  end

  @doc false
  def unreturned(state, now) do
    Enum.reduce(state.processes, state, fn {_pid, {since, frames}}, state ->
      state = Enum.reduce(credit(frames, since, now), state, &hold/2)

      Enum.reduce(frames, state, fn {function, _held, _dirty}, state ->
        update(state, function, fn {n, d, u, h} -> {n, d, u + 1, h} end)
      end)
    end)
  end

  @doc false
  def result(%{audit: audit, seen: seen} = state) do
    functions =
      for {function, {calls, dirty, unreturned, holds}} <- seen do
        [
          function: name(function),
          native: function in audit.natives,
          calls: calls,
          dirty_calls: dirty,
          unreturned: unreturned,
          holds: for({us, count} <- holds, do: [us, count])
        ]
      end

    [
      module: String.trim_leading(inspect(audit.module), ":"),
      limit_us: @limit_us,
      functions: functions,
      not_called: for(f <- audit.functions, not is_map_key(seen, f), do: name(f)),
      suspended: state.suspended
    ]
  end

  defp name({name, arity}), do: "#{name}/#{arity}"
end
