defmodule Plimsoll.Workload.RegistryTest do
  use ExUnit.Case, async: true

  alias Plimsoll.Workload.Registry

  doctest Registry

  test "every workload is found by its name, and no two share one" do
    for module <- Registry.all(), do: assert(Registry.fetch(module.name()) == {:ok, module})
  end

  test "names, units and summaries are those that the command line knows" do
    source = File.read!(Path.expand("../../../../crates/workload/src/builtin.rs", __DIR__))

    for module <- Registry.all(), text <- [module.name(), module.unit(), module.summary()] do
      assert source =~ ~s("#{text}"), "#{inspect(text)} is not in crates/workload/src/builtin.rs"
    end
  end
end
