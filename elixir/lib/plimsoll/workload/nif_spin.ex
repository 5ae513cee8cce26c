defmodule Plimsoll.Workload.NifSpin do
  @moduledoc """
  The arithmetic of `Plimsoll.Workload.Spin` in a NIF on the dirty CPU schedulers, which `+sbt` does
  not bind: what long native work sees of a binding.
  """

  @behaviour Plimsoll.Workload

  alias Plimsoll.Native
  alias Plimsoll.Workload.Spin

  @steps_per_job 1_000_000

  @impl true
  def name, do: "nif-spin"

  @impl true
  def summary do
    "the same integer work in a NIF, on the dirty schedulers that +sbt does not bind"
  end

  @impl true
  def unit, do: "steps"

  @impl true
  def setup(settings) do
    # Found out here, once, and not in every process.
    1 = Native.spin(1, 0)
    {:ok, settings.seed}
  rescue
    missing in Native.NotLoaded -> {:error, Exception.message(missing)}
  end

  @impl true
  def start(seed, index), do: Spin.first_state(seed, index)

  @impl true
  def job(state), do: {@steps_per_job, Native.spin(state, @steps_per_job)}

  @impl true
  def cleanup(_seed), do: :ok
end
