defmodule Plimsoll.Workload.Nuts do
  @moduledoc """
  One job is one NUTS fit: 500 + 500 draws of M1 (`Plimsoll.Models`) over 200 observations, from the
  model and its data to posterior means and standard deviations, on a dirty CPU scheduler. This is
  the published workload.

  Each process has an instrument of its own, a series drawn from the run's seed, and each of its jobs
  a seed of its own.

  `PLIMSOLL_NUTS_ON` (`dirty` or `stepping`) says where the draws are made, whatever the workload's
  name; `PLIMSOLL_NUTS_MODEL` is `m1` or `m5`. The `done` line says which it was (`on`, `model`),
  how long jobs took over the whole window (`job_median_ms`, `job_p95_ms`; right to 1 %), and
  `moved`: how many jobs left the normal schedulers because a draw was too long for them.
  """

  @behaviour Plimsoll.Workload

  alias Plimsoll.{Data, Models, Native, Nuts}
  alias Plimsoll.Workload.Latency

  @observations 200

  @impl true
  def name, do: "nuts"

  @impl true
  def summary, do: "one NUTS fit a job, on the dirty schedulers that +sbt does not bind"

  @impl true
  def unit, do: "jobs"

  @impl true
  def setup(settings), do: setup(settings, :dirty)

  @doc false
  def setup(settings, on) do
    with {:ok, on} <- choose("PLIMSOLL_NUTS_ON", on, [:dirty, :stepping]),
         {:ok, model} <- choose("PLIMSOLL_NUTS_MODEL", :m1, [:m1, :m5]) do
      model = Atom.to_string(model)

      shared = %{
        seed: settings.seed,
        name: model,
        model: elem(Models.fetch(model), 1),
        on: on,
        latency: Latency.new(),
        moved: :counters.new(1, [:write_concurrency])
      }

      rehearse(shared)
      {:ok, shared}
    end
  rescue
    missing in Native.NotLoaded -> {:error, Exception.message(missing)}
  end

  # Loads all the code of a job and of what is said at the end, and leaves no trace in the figures.
  defp rehearse(shared) do
    apart = %{shared | latency: Latency.new(), moved: :counters.new(1, [])}
    job(start(apart, 0))
    extra(apart)
  end

  defp choose(variable, default, known) do
    text = System.get_env(variable) || Atom.to_string(default)

    case for value <- known, Atom.to_string(value) == text, do: value do
      [value] -> {:ok, value}
      [] -> {:error, "#{variable} is #{inspect(text)}: use #{Enum.join(known, " or ")}"}
    end
  end

  @impl true
  def start(shared, index) do
    {shared, Data.by_seed(shared.name, seed(shared, index, 0), @observations), index, 1}
  end

  @impl true
  def job({shared, data, index, number}) do
    begin = :erlang.monotonic_time(:nanosecond)

    {:ok, fit} =
      Nuts.fit(shared.model, data,
        seed: seed(shared, index, number),
        on: shared.on,
        diagnostics: false
      )

    Latency.add(shared.latency, (:erlang.monotonic_time(:nanosecond) - begin) / 1.0e9)
    if fit.moved, do: :counters.add(shared.moved, 1, 1)
    {1, {shared, data, index, number + 1}}
  end

  defp seed(shared, index, number), do: :erlang.phash2({shared.seed, index, number}, 0x100000000)

  @impl true
  def extra(shared) do
    [
      on: shared.on,
      model: shared.name,
      job_median_ms: milliseconds(shared.latency, 0.5),
      job_p95_ms: milliseconds(shared.latency, 0.95),
      moved: :counters.get(shared.moved, 1)
    ]
  end

  defp milliseconds(latency, p) do
    case Latency.quantile(latency, p) do
      nil -> nil
      seconds -> seconds * 1000
    end
  end

  @impl true
  def cleanup(_shared), do: :ok
end
