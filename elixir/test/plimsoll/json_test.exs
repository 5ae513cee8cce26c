defmodule Plimsoll.JSONTest do
  use ExUnit.Case, async: true

  doctest Plimsoll.JSON

  defp text(value), do: IO.iodata_to_binary(Plimsoll.JSON.encode(value))

  # RFC 8259, section 6.
  defp number, do: ~r/\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z/

  test "every float is a JSON number that reads back as itself" do
    :rand.seed(:exsss, {1, 2, 3})

    random =
      for _ <- 1..5_000,
          <<float::float>> <- [<<:rand.uniform(0x10000000000000000) - 1::64>>],
          do: float

    # Most bit patterns are floats; were they all filtered out, nothing would be tested.
    assert length(random) > 4_000
    edges = [0.0, 1.0, -1.5, 0.1, 1.0e22, 1.0e-7, 5.0e-324, 1.7976931348623157e308, 1.0e15]

    for float <- edges ++ random do
      json = text(float)
      assert json =~ number()
      assert {^float, ""} = Float.parse(json)
    end
  end

  test "integers of any size are written in full" do
    assert text(-12) == "-12"
    assert text(1_000_000_000_000_000_000_000) == "1000000000000000000000"
  end

  test "every ASCII character is escaped as RFC 8259 asks" do
    for char <- 0..127 do
      [_, inside] = Regex.run(~r/\A"(.*)"\z/s, text(<<char>>))

      cond do
        char == ?" ->
          assert inside == ~S(\")

        char == ?\\ ->
          assert inside == ~S(\\)

        char == ?\n ->
          assert inside == ~S(\n)

        char < 32 ->
          assert inside == "\\u" <> String.pad_leading(Integer.to_string(char, 16), 4, "0")

        true ->
          assert inside == <<char>>
      end
    end

    assert text("é€😀") == ~s("é€😀")
  end

  test "the order of an object's members is kept" do
    assert text(b: 1, a: [c: nil]) == ~s({"b":1,"a":{"c":null}})
  end

  test "what JSON cannot hold is refused" do
    for value <- [{1}, <<255>>, self(), %{1 => 2}, [:a | :b]] do
      assert_raise ArgumentError, fn -> text(value) end
    end
  end
end
