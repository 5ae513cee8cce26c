defmodule Plimsoll.Workload.CLI do
  @moduledoc """
  The entry point of a VM that runs one workload: `erl … -run Elixir.Plimsoll.Workload.CLI main NAME`.

  Prints one line of JSON per event on standard output, and messages on standard error. Ends the VM
  with code 0 when the window is over, 1 when the workload failed, 2 for an unknown name or bad
  environment, 3 when the native library is missing.

  Works in a VM in which only `kernel` and `stdlib` are started.
  """

  alias Plimsoll.JSON
  alias Plimsoll.Workload.{Registry, Runner, Settings}

  @doc "Called by `-run`, with the words that follow it. Returns at once, so that the boot ends."
  @spec main([charlist]) :: pid
  def main(words) do
    words = for word <- words, do: :unicode.characters_to_binary(word)

    spawn(fn ->
      # A VM whose only task has failed must end all the same.
      code =
        try do
          run(words, &System.get_env/1, &IO.write/1, &complain/1)
        catch
          kind, reason -> fail(&complain/1, Exception.format(kind, reason, __STACKTRACE__), 1)
        end

      :erlang.halt(code)
    end)
  end

  @doc """
  Runs the workload that `words` name, with settings read through `get`; `print` is called with what
  goes to standard output, `complain` with a message. The result is the exit code.
  """
  @spec run([String.t()], (String.t() -> String.t() | nil), (iodata -> term), (iodata -> term)) ::
          0..3
  def run(words, get, print, complain) do
    with {:ok, workload} <- workload(words),
         {:ok, settings} <- Settings.read(get),
         :ok <- rehearse(workload, settings, print),
         :ok <- Runner.run(workload, settings, &print.([line(&1, workload, settings), ?\n])) do
      0
    else
      {:error, message} -> fail(complain, message, 2)
      {:cannot_run, message} -> fail(complain, message, 3)
      {:failed, message} -> fail(complain, message, 1)
    end
  end

  # Loads the code that prints before the schedulers are full of jobs: see `Runner`.
  defp rehearse(workload, settings, print) do
    line({:sample, 1, 1.0}, workload, settings)
    line({:done, 1, 1.0, []}, workload, settings)
    print.([])
    :ok
  end

  defp workload([name]) do
    with :error <- Registry.fetch(name) do
      {:error, "there is no workload #{inspect(name)}: use #{names()}"}
    end
  end

  defp workload(_words), do: {:error, "name one workload: #{names()}"}

  defp names, do: Enum.map_join(Registry.all(), ", ", & &1.name())

  defp line({:sample, ops, seconds}, _workload, _settings) do
    JSON.encode(plimsoll: 1, event: "sample", ops: ops, seconds: seconds)
  end

  defp line({:done, ops, seconds, extra}, workload, settings) do
    members = [
      plimsoll: 1,
      event: "done",
      ops: ops,
      seconds: seconds,
      workload: workload.name(),
      unit: workload.unit(),
      level: settings.level
    ]

    JSON.encode(members ++ extra)
  end

  defp fail(complain, message, code) do
    complain.(["plimsoll: ", message])
    code
  end

  defp complain(message), do: IO.puts(:stderr, message)
end
