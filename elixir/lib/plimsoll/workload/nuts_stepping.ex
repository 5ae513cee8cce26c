defmodule Plimsoll.Workload.NutsStepping do
  @moduledoc """
  The jobs of `Plimsoll.Workload.Nuts`, draw by draw on the normal schedulers: the ones that `+sbt`
  binds.
  """

  @behaviour Plimsoll.Workload

  alias Plimsoll.Workload.Nuts

  @impl true
  def name, do: "nuts-stepping"

  @impl true
  def summary, do: "the same NUTS fits draw by draw, on the normal schedulers"

  @impl true
  defdelegate unit(), to: Nuts

  @impl true
  def setup(settings), do: Nuts.setup(settings, :stepping)

  @impl true
  defdelegate start(shared, index), to: Nuts

  @impl true
  defdelegate job(state), to: Nuts

  @impl true
  defdelegate extra(shared), to: Nuts

  @impl true
  defdelegate cleanup(shared), to: Nuts
end
