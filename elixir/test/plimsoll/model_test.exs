defmodule Plimsoll.ModelTest do
  use ExUnit.Case, async: true

  import Plimsoll.Model
  alias Plimsoll.{Models, Native, Shared}

  doctest Plimsoll.Model

  # As the engine understands it, defaults written out.
  defp understood(json), do: Native.nuts_model(IO.iodata_to_binary(json))

  for name <- ~w(m1 m2 m3 m4 m5) do
    test "#{name} is the model that the engine's own tests use" do
      {:ok, model} = Models.fetch(unquote(name))
      {:ok, want} = understood(Shared.checkout("crates/bayes/models/#{unquote(name)}.json"))
      assert understood(json(model)) == {:ok, want}
    end
  end

  test "models that differ are told apart by that comparison" do
    other = %{Models.m1() | statements: tl(Models.m1().statements)}
    refute understood(json(other)) == understood(json(Models.m1()))
  end

  test "an expression inside another becomes a definition of its own" do
    nested =
      model "nested" do
        data(y, sigma)
        param(mu)
        param(tau in positive)
        param(z[rows(y)])
        y ~> normal(mu + tau * z, sigma)
        theta = -((mu - 1) ** 2) / exp(tau)
        term(theta * 2)
      end

    assert nested.definitions == [
             %{name: "y/1", op: :mul, args: ["tau", "z"]},
             %{name: "y/2", op: :add, args: ["mu", "y/1"]},
             %{name: "theta/1", op: :sub, args: ["mu", 1]},
             %{name: "theta/2", op: :pow, args: ["theta/1", 2]},
             %{name: "theta/3", op: :neg, args: ["theta/2"]},
             %{name: "theta/4", op: :exp, args: ["tau"]},
             %{name: "theta", op: :div, args: ["theta/3", "theta/4"]},
             %{name: "term/1", op: :mul, args: ["theta", 2]}
           ]

    assert [%{args: ["y/2", "sigma"]}, %{kind: :term, value: "term/1"}] = nested.statements
    assert {:ok, _json} = understood(json(nested))
  end

  test "every support, size, operation and family is one that the engine knows" do
    size = 3

    everything =
      model "everything" do
        data(x, X, group)
        param(a in above(1))
        param(b in below(-0.5))
        param(c in interval(-1, ^(size * 2)))
        param(d in real)
        param(e[4] in ordered)
        param(f[^size])
        param(g[columns(X)])

        keep(h = a + b - c * d / 2 ** a)
        i = exp(a) + log(a) + log1p(a) + sqrt(a) + square(a) + tanh(a)
        j = inv_logit(d) + logit(0.5) + log1p_exp(d) + sum(e) + dot(f, f)
        k = matvec(X, g)
        l = concat(a, f, 0)
        m = log_softmax(l)
        n = softmax(l)
        o = cumulative_sum(f)
        p = ar1(c, f)
        q = stationary_ar1(c, f)
        r = f[group]
        s = index(f, group)

        a ~> normal(0, 1)
        a ~> half_normal(1)
        a ~> log_normal(0, 1)
        a ~> cauchy(0, 1)
        a ~> half_cauchy(1)
        a ~> student_t(4, 0, 1)
        a ~> laplace(0, 1)
        a ~> logistic(0, 1)
        a ~> uniform(0, 9)
        a ~> exponential(1)
        a ~> gamma(1, 1)
        a ~> inverse_gamma(1, 1)
        c ~> beta(2, 2)
        x ~> bernoulli_logit(d)
        x ~> poisson_log(d)
        x ~> mixture(m, [normal(0, 1), cauchy(0, 1)])
      end

    assert {:ok, text} = understood(json(everything))
    assert text =~ ~s({"name":"c","shape":[],"support":{"interval":[-1.0,6.0]}})
    assert text =~ ~s({"name":"f","shape":[3],"support":"real"})
    assert text =~ ~s("name":"h","op":"sub")
    assert %{keep: true} = Enum.find(everything.definitions, &(&1.name == "h"))
    assert Enum.find(everything.definitions, &(&1.name == "r")).op == :index
  end

  # The line of the error and its sentence.
  defp refused(text) do
    code = "import Plimsoll.Model\nmodel \"bad\" do\n  #{text}\nend"

    Exception.message(
      assert_raise CompileError, fn -> Code.eval_string(code, [], file: "bad.exs") end
    )
  end

  test "what is no model is refused at compile time, by file, line and words" do
    assert refused("mu ~> normel(0, 1)") =~
             ~r/bad.exs:3: .*`normel\(0, 1\)` is no distribution: use mixture, normal/

    assert refused("x = sine(y)") =~
             ~r/bad.exs:3: .*`sine\(y\)` is no name, number or operation: put \^/

    assert refused("param x in positiv") =~ "`positiv` is no support"
    assert refused("param x[y]") =~ "`y` is no length"
    assert refused("mu = 1\n  mu + 1") =~ ~r/bad.exs:4: .*`mu \+ 1` is none of/
    assert refused("data 1") =~ "`1` is no name"
  end

  test "only a number may stand behind a ^" do
    assert_raise ArgumentError, ~r/this is "one"/, fn ->
      scale = "one"

      model "m" do
        param(x)
        x ~> normal(0, ^scale)
      end
    end
  end
end
