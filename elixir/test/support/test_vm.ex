defmodule Plimsoll.TestVM do
  @moduledoc "Runs workloads as the installed Plimsoll does: plain `erl`, in a fresh VM."

  @doc "Where the modules under test are."
  def ebin, do: Path.dirname(to_string(:code.which(Plimsoll.Workload.CLI)))

  @doc "What the workload's VM printed on both outputs, and its exit code."
  def run(ebin \\ ebin(), words, env) do
    erl(ebin, ["-run", "Elixir.Plimsoll.Workload.CLI", "main" | words], env)
  end

  @doc "The same for a VM that does what `arguments` say."
  def erl(ebin \\ ebin(), arguments, env) do
    elixir = to_string(:filename.join(:code.lib_dir(:elixir), ~c"ebin"))
    base = ["-noinput", "-boot", "no_dot_erlang", "-pa", ebin, elixir]
    cleared = for name <- ~w(LEVEL SECONDS SEED), do: {"PLIMSOLL_" <> name, nil}
    env = Map.merge(Map.new(cleared), env)
    System.cmd("erl", base ++ arguments, env: env, stderr_to_stdout: true)
  end
end
