defmodule Plimsoll.Workload.EtsCounter do
  @moduledoc """
  All processes update the same few counters in one public ETS table with default options: what a
  contended lock does to a workload, and what placement does to the lock.
  """

  @behaviour Plimsoll.Workload

  @keys 4
  @updates_per_job 500

  @impl true
  def name, do: "ets-counter"

  @impl true
  def summary, do: "all processes update the same few ETS counters"

  @impl true
  def unit, do: "updates"

  @impl true
  def setup(_settings) do
    table = :ets.new(__MODULE__, [:public])
    true = :ets.insert(table, for(key <- 1..@keys, do: {key, 0}))
    {:ok, table}
  end

  @impl true
  def start(table, _index), do: table

  @impl true
  def job(table) do
    update(table, @updates_per_job)
    {@updates_per_job, table}
  end

  @impl true
  def cleanup(table), do: :ets.delete(table)

  defp update(_table, 0), do: :ok

  defp update(table, left) do
    :ets.update_counter(table, rem(left, @keys) + 1, 1)
    update(table, left - 1)
  end
end
