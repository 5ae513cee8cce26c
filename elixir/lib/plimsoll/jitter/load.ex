defmodule Plimsoll.Jitter.Load do
  @moduledoc """
  What the workers do, over and over, while the probes measure.

    * `idle`: nothing;
    * `erlang`, `blocking`, `yielding`, `dirty`, `automatic`: the edit distance of two random binaries
      with `Plimsoll.Levenshtein`, in plain Elixir or natively on the schedulers that the name says;
    * `matrix`: the same result from the textbook algorithm with its full matrix, in a NIF that
      blocks: what was published; `matrix-yielding`, `matrix-dirty`, `matrix-automatic`: the same
      algorithm made to respect the schedulers;
    * `eval`: an expression of the user's;
    * the name of any `Plimsoll.Workload`.
  """

  alias Plimsoll.Jitter.{Expression, Settings}
  alias Plimsoll.{Levenshtein, Native, Workload}

  @typedoc """
  The first state of worker `index`, from 1, made in the worker before the window begins; and one job.
  """
  @type t :: {start :: (pos_integer -> term), job :: (term -> term)}

  @modes %{
    "blocking" => :blocking,
    "yielding" => :yielding,
    "dirty" => :dirty,
    "automatic" => :automatic
  }

  @doc """
  The load that the settings name; `:none` for `idle`. `{:error, message}`: there is none of that
  name, or it is not as it should be; `{:cannot_run, message}`: it cannot run here.
  """
  @spec fetch(Settings.t()) ::
          {:ok, t | :none} | {:error, String.t()} | {:cannot_run, String.t()}
  def fetch(%Settings{load: "idle"}), do: {:ok, :none}

  def fetch(%Settings{load: "erlang"} = settings) do
    distance(settings, &Levenshtein.distance(&1, &2, run: :erlang))
  end

  def fetch(%Settings{load: "matrix"} = settings), do: matrix(settings, :blocking)

  def fetch(%Settings{load: "matrix-" <> mode} = settings) when is_map_key(@modes, mode),
    do: matrix(settings, @modes[mode])

  def fetch(%Settings{load: mode} = settings) when is_map_key(@modes, mode) do
    run = @modes[mode]
    native(fn -> distance(settings, &Levenshtein.distance(&1, &2, run: run)) end)
  end

  def fetch(%Settings{load: "eval", eval: nil}), do: {:error, "the load eval needs an expression"}

  def fetch(%Settings{load: "eval"} = settings) do
    with {:ok, expression} <- Expression.compile(settings.eval, settings.with || "") do
      job = fn values ->
        Expression.run(values)
        values
      end

      {:ok, {fn _index -> Expression.bind(expression) end, job}}
    end
  end

  def fetch(%Settings{load: name} = settings) do
    with {:ok, workload} <- known(name),
         {:ok, shared} <- able(workload, settings) do
      {:ok, {&workload.start(shared, &1), fn state -> elem(workload.job(state), 1) end}}
    end
  end

  defp matrix(settings, mode) do
    native(fn -> distance(settings, &cells(Native.levenshtein_matrix(mode, &1, &2))) end)
  end

  defp cells({:error, sentence}), do: exit(sentence)
  defp cells(distance), do: distance

  defp distance(settings, compute) do
    start = fn index ->
      # The same inputs for every arm of a block: the seed is the block's.
      state = :rand.seed_s(:exsss, {settings.seed, index, settings.input_bytes})
      {a, state} = :rand.bytes_s(settings.input_bytes, state)
      {b, _state} = :rand.bytes_s(settings.input_bytes, state)
      {a, b}
    end

    job = fn {a, b} = state ->
      compute.(a, b)
      state
    end

    {:ok, {start, job}}
  end

  defp native(load) do
    # Found out here, once, and not in every worker.
    1 = Native.spin(1, 0)
    load.()
  rescue
    missing in Native.NotLoaded -> {:cannot_run, Exception.message(missing)}
  end

  defp known(name) do
    with :error <- Workload.Registry.fetch(name) do
      distances = ["erlang" | Map.keys(@modes)]
      workloads = for module <- Workload.Registry.all(), do: module.name()
      names = Enum.join(["idle" | distances ++ ["matrix", "eval" | workloads]], ", ")
      {:error, "there is no load #{inspect(name)}: use #{names}"}
    end
  end

  defp able(workload, settings) do
    asked = %Workload.Settings{
      level: max(settings.workers, 1),
      seconds: settings.window_ms / 1000,
      seed: settings.seed
    }

    with {:error, message} <- workload.setup(asked), do: {:cannot_run, message}
  end
end
