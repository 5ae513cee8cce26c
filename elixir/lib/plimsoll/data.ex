defmodule Plimsoll.Data do
  @moduledoc """
  Data for models: from CSV files, or by seed.

  Data is a map from names to a number, a list of numbers (a vector), or a list of lists of numbers
  (a matrix, row by row).
  """

  @type array :: number | [number] | [[number]]
  @type t :: %{(atom | String.t()) => array}

  @doc """
  Reads numeric columns of a CSV file with a line of headings.

  `columns` says which data to make: a heading gives a vector under its own name, `{name, heading}`
  a vector under another one, `{name, [heading, …]}` a matrix. Fields are separated by commas and
  may stand in double quotes; lines end with LF or CRLF; empty lines are passed over.

      Plimsoll.Data.csv("returns.csv", ["y"])
      Plimsoll.Data.csv("trial.csv", [y: "outcome", X: ["dose", "age"]])

  The message of `{:error, message}` names the file, the line and the column.
  """
  @spec csv(Path.t(), [String.t() | {atom | String.t(), String.t() | [String.t()]}]) ::
          {:ok, t} | {:error, String.t()}
  def csv(path, columns) do
    with {:ok, text} <- read(path) do
      text
      |> String.replace_prefix("\uFEFF", "")
      |> String.split(["\r\n", "\n"])
      |> Enum.with_index(1)
      |> Enum.reject(fn {line, _number} -> String.trim(line) == "" end)
      |> table(path, columns)
    end
  catch
    {:csv, message} -> {:error, "#{path}, #{message}"}
  end

  defp read(path) do
    with {:error, reason} <- File.read(path) do
      {:error, "#{path} cannot be read: #{:file.format_error(reason)}"}
    end
  end

  defp table([], path, _columns),
    do: {:error, "#{path} is empty: its first line names the columns"}

  defp table([_], path, _columns), do: {:error, "#{path} has no line below its headings"}

  defp table([{headings, line} | rows], _path, columns) do
    headings = fields(headings, line)
    width = length(headings)

    rows =
      for {text, line} <- rows do
        fields = fields(text, line)

        if length(fields) != width do
          refuse(line, "there are #{length(fields)} fields under #{width} headings")
        end

        {List.to_tuple(fields), line}
      end

    {:ok, Map.new(columns, &column(&1, headings, rows))}
  end

  defp column(heading, headings, rows) when is_binary(heading) do
    column({heading, heading}, headings, rows)
  end

  defp column({name, heading}, headings, rows) when is_binary(heading) do
    at = position(heading, headings)
    {name, for({fields, line} <- rows, do: number(elem(fields, at), line, heading))}
  end

  defp column({name, several}, headings, rows) when is_list(several) do
    at = for heading <- several, do: {position(heading, headings), heading}

    {name,
     for {fields, line} <- rows do
       for {at, heading} <- at, do: number(elem(fields, at), line, heading)
     end}
  end

  defp position(heading, headings) do
    case for {^heading, at} <- Enum.with_index(headings), do: at do
      [at] -> at
      [] -> refuse(1, "there is no column #{inspect(heading)}, only #{list(headings)}")
      _several -> refuse(1, "the heading #{inspect(heading)} stands there more than once")
    end
  end

  defp list(headings), do: Enum.map_join(headings, ", ", &inspect/1)

  # Length first: a number of a million digits takes long to read.
  defp number(text, line, heading) do
    case byte_size(text) <= 40 and parse(text) do
      {number, ""} ->
        number

      _ ->
        shown = inspect(text, printable_limit: 40)
        refuse(line, "column #{inspect(heading)}: #{shown} is no number, or too large for one")
    end
  end

  defp parse(text) do
    Float.parse(text)
  rescue
    # Some releases raise where a number is larger than any float.
    ArgumentError -> :error
  end

  defp fields(text, line) do
    for field <- split(text, line, "", []), do: String.trim(field)
  end

  defp split("", _line, field, done), do: Enum.reverse([field | done])
  defp split("," <> rest, line, field, done), do: split(rest, line, "", [field | done])

  defp split("\"" <> rest, line, field, done) do
    case String.split(rest, "\"", parts: 2) do
      [inside, rest] -> split(rest, line, field <> inside, done)
      [_open] -> refuse(line, "a quote is opened and not closed")
    end
  end

  defp split(<<byte, rest::binary>>, line, field, done) do
    split(rest, line, <<field::binary, byte>>, done)
  end

  @spec refuse(pos_integer, String.t()) :: no_return
  defp refuse(line, why), do: throw({:csv, "line #{line}: #{why}"})

  @doc """
  A series `y` of `length` numbers for `m1` or `m5` of `Plimsoll.Models`, drawn from the model with
  the same true parameters for every seed: M1's μ_trend = 0.1, σ_trend = 0.9; M5's weights ½, 3⁄10,
  ⅕ and components N(0.3, 0.3), N(−0.2, 0.2), N(0, 1).

      iex> %{"y" => y} = Plimsoll.Data.by_seed("m1", 7, 200)
      iex> length(y)
      200
      iex> Plimsoll.Data.by_seed("m1", 7, 200) == %{"y" => y}
      true
  """
  @spec by_seed(String.t(), non_neg_integer, pos_integer) :: t
  def by_seed(model, seed, length) when model in ["m1", "m5"] do
    {y, _random} = Enum.map_reduce(1..length, :rand.seed_s(:exsss, seed), &draw(model, &1, &2))

    %{"y" => y}
  end

  defp draw("m1", _at, random), do: normal(0.1, 0.9, random)

  defp draw("m5", _at, random) do
    case :rand.uniform_s(random) do
      {u, random} when u < 0.5 -> normal(0.3, 0.3, random)
      {u, random} when u < 0.8 -> normal(-0.2, 0.2, random)
      {_u, random} -> normal(0.0, 1.0, random)
    end
  end

  defp normal(mean, sd, random) do
    {z, random} = :rand.normal_s(random)
    {mean + sd * z, random}
  end

  @doc """
  The data as the native engine takes it: `{name, shape, values}`, the values 64-bit floats in
  native order; sorted by name.

      iex> Plimsoll.Data.arrays(%{x: [[1, 2.5]], n: 3}) |> elem(1) |> Enum.map(&elem(&1, 1))
      [[], [1, 2]]

      iex> Plimsoll.Data.arrays(%{"x" => [[1, 2], [3]]})
      {:error, "the data `x`: row 2 has 1 numbers, row 1 has 2"}

      iex> Plimsoll.Data.arrays(%{"x" => [1, nil]})
      {:error, "the data `x`: element 2 is nil, not a number"}
  """
  @spec arrays(t) :: {:ok, [{String.t(), [non_neg_integer], binary}]} | {:error, String.t()}
  def arrays(data) when is_map(data) do
    {:ok,
     for({name, value} <- :lists.sort(:maps.to_list(data)), do: array(to_string(name), value))}
  catch
    {:data, name, why} -> {:error, "the data `#{name}`: #{why}"}
  end

  def arrays(_data), do: {:error, "the data are no map: use %{\"y\" => [1.0, 2.0]}"}

  defp array(name, number) when is_number(number), do: {name, [], float(number, name)}

  defp array(name, [[_ | _] = first | _] = rows) do
    columns = length(first)

    for {row, at} <- Enum.with_index(rows, 1), not (is_list(row) and length(row) == columns) do
      has = if is_list(row), do: "#{length(row)} numbers", else: "no list"
      throw({:data, name, "row #{at} has #{has}, row 1 has #{columns}"})
    end

    {name, [length(rows), columns], floats(Enum.concat(rows), name)}
  end

  defp array(name, numbers) when is_list(numbers) do
    {name, [length(numbers)], floats(numbers, name)}
  end

  defp array(name, other), do: throw({:data, name, "#{inspect(other)} is no number or list"})

  defp floats(numbers, name) do
    for number <- numbers, into: <<>>, do: <<number::float-native>>
  rescue
    # The usual case is not slowed down by looking at every number first.
    ArgumentError ->
      at = Enum.find_index(numbers, &(not fits?(&1)))
      throw({:data, name, "element #{at + 1} is #{inspect(Enum.at(numbers, at))}, not a number"})
  end

  defp float(number, name), do: floats([number], name)

  defp fits?(number) do
    is_binary(<<number::float-native>>)
  rescue
    ArgumentError -> false
  end
end
