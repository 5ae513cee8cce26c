defmodule Plimsoll.Jitter.CLI do
  @moduledoc """
  The entry point of a VM that makes one run of the jitter lab:
  `erl … -run Elixir.Plimsoll.Jitter.CLI main`, with `Plimsoll.Jitter.Settings` in the environment.

  Prints one line of JSON per event on standard output, and messages on standard error. Ends the VM
  with code 0, 1 when a worker failed, 2 for settings that make no sense, 3 when it cannot run here.
  """

  alias Plimsoll.{Jitter, JSON}

  @doc "Called by `-run`. Returns at once, so that the boot ends."
  @spec main([charlist]) :: pid
  def main(_words \\ []) do
    spawn(fn ->
      code =
        try do
          run(&System.get_env/1, output(), &IO.puts(:stderr, &1))
        catch
          kind, reason ->
            IO.puts(:stderr, "plimsoll: " <> Exception.format(kind, reason, __STACKTRACE__))
            1
        end

      :erlang.halt(code)
    end)
  end

  @doc """
  Makes the run that the environment, read through `get`, asks for; `print` takes each line,
  `complain` a message. The result is the exit code.
  """
  @spec run((String.t() -> String.t() | nil), (iodata -> term), (iodata -> term)) :: 0..3
  def run(get, print, complain) do
    with {:ok, settings} <- Jitter.Settings.read(get),
         :ok <- Jitter.run(settings, &print.([JSON.encode([plimsoll_jitter: 1] ++ &1), ?\n])) do
      0
    else
      {kind, message} ->
        complain.(["plimsoll: ", message])
        %{failed: 1, error: 2, cannot_run: 3}[kind]
    end
  end

  # A port of our own on standard output: what is written goes to the pipe in the call itself, not by
  # way of another process that needs a scheduler.
  defp output do
    port = :erlang.open_port({:fd, 0, 1}, [:out, :binary])
    &:erlang.port_command(port, &1)
  end
end
