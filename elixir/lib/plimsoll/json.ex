defmodule Plimsoll.JSON do
  @moduledoc """
  Writes JSON, so that neither a package nor OTP 27's `:json` is needed.

  Objects are keyword lists, whose order is kept, or maps with atom or binary keys, whose members are
  sorted: a map's own order is another in each OTP release. Binaries must be valid UTF-8. Lists of pairs `{atom, value}` are objects, `[]` is an empty array.
  """

  @type t :: nil | boolean | number | atom | binary | [t] | [{atom, t}] | %{(atom | binary) => t}

  @doc """
  The JSON text of `value`, on one line.

      iex> IO.iodata_to_binary(Plimsoll.JSON.encode(event: "done", ops: 3, seconds: 0.5))
      ~s({"event":"done","ops":3,"seconds":0.5})

      iex> IO.iodata_to_binary(Plimsoll.JSON.encode(["a\\"b\\n", nil, true, 1.0e300, %{"k" => []}]))
      ~S(["a\\"b\\n",null,true,1.0e300,{"k":[]}])

  Raises `ArgumentError` for what JSON cannot hold.
  """
  @spec encode(t) :: iodata
  def encode(nil), do: "null"
  def encode(value) when is_boolean(value), do: :erlang.atom_to_binary(value)
  def encode(value) when is_atom(value), do: encode(:erlang.atom_to_binary(value))
  def encode(value) when is_integer(value), do: :erlang.integer_to_binary(value)
  # Erlang floats are always finite, and their shortest form is a JSON number.
  def encode(value) when is_float(value), do: :erlang.float_to_binary(value, [:short])

  def encode(value) when is_binary(value) do
    [?", if(plain?(value), do: value, else: escape(value, [])), ?"]
  end

  def encode([{key, _} | _] = pairs) when is_atom(key), do: object(pairs)
  def encode(value) when is_list(value), do: [?[, separated(value, &encode/1), ?]]
  def encode(value) when is_map(value), do: object(:lists.sort(:maps.to_list(value)))
  def encode(_value), do: raise(ArgumentError, "JSON has no form for this value")

  defp object(pairs), do: [?{, separated(pairs, &member/1), ?}]

  defp member({key, value}) when is_atom(key) or is_binary(key) do
    key = if is_atom(key), do: :erlang.atom_to_binary(key), else: key
    [encode(key), ?:, encode(value)]
  end

  defp member(_other), do: raise(ArgumentError, "a member of a JSON object needs a name")

  defp separated([], _encode), do: []
  defp separated([first], encode), do: [encode.(first)]
  defp separated([first | rest], encode), do: [encode.(first), ?, | separated(rest, encode)]

  defp separated(_improper, _encode), do: raise(ArgumentError, "JSON has no improper lists")

  # Most text needs no escape, and is then not taken apart.
  defp plain?(<<>>), do: true
  defp plain?(<<c, rest::binary>>) when c in 0x20..0x7E and c not in [?", ?\\], do: plain?(rest)
  defp plain?(_other), do: false

  defp escape(<<>>, done), do: :lists.reverse(done)

  defp escape(<<char::utf8, rest::binary>>, done) do
    escape(rest, [character(char) | done])
  end

  defp escape(_bytes, _done), do: raise(ArgumentError, "JSON text must be valid UTF-8")

  defp character(?"), do: ~S(\")
  defp character(?\\), do: ~S(\\)
  defp character(?\n), do: ~S(\n)

  defp character(char) when char < 0x20 do
    [~S(\u00), if(char < 0x10, do: "0", else: "1"), :erlang.integer_to_binary(rem(char, 16), 16)]
  end

  defp character(char), do: <<char::utf8>>
end
