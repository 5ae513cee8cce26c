defmodule Plimsoll.Workload.Settings do
  @moduledoc """
  What a run is asked for, from the environment: `PLIMSOLL_LEVEL`, `PLIMSOLL_SECONDS` and
  `PLIMSOLL_SEED`.
  """

  @most_level 100_000
  @most_seconds 1.0e6
  @most_seed 0xFFFFFFFFFFFFFFFF

  @enforce_keys [:level, :seconds, :seed]
  defstruct @enforce_keys

  @typedoc "Processes that do jobs; the window in seconds, warm-up included; the seed, 64 bits."
  @type t :: %__MODULE__{level: pos_integer, seconds: number, seed: non_neg_integer}

  @doc """
  Reads the settings through `get`, which gives a variable's value or `nil`. A missing seed is 0.

      iex> env = %{"PLIMSOLL_LEVEL" => "2", "PLIMSOLL_SECONDS" => "1.5"}
      iex> Plimsoll.Workload.Settings.read(&Map.get(env, &1))
      {:ok, %Plimsoll.Workload.Settings{level: 2, seconds: 1.5, seed: 0}}

      iex> Plimsoll.Workload.Settings.read(fn _name -> "0" end)
      {:error, "PLIMSOLL_LEVEL is \\"0\\": set it to a whole number from 1 to 100000"}
  """
  @spec read((String.t() -> String.t() | nil)) :: {:ok, t} | {:error, String.t()}
  def read(get) do
    with {:ok, level} <- whole(get, "PLIMSOLL_LEVEL", nil, 1, @most_level),
         {:ok, seconds} <- seconds(get, "PLIMSOLL_SECONDS"),
         {:ok, seed} <- whole(get, "PLIMSOLL_SEED", "0", 0, @most_seed) do
      {:ok, %__MODULE__{level: level, seconds: seconds, seed: seed}}
    end
  end

  defp whole(get, name, default, least, most) do
    text = get.(name) || default

    case digits(text) && Integer.parse(text) do
      {value, ""} when value >= least and value <= most -> {:ok, value}
      _other -> refused(name, text, "a whole number from #{least} to #{most}")
    end
  end

  defp seconds(get, name) do
    text = get.(name)

    case digits(text) && Float.parse(text) do
      {value, ""} when value > 0 and value <= @most_seconds -> {:ok, value}
      _other -> refused(name, text, "a number of seconds above 0, up to a million, such as 1.5")
    end
  end

  # Length first: a number of a million digits takes seconds to read.
  defp digits(<<first, _rest::binary>> = text) when first in ?0..?9, do: byte_size(text) <= 40
  defp digits(_text), do: false

  defp refused(name, nil, range), do: {:error, "#{name} is not set: set it to #{range}"}
  defp refused(name, text, range), do: {:error, "#{name} is #{inspect(text)}: set it to #{range}"}
end
