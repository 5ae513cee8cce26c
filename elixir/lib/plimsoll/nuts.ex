defmodule Plimsoll.Nuts do
  @moduledoc """
  Fits models with the No-U-Turn Sampler, inside the VM.

      {:ok, data} = Plimsoll.Data.csv("returns.csv", ["y"])
      {:ok, fit} = Plimsoll.Nuts.fit(Plimsoll.Models.m1(), data, seed: 1, chains: 4)
      fit.warnings

  Everything is done by the calling process: a fit of many series is many processes. A chain lives in
  the native library as long as a process refers to it: one that is killed leaves nothing behind.

  ## Where the work runs
  - `on: :dirty`: each chain on a dirty CPU scheduler. Simple, and the normal schedulers stay free; but
    `+sbt` does not bind dirty schedulers, so no binding reaches this work.
  - `on: :stepping`: draw by draw on the normal schedulers, which `+sbt` binds. The process may be
    scheduled out between any two draws. A draw cannot be cut, so when one is *measured* to take more
    than a millisecond of CPU time, the rest of the chain, and all that follow, move to a dirty
    scheduler, and `moved` says so.

  The draws are the same, bit for bit, either way. Compiling the model and summarising the draws is
  done on dirty schedulers both times.
  """

  alias Plimsoll.{Data, Model, Native}

  # Below these sizes the work takes less than going to a dirty scheduler and back.
  @small_bytes 32 * 1024
  @few_numbers 16 * 1024

  @enforce_keys [:chains, :draws, :gradients, :parameters, :warnings, :on, :moved, :kept]
  defstruct @enforce_keys

  @typedoc """
  The posterior of one number of the draws (`name`, or `name.1`, `name.2`, … of a vector): mean,
  standard deviation, quantiles, their Monte-Carlo standard errors, effective sample sizes and
  rank-normalised split R̂. What is undefined is `nil`.
  """
  @type summary :: %{
          name: String.t(),
          mean: float | nil,
          sd: float | nil,
          q5: float | nil,
          q50: float | nil,
          q95: float | nil,
          mcse_mean: float | nil,
          mcse_sd: float | nil,
          ess_bulk: float | nil,
          ess_tail: float | nil,
          rhat: float | nil
        }

  @typedoc """
  A fit. `warnings` are sentences under `:not_mixed` (R̂ above 1.01), `:few_effective_draws`,
  `:divergences`, `:depth_exhausted`; empty if nothing speaks against using the summaries. `moved` is
  `nil`, or where a stepping fit left the normal schedulers: chain and draw from 1, the microseconds
  of that draw, and a sentence. `kept` are the draws, if asked for: for each chain a list of draws,
  each a list of numbers in the order of `parameters`.
  """
  @type t :: %__MODULE__{
          chains: pos_integer,
          draws: pos_integer,
          gradients: pos_integer,
          parameters: [summary],
          warnings: [{atom, String.t()}],
          on: :dirty | :stepping,
          moved: nil | moved,
          kept: nil | [[[float]]]
        }

  @type moved :: %{
          chain: pos_integer,
          draw: pos_integer,
          microseconds: float,
          words: String.t()
        }

  @typedoc "A model that has met its data; any number of processes may sample it."
  @opaque program :: reference

  @defaults [
    seed: 0,
    warmup: 500,
    draws: 500,
    chains: 1,
    on: :dirty,
    target_accept: 0.8,
    max_depth: 10,
    diagnostics: true,
    keep: false
  ]

  @most_chains 1000

  @doc """
  Fits `model` to `data`.

  Options, with their defaults: `seed: 0`; `warmup: 500` and `draws: 500` of each chain; `chains: 1`
  (R̂ needs several; one after the other); `on: :dirty` or `:stepping`; `target_accept: 0.8`;
  `max_depth: 10`; `keep: false`, whether to return the draws; `diagnostics: true`. Without diagnostics
  a summary has mean and standard deviation only and takes microseconds, not milliseconds, and
  nothing says whether the chains mixed.

  The same seed gives the same draws on the same machine. A model, data or options that are wrong
  give `{:error, sentence}`.
  """
  @spec fit(Model.t(), Data.t(), keyword) :: {:ok, t} | {:error, String.t()}
  def fit(%Model{} = model, data, options \\ []) do
    with {:ok, options} <- options(options),
         {:ok, program} <- compile(model, data) do
      run(program, options)
    end
  end

  @doc "As `fit/3`, for a model that is compiled already."
  @spec sample(program, keyword) :: {:ok, t} | {:error, String.t()}
  def sample(program, options \\ []) do
    with {:ok, options} <- options(options), do: run(program, options)
  end

  @doc "Checks the model against its data and makes it ready to be evaluated."
  @spec compile(Model.t(), Data.t()) :: {:ok, program} | {:error, String.t()}
  def compile(%Model{} = model, data) do
    with {:ok, arrays} <- Data.arrays(data) do
      json = :erlang.iolist_to_binary(Model.json(model))
      bytes = Enum.reduce(arrays, byte_size(json), fn {_, _, b}, sum -> sum + byte_size(b) end)

      if bytes <= @small_bytes,
        do: Native.nuts_compile_small(json, arrays),
        else: Native.nuts_compile(json, arrays)
    end
  rescue
    error in ArgumentError -> {:error, "this is not a model: #{Exception.message(error)}"}
  end

  @doc """
  The names of the numbers of a draw, and the number of unconstrained parameters.
  """
  @spec names(program) :: {[String.t()], non_neg_integer}
  def names(program), do: Native.nuts_names(program)

  @doc """
  The log density at a position on the unconstrained scale, Jacobians and constants included, and
  its gradient.
  """
  @spec density(program, [number]) :: {:ok, {float, [float]}} | {:error, String.t()}
  def density(program, position) when is_list(position) do
    Native.nuts_density(program, for(x <- position, do: x / 1))
  end

  defp options(options) do
    with :ok <- known(options) do
      options = :maps.from_list(@defaults ++ options)

      Enum.find_value(
        [
          {:seed, options.seed in 0..0xFFFFFFFFFFFFFFFF, "a whole number of 64 bits"},
          {:warmup, options.warmup in 0..0xFFFFFF, "a whole number up to 16777215"},
          {:draws, options.draws in 4..0xFFFFFF, "a whole number from 4 to 16777215"},
          {:chains, options.chains in 1..@most_chains,
           "a whole number from 1 to #{@most_chains}"},
          {:on, options.on in [:dirty, :stepping], ":dirty or :stepping"},
          {:target_accept, is_number(options.target_accept), "a number between 0 and 1"},
          {:max_depth, options.max_depth in 1..20, "a whole number from 1 to 20"},
          {:diagnostics, is_boolean(options.diagnostics), "true or false"},
          {:keep, is_boolean(options.keep), "true or false"}
        ],
        {:ok, options},
        fn {name, right?, range} ->
          not right? && {:error, "#{name} is #{inspect(Map.fetch!(options, name))}: use #{range}"}
        end
      )
    end
  end

  defp known([]), do: :ok

  defp known([{name, _value} | options]) when is_atom(name) do
    if :lists.keymember(name, 1, @defaults), do: known(options), else: unknown(name)
  end

  defp known([other | _options]), do: unknown(other)
  defp known(_other), do: {:error, "the options are no keyword list"}

  defp unknown(option) do
    names = Enum.map_join(@defaults, ", ", fn {name, _default} -> "#{name}" end)
    {:error, "there is no option #{inspect(option)}: there are #{names}"}
  end

  defp run(program, options) do
    with {:ok, chains, moved} <- chains(program, options, 1, options.on, nil, []),
         {:ok, kept} <- kept(options.keep, chains, program),
         {:ok, fit} <- summary(chains, options, program) do
      {:ok, struct!(__MODULE__, Map.merge(fit, %{on: options.on, moved: moved, kept: kept}))}
    end
  end

  defp summary(chains, options, program) do
    {names, _dimension} = Native.nuts_names(program)
    drawn = options.draws * options.chains * length(names)

    if not options.diagnostics and drawn <= @few_numbers,
      do: Native.nuts_fit_small(chains),
      else: Native.nuts_fit(chains, options.diagnostics)
  end

  defp chains(_program, options, number, _on, moved, done) when number > options.chains do
    {:ok, :lists.reverse(done), moved}
  end

  defp chains(program, options, number, on, moved, done) do
    settings = %{
      seed: options.seed,
      chain: number - 1,
      warmup: options.warmup,
      draws: options.draws,
      target_accept: options.target_accept / 1,
      max_depth: options.max_depth
    }

    with {:ok, {chain, state}} <- Native.nuts_chain(program, settings, on == :dirty),
         {:ok, long} <- draw(chain, on, state) do
      moved = moved || (long && moved(number, long))
      on = if moved, do: :dirty, else: on
      chains(program, options, number + 1, on, moved, [chain | done])
    end
  end

  defp draw(_chain, :dirty, :done), do: {:ok, nil}
  defp draw(chain, :dirty, :more), do: whole(chain, nil)
  defp draw(chain, :stepping, :more), do: step(chain, 1)

  # The whole chain, in pieces between which the process can be killed.
  defp whole(chain, long) do
    case Native.nuts_sample(chain) do
      {:ok, :more} -> whole(chain, long)
      {:ok, :done} -> {:ok, long}
      {:error, message} -> {:error, message}
    end
  end

  defp step(chain, number) do
    case Native.nuts_step(chain) do
      {:ok, {:more, _nanoseconds}} -> step(chain, number + 1)
      {:ok, {:done, _nanoseconds}} -> {:ok, nil}
      {:ok, {:long, nanoseconds}} -> whole(chain, {number, nanoseconds})
      {:error, message} -> {:error, message}
    end
  end

  defp moved(chain, {draw, nanoseconds}) do
    microseconds = nanoseconds / 1000

    %{
      chain: chain,
      draw: draw,
      microseconds: microseconds,
      words:
        "draw #{draw} of chain #{chain} took #{round(microseconds)} µs of CPU time, more than the " <>
          "1000 µs for which a normal scheduler may be held: the rest was sampled on dirty " <>
          "schedulers, which +sbt does not bind"
    }
  end

  defp kept(false, _chains, _program), do: {:ok, nil}

  defp kept(true, chains, program) do
    {names, _dimension} = names(program)
    width = length(names) * 8

    Enum.reduce_while(:lists.reverse(chains), {:ok, []}, fn chain, {:ok, done} ->
      case Native.nuts_draws(chain) do
        {:ok, binary} ->
          draws =
            for <<draw::binary-size(width) <- binary>> do
              for <<number::float-native <- draw>>, do: number
            end

          {:cont, {:ok, [draws | done]}}

        {:error, message} ->
          {:halt, {:error, message}}
      end
    end)
  end
end
