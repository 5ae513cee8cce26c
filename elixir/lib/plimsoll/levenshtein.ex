defmodule Plimsoll.Levenshtein do
  @moduledoc """
  Edit distance of two strings: how many insertions, deletions and substitutions turn one into
  the other.

      iex> Plimsoll.Levenshtein.distance("kitten", "sitting")
      3

  ## Options
    * `:unit` – `:bytes` (the default) or `:code_points` of UTF-8 (not graphemes);
    * `:max` – the largest distance of interest, or `:min` – the least similarity of interest
      (`0.0` to `1.0`). What is beyond is `nil`, and is found out the faster the tighter it is;
    * `:run` – where the work is done:
      * `:yielding` (the default) – native, on the normal scheduler in slices below a
        millisecond, so that other processes never wait longer;
      * `:dirty` – native, on a dirty CPU scheduler;
      * `:automatic` – native, the first slice like `:yielding`, the rest like `:dirty`;
      * `:blocking` – native, on the normal scheduler to the end: for comparison, or for strings
        known to be short;
      * `:erlang` – plain Elixir, for comparison, or without the native library.

  Native calls that take less than some 50 µs are done on the spot whatever `:run` says. When the
  calling process dies in the middle, the call ends within a millisecond and its memory is freed.

  Strings may have up to 64 MiB; time is proportional to the product of the two lengths (about
  0.6 ms for two of 10 000 bytes, one minute for two of 3 MB), or to the longer one times `:max`.
  Memory is one byte for each symbol of the longer string, and with `:code_points` four bytes more
  for each code point of both.
  """

  alias Plimsoll.Levenshtein.Plain
  alias Plimsoll.Native

  @type option ::
          {:unit, :bytes | :code_points}
          | {:max, non_neg_integer}
          | {:min, float}
          | {:run, :yielding | :dirty | :automatic | :blocking | :erlang}

  # Below both of the native library's limits.
  @candidates_a_call 1000
  @longest_query 65_536

  @doc """
  The distance of `a` and `b`; `nil` if it is beyond `:max` or `:min`.

      iex> Plimsoll.Levenshtein.distance("Bär", "Bar")
      2
      iex> Plimsoll.Levenshtein.distance("Bär", "Bar", unit: :code_points)
      1
      iex> Plimsoll.Levenshtein.distance("kitten", "sitting", max: 2)
      nil

  Raises `ArgumentError` for options that make no sense, for `:code_points` of what is not UTF-8
  and for strings that are too long.
  """
  @spec distance(binary, binary, [option]) :: non_neg_integer | nil
  def distance(a, b, options \\ [])

  def distance(a, b, []) when is_binary(a) and is_binary(b) do
    checked(Native.levenshtein_distance(:yielding, :bytes, nil, a, b))
  end

  def distance(a, b, options) when is_binary(a) and is_binary(b) do
    case parse(options) do
      {:erlang, unit, limit} -> Plain.distance(a, b, unit, limit)
      {run, unit, limit} -> checked(Native.levenshtein_distance(run, unit, limit, a, b))
    end
  end

  @doc """
  How alike `a` and `b` are: 1 − distance ÷ length of the longer one (in the unit); 1.0 for two
  empty strings; `nil` if beyond `:max` or `:min`.

      iex> Plimsoll.Levenshtein.similarity("abcd", "abed")
      0.75
      iex> Plimsoll.Levenshtein.similarity("abcd", "abed", min: 0.8)
      nil
  """
  @spec similarity(binary, binary, [option]) :: float | nil
  def similarity(a, b, options \\ []) when is_binary(a) and is_binary(b) do
    case parse(options) do
      {:erlang, unit, limit} -> Plain.similarity(a, b, unit, limit)
      {run, unit, limit} -> checked(Native.levenshtein_similarity(run, unit, limit, a, b))
    end
  end

  @doc """
  The distances of `query` to every one of `candidates`, in their order; what depends on the
  query alone is computed once.

      iex> Plimsoll.Levenshtein.distances("scale", ["scale", "scales", "stale", ""], max: 4)
      [0, 1, 1, nil]
  """
  @spec distances(binary, [binary], [option]) :: [non_neg_integer | nil]
  def distances(query, candidates, options \\ []) when is_binary(query) and is_list(candidates) do
    case parse(options) do
      {:erlang, unit, limit} ->
        :lists.map(&Plain.distance(query, &1, unit, limit), candidates)

      {run, unit, limit} when byte_size(query) > @longest_query ->
        one = &checked(Native.levenshtein_distance(run, unit, limit, query, &1))
        :lists.map(one, candidates)

      {run, unit, limit} ->
        many = &checked(Native.levenshtein_many(run, unit, limit, query, &1))
        candidates |> Enum.chunk_every(@candidates_a_call) |> Enum.flat_map(many)
    end
  end

  @doc """
  The candidate nearest to `query` with its distance, the first of equals; `nil` if none is within
  the limit.

      iex> Plimsoll.Levenshtein.nearest("tset", ["best", "test", "nest"])
      {"test", 2}
  """
  @spec nearest(binary, [binary], [option]) :: {binary, non_neg_integer} | nil
  def nearest(query, candidates, options \\ []) do
    candidates
    |> Enum.zip(distances(query, candidates, options))
    |> Enum.filter(fn {_candidate, distance} -> distance end)
    |> Enum.min_by(fn {_candidate, distance} -> distance end, fn -> nil end)
  end

  defp checked({:error, sentence}), do: raise(ArgumentError, sentence)
  defp checked(result), do: result

  defp parse(options), do: parse(options, :yielding, :bytes, nil)

  defp parse([], run, unit, limit), do: {run, unit, limit}

  defp parse([{:run, run} | rest], _run, unit, limit)
       when run in [:yielding, :dirty, :automatic, :blocking, :erlang],
       do: parse(rest, run, unit, limit)

  defp parse([{:unit, unit} | rest], run, _unit, limit) when unit in [:bytes, :code_points],
    do: parse(rest, run, unit, limit)

  # Larger than any distance is no limit; the native side takes 64 bits.
  defp parse([{:max, max} | rest], run, unit, nil) when is_integer(max) and max >= 0,
    do: parse(rest, run, unit, min(max, 0xFFFFFFFF))

  defp parse([{:min, min} | rest], run, unit, nil) when is_number(min) and min >= 0 and min <= 1,
    do: parse(rest, run, unit, min * 1.0)

  defp parse([option | _rest], _run, _unit, _limit) do
    raise ArgumentError,
          "#{inspect(option)} is no option here: use :run, :unit, and :max (an integer from 0) " <>
            "or :min (a number from 0 to 1)"
  end
end
