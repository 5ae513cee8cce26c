defmodule Plimsoll.Workload.EtsCounterTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.EtsCounter

  test "a job updates the table as often as it says" do
    {:ok, table} = EtsCounter.setup(nil)
    state = EtsCounter.start(table, 1)
    {first, state} = EtsCounter.job(state)
    {second, _state} = EtsCounter.job(state)
    counts = for {_key, count} <- :ets.tab2list(table), do: count
    assert Enum.sum(counts) == first + second
    assert length(counts) > 1 and Enum.all?(counts, &(&1 > 0))
    EtsCounter.cleanup(table)
    assert :ets.info(table) == :undefined
  end
end
