defmodule Plimsoll.DataTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Data

  doctest Data

  defp file(text) do
    path = Path.join(System.tmp_dir!(), "plimsoll-#{System.unique_integer([:positive])}.csv")
    File.write!(path, text)
    on_exit(fn -> File.rm(path) end)
    path
  end

  test "columns become vectors and matrices" do
    path =
      file(
        "\uFEFFdate,y, x1 ,\"x, 2\"\r\n2024-01-01,1,-2.5,3e2\r\n\r\n2024-01-02,\"4\",5.,.5\r\n"
      )

    assert {:error, message} = Data.csv(path, ["y", "x, 2"])
    assert message == ~s(#{path}, line 4: column "x, 2": ".5" is no number, or too large for one)

    path = file("date,y, x1 ,\"x, 2\"\r\n2024-01-01,1,-2.5,3e2\r\n\r\n2024-01-02,\"4\",5,0.5\n")

    assert Data.csv(path, ["y", {:z, "x1"}, {"X", ["x, 2", "x1"]}]) ==
             {:ok, %{"y" => [1.0, 4.0], :z => [-2.5, 5.0], "X" => [[300.0, -2.5], [0.5, 5.0]]}}
  end

  test "what is wrong is named by file, line and column" do
    for {text, columns, why} <- [
          {"y\n1\nNA\n", ["y"],
           ~s(, line 3: column "y": "NA" is no number, or too large for one)},
          {"y\n1\n\n1e999\n", ["y"],
           ~s(, line 4: column "y": "1e999" is no number, or too large for one)},
          {"y,x\n1,2\n3\n", ["y"], ", line 3: there are 1 fields under 2 headings"},
          {"y,x\n1,2\n", ["z"], ~s(, line 1: there is no column "z", only "y", "x")},
          {"y,y\n1,2\n", ["y"], ~s(, line 1: the heading "y" stands there more than once)},
          {"y\n\"1\n", ["y"], ", line 2: a quote is opened and not closed"},
          {"", ["y"], " is empty: its first line names the columns"},
          {"y\n", ["y"], " has no line below its headings"}
        ] do
      path = file(text)
      assert Data.csv(path, columns) == {:error, path <> why}
    end

    assert {:error, "/nowhere/y.csv cannot be read: no such file or directory"} =
             Data.csv("/nowhere/y.csv", ["y"])
  end

  test "series by seed have the moments of their model" do
    for {model, mean, variance} <- [
          {"m1", 0.1, 0.81},
          # Weights times means, and weights times (variance + squared mean) less the squared mean.
          {"m5", 0.09, 0.5 * (0.09 + 0.09) + 0.3 * (0.04 + 0.04) + 0.2 - 0.0081}
        ] do
      n = 100_000
      %{"y" => y} = Data.by_seed(model, 5, n)
      average = Enum.sum(y) / n
      spread = Enum.sum(for x <- y, do: (x - average) ** 2) / n
      assert_in_delta average, mean, 5 * :math.sqrt(variance / n)
      # The kurtosis of these is at most about 8: sd of the variance ≤ variance·√(7/n).
      assert_in_delta spread, variance, 5 * variance * :math.sqrt(7 / n)
      refute y == Data.by_seed(model, 6, n)["y"]
    end
  end

  test "arrays keep shape and order; what is no number is named" do
    assert {:ok, [{"X", [2, 3], bytes}]} = Data.arrays(%{X: [[1, 2, 3], [4, 5, 6]]})
    assert for(<<x::float-native <- bytes>>, do: x) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

    for {value, why} <- [
          {"text", ~s("text" is no number or list)},
          {[[1], 2], "row 2 has no list, row 1 has 1"},
          {[1, "2"], ~s(element 2 is "2", not a number)},
          {[2 ** 2000], "element 1 is #{2 ** 2000}, not a number"},
          {[[1], ["a"]], ~s(element 2 is "a", not a number)}
        ] do
      assert Data.arrays(%{x: value}) == {:error, "the data `x`: " <> why}
    end

    assert {:error, "the data are no map" <> _} = Data.arrays([1, 2])
  end
end
