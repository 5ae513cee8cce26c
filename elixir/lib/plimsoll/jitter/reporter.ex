defmodule Plimsoll.Jitter.Reporter do
  @moduledoc """
  The one process that writes: a line ten times a second, the *heartbeat*, with everything that the
  probes and the VM's system monitor said since the line before.

  Its priority is `max`, so a heartbeat that stays away means that no normal scheduler took up any
  process: whoever reads the lines from outside needs no other sign that the VM is blocked.
  """

  @every 100
  # Of one heartbeat; what is beyond is counted only.
  @most_named 40

  @doc """
  Reports until all `probes` have finished, then sends `{:reported, self()}` to `owner`. `start` is
  the beginning of the window on the monotonic clock, in microseconds; `emit` takes one event.
  """
  @spec run(pid, pos_integer, integer, (keyword -> term)) :: term
  def run(owner, probes, start, emit) do
    now = System.monotonic_time(:millisecond)
    loop(%{owner: owner, left: probes, start: start, emit: emit, due: now + @every}, empty())
  end

  defp empty, do: %{late: [], long: [], long_count: 0, gc: []}

  defp loop(%{left: 0} = reporter, news) do
    beat(reporter, news)
    send(reporter.owner, {:reported, self()})
  end

  defp loop(reporter, news) do
    receive do
      {:late, probe, from, late} ->
        loop(reporter, %{news | late: [[probe, from, late] | news.late]})

      {:finished, _probe} ->
        loop(%{reporter | left: reporter.left - 1}, news)

      {:monitor, _pid, :long_schedule, info} ->
        named = if news.long_count < @most_named, do: [long(info) | news.long], else: news.long
        loop(reporter, %{news | long: named, long_count: news.long_count + 1})

      {:monitor, _pid, :long_gc, info} ->
        loop(reporter, %{news | gc: [:proplists.get_value(:timeout, info) | news.gc]})

      _other ->
        loop(reporter, news)
    after
      max(reporter.due - System.monotonic_time(:millisecond), 0) ->
        beat(reporter, news)
        # A late heartbeat does not pull the next ones closer together.
        loop(%{reporter | due: System.monotonic_time(:millisecond) + @every}, empty())
    end
  end

  defp beat(reporter, news) do
    {normal, dirty} = run_queues()

    reporter.emit.(
      event: "beat",
      at_us: System.monotonic_time(:microsecond) - reporter.start,
      run_queue: normal,
      dirty_run_queue: dirty,
      late: :lists.reverse(news.late),
      long: :lists.reverse(news.long),
      long_count: news.long_count,
      gc_ms: :lists.reverse(news.gc)
    )
  end

  # Processes that wait for a normal scheduler, and for a dirty CPU one. The lists hold a length for
  # each normal queue, then one for all dirty CPU and one for all dirty IO schedulers.
  defp run_queues do
    lengths = :erlang.statistics(:run_queue_lengths_all)
    {normal, dirty} = :lists.split(length(lengths) - 2, lengths)
    {:lists.sum(normal), hd(dirty)}
  end

  defp long(info) do
    from = :proplists.get_value(:in, info, :undefined)
    to = :proplists.get_value(:out, info, :undefined)
    port = :proplists.get_value(:port_op, info, :undefined)
    where = if port == :undefined, do: "#{name(from)} to #{name(to)}", else: "port #{port}"
    [:proplists.get_value(:timeout, info), where]
  end

  defp name({module, function, arity}) do
    :unicode.characters_to_binary(:io_lib.format("~ts:~ts/~w", [module, function, arity]))
  end

  defp name(_unknown), do: "unknown"
end
