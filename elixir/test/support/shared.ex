defmodule Plimsoll.Shared do
  @moduledoc "The reference data beside the checkout, and a reader of JSON, which Elixir 1.14 lacks."

  @root Path.expand("../../..", __DIR__)

  @doc "The parsed JSON of a file under `../shared/data/bayes`."
  def bayes(file), do: read(Path.join([@root, "../shared/data/bayes", file]))

  @doc "The text of a file of the checkout."
  def checkout(path), do: File.read!(Path.join(@root, path))

  @doc "Data of a benchmark model as `Plimsoll.Nuts` takes it."
  def data(name), do: Map.take(bayes("data.json")[name], ["y", "sigma", "X"])

  defp read(path) do
    {value, rest} = value(skip(File.read!(path)))
    "" = skip(rest)
    value
  end

  defp skip(<<c, rest::binary>>) when c in [?\s, ?\n, ?\r, ?\t], do: skip(rest)
  defp skip(text), do: text

  defp value("{" <> rest), do: members(skip(rest), [])
  defp value("[" <> rest), do: elements(skip(rest), [])
  defp value("\"" <> rest), do: rest |> String.split("\"", parts: 2) |> List.to_tuple()
  defp value("null" <> rest), do: {nil, rest}
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}

  defp value(text) do
    {number, rest} = Float.parse(text)
    {number, rest}
  end

  defp members("}" <> rest, done), do: {Map.new(done), rest}
  defp members("," <> rest, done), do: members(skip(rest), done)

  defp members(text, done) do
    {name, rest} = value(text)
    ":" <> rest = skip(rest)
    {value, rest} = value(skip(rest))
    members(skip(rest), [{name, value} | done])
  end

  defp elements("]" <> rest, done), do: {Enum.reverse(done), rest}
  defp elements("," <> rest, done), do: elements(skip(rest), done)

  defp elements(text, done) do
    {value, rest} = value(text)
    elements(skip(rest), [value | done])
  end
end
