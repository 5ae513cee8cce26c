defmodule Plimsoll.MixProject do
  use Mix.Project

  def project do
    [
      app: :plimsoll,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "The BEAM side of Plimsoll: workloads and the native library's Elixir face",
      elixirc_paths: elixirc_paths(Mix.env()),
      deps: []
    ]
  end

  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_env), do: ["lib"]

  # Neither `elixir` nor `logger` is started for a workload, and nothing here needs them running.
  def application, do: [extra_applications: []]
end
