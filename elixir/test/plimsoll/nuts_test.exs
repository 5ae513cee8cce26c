defmodule Plimsoll.NutsTest do
  # Not async: it counts the chains in the library's memory.
  use ExUnit.Case, async: false

  import Plimsoll.Model
  alias Plimsoll.{Data, Models, Native, Nuts, Shared}

  @models ~w(m1 m2 m3 m4 m5)

  defp compiled(name) do
    {:ok, model} = Models.fetch(name)
    {:ok, program} = Nuts.compile(model, Shared.data(String.upcase(name)))
    program
  end

  defp position(dimension), do: for(_ <- 1..dimension, do: 2 * :rand.uniform() - 1)

  defp normal(x, mean, sd),
    do: -0.5 * ((x - mean) / sd) ** 2 - :math.log(sd * :math.sqrt(2 * :math.pi()))

  describe "the density" do
    test "of m1 is its formula" do
      :rand.seed(:exsss, 1)
      program = compiled("m1")
      y = Shared.data("M1")["y"]

      for _ <- 1..20 do
        [mu, log_sigma, log_mr, log_vol, theta, mu_mr, w1, w2] = u = position(8)
        scales = [{log_sigma, 1}, {log_mr, 1}, {log_vol, 2}]

        want =
          normal(mu, 0, 1) + normal(theta, 0, 1) + normal(mu_mr, 0, 0.5) + normal(w1, 0, 1) +
            normal(w2, 0, 1) +
            Enum.sum(
              for {log, sd} <- scales, do: normal(:math.exp(log), 0, sd) + :math.log(2) + log
            ) +
            Enum.sum(for y <- y, do: normal(y, mu, :math.exp(log_sigma)))

        {:ok, {got, _gradient}} = Nuts.density(program, u)
        assert_in_delta got, want, 1.0e-10 * abs(want)
      end
    end

    for name <- @models do
      test "of #{name} has the gradient of its finite differences" do
        :rand.seed(:exsss, 2)
        program = compiled(unquote(name))
        {_names, dimension} = Nuts.names(program)
        h = 1.0e-4

        for _ <- 1..3 do
          u = position(dimension)
          {:ok, {log, gradient}} = Nuts.density(program, u)

          for {slope, at} <- Enum.with_index(gradient) do
            [above, below] =
              for step <- [h, -h] do
                {:ok, {log, _}} = Nuts.density(program, List.update_at(u, at, &(&1 + step)))
                log
              end

            # Central differences: third derivatives times h², and rounding over h.
            assert_in_delta slope,
                            (above - below) / (2 * h),
                            1.0e-5 * (1 + abs(slope) + abs(log) / 100)
          end
        end
      end
    end

    test "is refused where it cannot be" do
      program = compiled("m1")

      assert {:error, "the position has 2 numbers, the model has 8" <> _} =
               Nuts.density(program, [0, 0])

      assert {:error, "the log density or its gradient is not finite" <> _} =
               Nuts.density(program, List.duplicate(1.0e300, 8))
    end
  end

  # Five standard errors of the two Monte-Carlo estimates together.
  defp agree(fit, reference) do
    for %{name: name} = got <- fit.parameters, want = reference[name] do
      assert_in_delta got.mean,
                      want["mean"],
                      5 * :math.sqrt(got.mcse_mean ** 2 + want["mcse_mean"] ** 2)

      assert_in_delta got.sd, want["sd"], 5 * :math.sqrt(got.mcse_sd ** 2 + want["mcse_sd"] ** 2)
      name
    end
  end

  describe "a fit" do
    for name <- ~w(m1 m2 m3 m4) do
      test "of #{name} agrees with the reference posterior" do
        upper = String.upcase(unquote(name))
        reference = Shared.bayes("reference.json")[upper]["params"]
        options = [seed: 11, chains: 4, warmup: 500, draws: 1000]
        {:ok, fit} = Nuts.sample(compiled(unquote(name)), options)
        assert length(agree(fit, reference)) >= 3
        refute Keyword.has_key?(fit.warnings, :not_mixed)
      end
    end

    test "of m1 has the same draws on either kind of scheduler, and others for another seed" do
      {:ok, model} = Models.fetch("m1")
      data = Shared.data("M1")
      options = [seed: 3, chains: 2, keep: true]
      {:ok, dirty} = Nuts.fit(model, data, [on: :dirty] ++ options)
      {:ok, stepping} = Nuts.fit(model, data, [on: :stepping] ++ options)
      assert dirty.kept == stepping.kept
      assert dirty.parameters == stepping.parameters
      assert [[first | _] = chain, other] = dirty.kept
      assert length(chain) == 500 and length(first) == 8
      refute chain == other
      {:ok, again} = Nuts.fit(model, data, Keyword.put(options, :seed, 4))
      refute again.kept == dirty.kept
      # What is summarised are these draws.
      mu = for [mu | _] <- Enum.concat(dirty.kept), do: mu
      assert_in_delta hd(dirty.parameters).mean, Enum.sum(mu) / 1000, 1.0e-12
    end

    test "of m5 says that its chains did not mix" do
      {:ok, fit} = Nuts.sample(compiled("m5"), seed: 1, chains: 4)
      assert "the chains did not mix: R-hat up to " <> _ = fit.warnings[:not_mixed]
      assert Enum.any?(fit.parameters, &(&1.rhat > 1.01))
    end

    test "without diagnostics has the same means and deviations" do
      program = compiled("m1")
      {:ok, full} = Nuts.sample(program, seed: 5, chains: 2)
      {:ok, short} = Nuts.sample(program, seed: 5, chains: 2, diagnostics: false)

      for {a, b} <- Enum.zip(full.parameters, short.parameters) do
        assert a.name == b.name
        assert_in_delta a.mean, b.mean, 1.0e-12
        assert_in_delta a.sd, b.sd, 1.0e-12
        assert b.rhat == nil and b.q50 == nil
      end

      assert {full.gradients, full.draws, full.chains} ==
               {short.gradients, short.draws, short.chains}
    end

    test "moves to a dirty scheduler when a draw takes more than a millisecond, and says so" do
      :rand.seed(:exsss, 3)
      rows = for _ <- 1..5_000, do: for(_ <- 1..20, do: :rand.normal())
      data = %{"X" => rows, "y" => for([x | _] <- rows, do: if(x > 0, do: 1, else: 0))}
      {:ok, program} = Nuts.compile(Models.m3(), data)
      options = [seed: 1, warmup: 20, draws: 10, keep: true]
      {:ok, stepping} = Nuts.sample(program, [on: :stepping] ++ options)
      assert %{chain: 1, draw: draw, microseconds: long, words: words} = stepping.moved
      assert draw in 1..30 and long > 1000
      assert words =~ "the rest was sampled on dirty schedulers"
      {:ok, dirty} = Nuts.sample(program, [on: :dirty] ++ options)
      assert dirty.moved == nil
      assert dirty.kept == stepping.kept
    end

    test "is refused with a sentence" do
      good = %{"y" => [1.0, 2.0]}

      unknown =
        model "unknown" do
          param(a)
          a ~> normal(0, b)
        end

      for {model, data, options, why} <- [
            {Models.m1(), %{}, [], "the data `y` is missing; give it an array"},
            {unknown, %{}, [], "`b` is not defined"},
            {Models.m2(), %{y: [1, 2, 3], sigma: [1, 2]}, [], "statement"},
            {%{Models.m1() | statements: [%{}]}, good, [], "this is not a model: "},
            {%{Models.m1() | name: <<255>>}, good, [], "this is not a model: "},
            {Models.m1(), %{"y" => [nil]}, [], "the data `y`: element 1 is nil"},
            {Models.m1(), good, [draws: 3], "draws is 3: use a whole number from 4"},
            {Models.m1(), good, [draws: 16_777_215, warmup: 0], "more than 67108864 numbers"},
            {Models.m1(), good, [on: :fast], "on is :fast: use :dirty or :stepping"},
            {Models.m1(), good, [target_accept: 1.5], "target_accept must lie between 0 and 1"},
            {Models.m1(), good, [chain: 2], "there is no option :chain: there are seed, warmup"},
            {Models.m1(), good, :quickly, "the options are no keyword list"}
          ] do
        assert {:error, sentence} = Nuts.fit(model, data, options)
        assert sentence =~ why
      end

      assert {:error, "this is not a model: " <> _} = Native.nuts_compile("{", [])

      assert {:error, "this is not a model: " <> _} =
               Native.nuts_compile(String.duplicate("[", 1_000), [])

      assert {:error, "the model is 2000000 bytes" <> _} =
               Native.nuts_compile(String.duplicate(" ", 2_000_000), [])

      assert {:error, _} =
               Native.nuts_compile(IO.iodata_to_binary(json(Models.m1())), [{"y", [3], <<0::64>>}])
    end
  end

  describe "a chain" do
    setup do
      {:ok, program} = Nuts.compile(Models.m1(), Data.by_seed("m1", 1, 200))
      {:ok, program: program}
    end

    defp await_no_chain(tries \\ 500) do
      :erlang.garbage_collect()

      case Native.nuts_live() do
        0 -> :ok
        live when tries == 0 -> flunk("#{live} chains are left behind")
        _some -> Process.sleep(10) && await_no_chain(tries - 1)
      end
    end

    for on <- [:dirty, :stepping] do
      test "is not left behind when its process is killed while #{on}", %{program: program} do
        await_no_chain()
        # Minutes of work.
        options = [on: unquote(on), warmup: 1_000_000, draws: 5_000_000]
        pid = spawn(fn -> Nuts.sample(program, options) end)
        until(fn -> Native.nuts_live() == 1 end)
        Process.sleep(20)
        assert Process.alive?(pid)
        Process.exit(pid, :kill)
        until(fn -> not Process.alive?(pid) end)
        await_no_chain()
      end
    end

    test "that is complete, summarised or of another process is refused", %{program: program} do
      settings = %{seed: 1, chain: 0, warmup: 10, draws: 10, target_accept: 0.8, max_depth: 10}
      {:ok, {chain, :more}} = Native.nuts_chain(program, settings, false)
      assert {:error, "the chain is not complete" <> _} = Native.nuts_draws(chain)
      assert {:error, "a chain is not complete" <> _} = Native.nuts_fit([chain], true)
      for _ <- 1..19, do: assert({:ok, {:more, _}} = Native.nuts_step(chain))
      assert {:ok, {:done, _}} = Native.nuts_step(chain)
      assert {:error, "the chain is complete" <> _} = Native.nuts_step(chain)
      assert {:error, "the chain is complete" <> _} = Native.nuts_sample(chain)
      assert {:ok, draws} = Native.nuts_draws(chain)
      assert byte_size(draws) == 10 * 8 * 8
      # The same one twice: its draws can be taken once.
      assert {:error, "a chain is not complete, or was summarised" <> _} =
               Native.nuts_fit([chain, chain], true)

      assert {:error, "the chain has failed or was summarised" <> _} = Native.nuts_step(chain)
      assert {:error, "there is no chain" <> _} = Native.nuts_fit([], true)

      # Two at one chain: each is told of the other, and the chain comes to its end.
      {:ok, {shared, :more}} =
        Native.nuts_chain(program, %{settings | warmup: 500, draws: 50_000}, false)

      task = Task.async(fn -> sample_to_the_end(shared) end)
      steps = Stream.repeatedly(fn -> Native.nuts_step(shared) end)

      assert {:error, "another process is at work" <> _} =
               Enum.find(steps, &match?({:error, _}, &1))

      assert Task.await(task, 30_000) == :done
      assert {:ok, draws} = Native.nuts_draws(shared)
      assert byte_size(draws) == 50_000 * 8 * 8
    end
  end

  defp sample_to_the_end(chain) do
    case Native.nuts_sample(chain) do
      {:ok, :done} -> :done
      {:ok, :more} -> sample_to_the_end(chain)
      {:error, "another process is at work" <> _} -> sample_to_the_end(chain)
    end
  end

  defp until(true?, tries \\ 1000) do
    cond do
      true?.() -> :ok
      tries == 0 -> flunk("it did not happen in ten seconds")
      true -> Process.sleep(10) && until(true?, tries - 1)
    end
  end
end
