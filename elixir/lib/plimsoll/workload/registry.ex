defmodule Plimsoll.Workload.Registry do
  @moduledoc "The workloads there are, by name."

  @workloads [
    Plimsoll.Workload.Spin,
    Plimsoll.Workload.NifSpin,
    Plimsoll.Workload.EtsCounter,
    Plimsoll.Workload.Nuts,
    Plimsoll.Workload.NutsStepping
  ]

  @doc "Every workload's module, in the order in which they are listed to people."
  @spec all() :: [module]
  def all, do: @workloads

  @doc """
  The module of the workload called `name`.

      iex> Plimsoll.Workload.Registry.fetch("ets-counter")
      {:ok, Plimsoll.Workload.EtsCounter}

      iex> Plimsoll.Workload.Registry.fetch("Nuts")
      :error
  """
  @spec fetch(String.t()) :: {:ok, module} | :error
  def fetch(name) do
    case for module <- @workloads, module.name() == name, do: module do
      [module] -> {:ok, module}
      [] -> :error
    end
  end
end
