defmodule Plimsoll.Native do
  @moduledoc """
  Every function of the one native library, `priv/plimsoll_nif.so`, which `./x setup` builds.

  The library is looked for beside this module's own code (`ebin/../priv`), and then where OTP
  knows the application `plimsoll`. When it is missing, calling a function raises
  `Plimsoll.Native.NotLoaded`, which says what to do; the rest of Plimsoll works without it.
  A panic inside the library becomes an exception here.
  """

  # Loading this module while it is compiled would look for a library that is not there yet.
  @compile {:autoload, false}
  @on_load :load

  defmodule NotLoaded do
    @moduledoc "The native library is not there, or cannot be loaded into this VM."
    defexception [:message]
  end

  @doc """
  `steps` steps of the 32-bit xorshift generator from `state`, on a dirty CPU scheduler: the same
  arithmetic as `Plimsoll.Workload.Spin.spin/2`.

  `state` is 1 to 2³² − 1; `steps` at most 100 000 000, about a fifth of a second, during which
  nothing can interrupt it. Raises `ArgumentError` outside these bounds.
  """
  @spec spin(pos_integer, non_neg_integer) :: pos_integer
  def spin(state, steps) when is_integer(state) and is_integer(steps), do: not_loaded()

  @doc false
  # Plimsoll.Levenshtein is its face, and says what the arguments are.
  def levenshtein_distance(_mode, _unit, _limit, _a, _b), do: not_loaded()

  @doc false
  def levenshtein_similarity(_mode, _unit, _limit, _a, _b), do: not_loaded()

  @doc false
  def levenshtein_many(_mode, _unit, _limit, _query, _candidates), do: not_loaded()

  @doc false
  def levenshtein_matrix(_mode, _a, _b), do: not_loaded()

  @doc false
  # Computations under way in the whole library: zero when nothing is called.
  def timeslice_live, do: not_loaded()

  @doc false
  def timeslice_record(_on), do: not_loaded()

  @doc false
  # {wall, cpu} since the last call, each [{up_to_microseconds, count}].
  def timeslice_slices, do: not_loaded()

  @doc false
  # CPU nanoseconds of the whole VM, by every thread.
  def timeslice_process_cpu, do: not_loaded()

  @doc false
  # Plimsoll.Nuts is the face of all nuts_ functions, and says what the arguments are.
  def nuts_model(_json), do: not_loaded()

  @doc false
  def nuts_compile(_json, _arrays), do: not_loaded()

  @doc false
  def nuts_compile_small(_json, _arrays), do: not_loaded()

  @doc false
  def nuts_names(_program), do: not_loaded()

  @doc false
  def nuts_density(_program, _position), do: not_loaded()

  @doc false
  def nuts_chain(_program, _settings, _sample), do: not_loaded()

  @doc false
  def nuts_sample(_chain), do: not_loaded()

  @doc false
  def nuts_step(_chain), do: not_loaded()

  @doc false
  def nuts_draws(_chain), do: not_loaded()

  @doc false
  def nuts_fit(_chains, _diagnostics), do: not_loaded()

  @doc false
  def nuts_fit_small(_chains), do: not_loaded()

  @doc false
  # Chains in the library's memory: zero when no process refers to one, or works on one.
  def nuts_live, do: not_loaded()

  @doc false
  def panic_for_test, do: not_loaded()

  @doc false
  def load do
    # A failed load must not make this module undefined: its functions then say what is missing.
    load(candidates(), [])
  end

  defp load([], failures) do
    :persistent_term.put(__MODULE__, :lists.reverse(failures))
  end

  defp load([path | paths], failures) do
    case :erlang.load_nif(path, 0) do
      :ok -> :ok
      {:error, {_reason, text}} -> load(paths, [:unicode.characters_to_binary(text) | failures])
    end
  end

  defp candidates do
    beside =
      case :code.which(__MODULE__) do
        [_ | _] = beam -> [:filename.join([:filename.dirname(beam), ~c"..", ~c"priv"])]
        _not_a_file -> []
      end

    installed =
      case :code.priv_dir(:plimsoll) do
        {:error, :bad_name} -> []
        path -> [path]
      end

    for path <- beside ++ installed, do: :filename.join(path, ~c"plimsoll_nif")
  end

  @spec not_loaded() :: no_return
  defp not_loaded do
    why = :lists.join("; ", :persistent_term.get(__MODULE__, []))

    :erlang.nif_error(%NotLoaded{
      message:
        IO.iodata_to_binary([
          "the native library of Plimsoll is not loaded: run ./x setup, which builds it (",
          if(why == [], do: "nowhere to look for it", else: why),
          ")"
        ])
    })
  end
end
