defmodule Plimsoll.NativeTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Native
  alias Plimsoll.Workload.Spin

  @last 0xFFFFFFFF

  test "the native spin equals the Elixir one bit for bit" do
    :rand.seed(:exsss, {4, 5, 6})
    random = for _ <- 1..300, do: {:rand.uniform(@last), :rand.uniform(2_000) - 1}

    for {state, steps} <- [{1, 0}, {1, 1}, {@last, 1}, {0x80000000, 10_000} | random] do
      assert Native.spin(state, steps) == Spin.spin(state, steps)
    end
  end

  test "what is out of bounds is refused" do
    for {state, steps} <- [{0, 1}, {@last + 1, 1}, {-1, 1}, {1, -1}, {1, 100_000_001}, {1.0, 1}] do
      assert_raise ArgumentError, fn -> Native.spin(state, steps) end
    end
  end

  test "a panic in the library is an exception and the VM goes on" do
    # In a VM of its own, because the panic is also printed.
    code = """
    {'EXIT', {nif_panicked, _}} = (catch 'Elixir.Plimsoll.Native':panic_for_test()),
    270369 = 'Elixir.Plimsoll.Native':spin(1, 1),
    io:put_chars("went on"),
    halt(0).
    """

    {output, 0} = Plimsoll.TestVM.erl(["-eval", code], %{})
    assert output =~ "asked for by a test"
    assert output =~ ~r/went on\z/
  end

  test "a missing library is named with the command that builds it" do
    # A VM that has the code but no `priv` beside it.
    directory =
      Path.join(System.tmp_dir!(), "plimsoll-native-#{System.unique_integer([:positive])}")

    on_exit(fn -> File.rm_rf!(directory) end)
    ebin = Path.join(directory, "ebin")
    File.mkdir_p!(directory)
    File.cp_r!(Plimsoll.TestVM.ebin(), ebin)

    {output, code} =
      Plimsoll.TestVM.run(ebin, ["nif-spin"], %{
        "PLIMSOLL_LEVEL" => "1",
        "PLIMSOLL_SECONDS" => "1"
      })

    assert code == 3
    assert output =~ "./x setup"
    assert output =~ "plimsoll_nif"
    refute output =~ "event"
  end
end
