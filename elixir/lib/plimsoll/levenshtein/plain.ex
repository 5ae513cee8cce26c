defmodule Plimsoll.Levenshtein.Plain do
  @moduledoc false
  # The textbook dynamic program (Wagner and Fischer 1974) with one row, in plain Elixir: what the
  # VM does without native code. A limit is applied to the result only.

  @spec distance(binary, binary, :bytes | :code_points, nil | non_neg_integer | float) ::
          non_neg_integer | nil
  def distance(a, b, unit, limit) do
    {distance, longest} = find(a, b, unit)
    if within?(distance, longest, limit), do: distance
  end

  @spec similarity(binary, binary, :bytes | :code_points, nil | non_neg_integer | float) ::
          float | nil
  def similarity(a, b, unit, limit) do
    {distance, longest} = find(a, b, unit)
    if within?(distance, longest, limit), do: ratio(distance, longest)
  end

  defp within?(_distance, _longest, nil), do: true
  defp within?(distance, _longest, max) when is_integer(max), do: distance <= max
  defp within?(distance, longest, min), do: ratio(distance, longest) >= min

  defp ratio(_distance, 0), do: 1.0
  defp ratio(distance, longest), do: 1.0 - distance / longest

  defp find(a, b, unit) do
    {a, b} = {symbols(a, unit, "first"), symbols(b, unit, "second")}
    {last(rows(a, b, :lists.seq(0, length(b)), 1)), max(length(a), length(b))}
  end

  defp symbols(bytes, :bytes, _which), do: :binary.bin_to_list(bytes)

  defp symbols(text, :code_points, which) do
    case :unicode.characters_to_list(text) do
      points when is_list(points) ->
        points

      {_why, good, _rest} ->
        at = byte_size(:unicode.characters_to_binary(good))

        raise ArgumentError,
              "the #{which} string is not UTF-8 at byte #{at}: compare bytes, or convert it first"
    end
  end

  defp rows([], _b, row, _number), do: row

  defp rows([symbol | rest], b, [corner | above], number),
    do: rows(rest, b, [number | cells(b, symbol, above, corner, number)], number + 1)

  defp cells([], _symbol, [], _corner, _left), do: []

  defp cells([same | b], same, [above | row], corner, left) do
    cell = smallest(corner, above + 1, left + 1)
    [cell | cells(b, same, row, above, cell)]
  end

  defp cells([_other | b], symbol, [above | row], corner, left) do
    cell = smallest(corner + 1, above + 1, left + 1)
    [cell | cells(b, symbol, row, above, cell)]
  end

  defp smallest(x, y, z) when x <= y and x <= z, do: x
  defp smallest(_x, y, z) when y <= z, do: y
  defp smallest(_x, _y, z), do: z

  defp last([last]), do: last
  defp last([_ | rest]), do: last(rest)
end
