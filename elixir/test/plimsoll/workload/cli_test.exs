defmodule Plimsoll.Workload.CLITest do
  use ExUnit.Case, async: true

  alias Plimsoll.TestVM
  alias Plimsoll.Workload.{CLI, Registry}

  @env %{"PLIMSOLL_LEVEL" => "2", "PLIMSOLL_SECONDS" => "0.05", "PLIMSOLL_SEED" => "3"}

  defp run(words, env) do
    test = self()
    say = fn kind -> fn text -> send(test, {kind, IO.iodata_to_binary(text)}) end end
    {CLI.run(words, &Map.get(env, &1), say.(:out), say.(:err)), said(:out), said(:err)}
  end

  defp said(kind) do
    receive do
      {^kind, text} -> [text | said(kind)]
    after
      0 -> []
    end
  end

  test "an unknown workload lists those there are" do
    assert {2, [], [message]} = run(["sipn"], @env)
    assert message =~ ~s("sipn")
    for module <- Registry.all(), do: assert(message =~ module.name())
    assert {2, [], [_message]} = run([], @env)
    assert {2, [], [_message]} = run(["spin", "spin"], @env)
  end

  test "bad environment is refused by name before anything runs" do
    assert {2, [], ["plimsoll: PLIMSOLL_LEVEL is \"0\"" <> _]} =
             run(["spin"], %{@env | "PLIMSOLL_LEVEL" => "0"})

    assert {2, [], ["plimsoll: PLIMSOLL_SECONDS is \"soon\"" <> _]} =
             run(["spin"], %{@env | "PLIMSOLL_SECONDS" => "soon"})
  end

  for module <- Registry.all() do
    test "#{module.name()} speaks the protocol in a VM of plain erl" do
      {output, 0} = TestVM.run([unquote(module.name())], @env)
      lines = String.split(output, "\n", trim: true)
      {samples, [done]} = Enum.split(lines, -1)
      number = "[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?"
      sample = ~r/\A\{"plimsoll":1,"event":"sample","ops":[0-9]+,"seconds":#{number}\}\z/
      assert samples != []
      for line <- samples, do: assert(line =~ sample)
      assert done =~ ~r/\A\{"plimsoll":1,"event":"done","ops":[0-9]+,"seconds":#{number},/
      assert done =~ ~s("unit":"#{unquote(module).unit()}","level":2)
    end
  end

  for module <- Registry.all() do
    # To load a module among busy processes takes so long that the window would not end in time.
    test "#{module.name()} loads no code during the window" do
      code = """
      Get = fun(<<"PLIMSOLL_LEVEL">>) -> <<"2">>;
               (<<"PLIMSOLL_SECONDS">>) -> <<"0.05">>;
               (_) -> nil
            end,
      Print = fun(Text) ->
                'Elixir.IO':write(Text),
                put(loaded, [lists:sort([M || {M, _} <- code:all_loaded()]) | get(loaded)])
              end,
      put(loaded, []),
      0 = 'Elixir.Plimsoll.Workload.CLI':run([<<"#{unquote(module.name())}">>], Get, Print, Print),
      [Done | Earlier] = get(loaded),
      [_Rehearsal, FirstSample | _] = lists:reverse(Earlier),
      io:format("loaded ~p", [Done -- FirstSample]),
      halt(0).
      """

      {output, 0} = TestVM.erl(["-eval", code], %{})
      assert output =~ ~r/loaded \[\]\z/
    end
  end

  test "bad environment gives exit code 2 and its message in a VM of plain erl" do
    assert {"plimsoll: PLIMSOLL_LEVEL is \"none\": " <> _, 2} =
             TestVM.run(["spin"], %{@env | "PLIMSOLL_LEVEL" => "none"})
  end
end
