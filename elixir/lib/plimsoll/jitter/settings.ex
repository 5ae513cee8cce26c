defmodule Plimsoll.Jitter.Settings do
  @moduledoc """
  What a run of the jitter lab is asked for, from the environment (`PLIMSOLL_JITTER_…`).

  `load` is the name of a load (`Plimsoll.Jitter.Load`); `workers` of them run at a time, 0 means as
  many as schedulers are online. `probes`, `period_ms` and `window_ms` make the schedule. Then what
  some loads take: `input_bytes` and `seed`; `eval` and `with`, Erlang expressions; and `audit`, the
  module to audit.
  """

  defstruct load: "idle",
            workers: 0,
            probes: 10,
            period_ms: 10,
            window_ms: 1000,
            input_bytes: 10_000,
            seed: 0,
            eval: nil,
            with: nil,
            audit: nil

  @type t :: %__MODULE__{}

  # Wake-ups of a run: each is a number kept until it is written.
  @most_wakeups 20_000_000

  @doc """
  Reads the settings through `get`, which gives a variable's value or `nil`.

      iex> env = %{"PLIMSOLL_JITTER_LOAD" => "spin", "PLIMSOLL_JITTER_PERIOD_MS" => "20"}
      iex> {:ok, settings} = Plimsoll.Jitter.Settings.read(&Map.get(env, &1))
      iex> {settings.load, settings.period_ms, settings.probes}
      {"spin", 20, 10}

      iex> Plimsoll.Jitter.Settings.read(fn _name -> "-1" end)
      {:error, "PLIMSOLL_JITTER_WORKERS is \\"-1\\": set it to a whole number from 0 to 100000"}
  """
  @spec read((String.t() -> String.t() | nil)) :: {:ok, t} | {:error, String.t()}
  def read(get) do
    default = %__MODULE__{}
    text = fn name, value -> get.("PLIMSOLL_JITTER_" <> name) || value end

    with {:ok, workers} <- whole(text, "WORKERS", default.workers, 0, 100_000),
         {:ok, probes} <- whole(text, "PROBES", default.probes, 1, 10_000),
         {:ok, period} <- whole(text, "PERIOD_MS", default.period_ms, 1, 3_600_000),
         {:ok, window} <- whole(text, "WINDOW_MS", default.window_ms, 10, 86_400_000),
         {:ok, bytes} <- whole(text, "INPUT_BYTES", default.input_bytes, 1, 67_108_864),
         {:ok, seed} <- whole(text, "SEED", default.seed, 0, 0xFFFFFFFFFFFFFFFF),
         :ok <- few_enough(probes, period, window) do
      {:ok,
       %__MODULE__{
         load: text.("LOAD", default.load),
         workers: workers,
         probes: probes,
         period_ms: period,
         window_ms: window,
         input_bytes: bytes,
         seed: seed,
         eval: text.("EVAL", nil),
         with: text.("WITH", nil),
         audit: text.("AUDIT", nil)
       }}
    end
  end

  defp whole(text, name, default, least, most) do
    given = text.(name, Integer.to_string(default))

    case byte_size(given) <= 40 && Integer.parse(given) do
      {value, ""} when value >= least and value <= most ->
        {:ok, value}

      _other ->
        {:error,
         "PLIMSOLL_JITTER_#{name} is #{inspect(given)}: " <>
           "set it to a whole number from #{least} to #{most}"}
    end
  end

  defp few_enough(probes, period, window) do
    if probes * div(window, period) <= @most_wakeups do
      :ok
    else
      {:error,
       "that makes more than #{@most_wakeups} wake-ups: use fewer probes or a longer period"}
    end
  end
end
