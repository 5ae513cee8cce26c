defmodule Plimsoll.LevenshteinTest do
  use ExUnit.Case, async: false

  alias Plimsoll.Levenshtein
  alias Plimsoll.Native

  doctest Levenshtein

  @native [:yielding, :dirty, :automatic, :blocking]
  @all [:erlang | @native]

  setup do
    # The same strings every time.
    :rand.seed(:exsss, {1, 2, 3})
    :ok
  end

  defp bytes(longest, alphabet),
    do: for(_ <- 1..:rand.uniform(longest)//1, into: <<>>, do: <<:rand.uniform(alphabet) - 1>>)

  @points [?a, ?b, ?ß, ?€, 0x1F600, 0x10FFFF]
  defp text(longest),
    do: for(_ <- 1..:rand.uniform(longest)//1, into: "", do: <<Enum.random(@points)::utf8>>)

  defp edited(original) do
    Enum.reduce(1..:rand.uniform(8), original, fn _, bytes ->
      place = :rand.uniform(byte_size(bytes) + 1) - 1
      <<head::binary-size(place), tail::binary>> = bytes

      case {:rand.uniform(3), tail} do
        {1, <<_, rest::binary>>} -> head <> rest
        {2, <<_, rest::binary>>} -> head <> <<:rand.uniform(256) - 1>> <> rest
        _ -> head <> <<:rand.uniform(256) - 1>> <> tail
      end
    end)
  end

  defp same(results), do: assert([_one] = Enum.uniq(results))

  test "every way to run gives the same distance and similarity of bytes" do
    for longest <- [3, 70, 400], alphabet <- [2, 256], other? <- [true, false], _ <- 1..5 do
      a = bytes(longest, alphabet)
      b = if other?, do: bytes(longest, alphabet), else: edited(a)
      exact = Levenshtein.distance(a, b, run: :erlang)
      for run <- @all, do: assert(Levenshtein.distance(a, b, run: run) == exact)
      same(for run <- @all, do: Levenshtein.similarity(a, b, run: run))

      for max <- [exact - 1, exact, exact + 1, 0], max >= 0 do
        same(for run <- @all, do: Levenshtein.distance(a, b, run: run, max: max))
      end

      for min <- [0.0, 0.5, 1.0, Levenshtein.similarity(a, b)] do
        same(for run <- @all, do: Levenshtein.similarity(a, b, run: run, min: min))
      end
    end
  end

  test "every way to run gives the same distance of code points" do
    for longest <- [3, 70, 300], _ <- 1..8 do
      {a, b} = {text(longest), text(longest)}
      same(for run <- @all, do: Levenshtein.distance(a, b, run: run, unit: :code_points))
      same(for run <- @all, do: Levenshtein.similarity(a, b, run: run, unit: :code_points))
    end
  end

  test "strings long enough for many slices" do
    a = :rand.bytes(30_000)
    b = :rand.bytes(29_000)
    same(for run <- @native, do: Levenshtein.distance(a, b, run: run))
    c = edited(a)
    same(for run <- @native, max <- [9, 90], do: Levenshtein.distance(a, c, run: run, max: max))
    assert Native.timeslice_live() == 0
  end

  test "one to many is each pair" do
    for query <- ["", bytes(60, 4), bytes(300, 4), :rand.bytes(70_000)] do
      candidates = ["", query, edited(query <> "x") | for(_ <- 1..20, do: bytes(200, 4))]
      exact = for candidate <- candidates, do: Levenshtein.distance(query, candidate)

      for run <- @native do
        assert Levenshtein.distances(query, candidates, run: run) == exact
        limited = Levenshtein.distances(query, candidates, run: run, max: 20)
        assert limited == for(distance <- exact, do: if(distance <= 20, do: distance))
      end
    end

    texts = for _ <- 1..30, do: text(50)
    by = &Levenshtein.distances(hd(texts), texts, unit: :code_points, run: &1)
    same(Enum.map(@all, by))
  end

  test "more candidates than one call takes" do
    candidates = for i <- 1..2500, do: Integer.to_string(i)
    distances = Levenshtein.distances("1234", candidates)
    assert length(distances) == 2500
    assert Enum.at(distances, 1233) == 0
    assert Levenshtein.nearest("99x9", candidates, max: 0) == nil
    assert Levenshtein.nearest("24x7", candidates) == {"247", 1}
    assert Levenshtein.distances("1", []) == []
  end

  test "the full matrix agrees" do
    {a, b} = {bytes(2000, 20), bytes(2000, 20)}
    exact = Levenshtein.distance(a, b)
    for run <- @native, do: assert(Native.levenshtein_matrix(run, a, b) == exact)
  end

  test "what is not UTF-8 is refused alike" do
    for run <- @all, {a, b} <- [{"ab\xff", "b"}, {String.duplicate("é", 5000) <> "\xc3", "b"}] do
      error = fn -> Levenshtein.distance(a, b, run: run, unit: :code_points) end
      at = byte_size(a) - 1
      assert_raise ArgumentError, ~r/first string is not UTF-8 at byte #{at}/, error
    end

    error = fn -> Levenshtein.distances("a", ["\xff"], unit: :code_points) end
    assert_raise ArgumentError, ~r/candidate string is not UTF-8/, error
  end

  test "options that make no sense are named" do
    for option <- [max: -1, max: 1.0, min: 2, unit: :graphemes, run: :fast, fast: true] do
      error = fn -> Levenshtein.distance("a", "b", [option]) end
      assert_raise ArgumentError, ~r/#{Regex.escape(inspect(option))}/, error
    end

    assert_raise ArgumentError, fn -> Levenshtein.distance("a", "b", max: 1, min: 0.5) end
    assert_raise ArgumentError, fn -> Levenshtein.distances("a", ["b", :c]) end
    assert Levenshtein.distance("a", "b", max: 1_000_000_000_000_000_000_000) == 1
  end

  test "strings that are too long are refused" do
    huge = :binary.copy(<<0>>, 64 * 1024 * 1024 + 1)
    assert_raise ArgumentError, ~r/longer than/, fn -> Levenshtein.distance(huge, "abc") end
    assert_raise ArgumentError, ~r/longer than/, fn -> Levenshtein.distances("a", [huge]) end
  end

  test "ten thousand killed callers leave nothing behind" do
    a = :rand.bytes(300_000)
    b = :rand.bytes(300_000)
    # Once round, so that allocators and tables have their size.
    kill(100, a, b)
    gone()
    :erlang.garbage_collect()
    before = resident()

    kill(10_000, a, b)
    gone()
    :erlang.garbage_collect()
    # Each state has 300 kB and more: a hundredth of them would be 30 MB.
    assert resident() - before < 30_000_000
  end

  defp kill(number, a, b) do
    for i <- 1..number do
      run = Enum.at([:yielding, :dirty, :automatic], rem(i, 3))
      {pid, monitor} = spawn_monitor(fn -> Levenshtein.distance(a, b, run: run) end)
      # A third of them before they begin, the others in the middle.
      if rem(i, 3) != 1, do: started()
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, _, _, :killed}, 5000
    end
  end

  defp started do
    if Native.timeslice_live() == 0 do
      :erlang.yield()
      started()
    end
  end

  defp gone do
    if Native.timeslice_live() > 0 do
      :erlang.yield()
      gone()
    end
  end

  defp resident do
    [_, pages | _] = String.split(File.read!("/proc/self/statm"))
    4096 * String.to_integer(pages)
  end
end
