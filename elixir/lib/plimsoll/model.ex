defmodule Plimsoll.Model do
  @moduledoc """
  Probability models that read like the mathematics and are data.

      import Plimsoll.Model

      model "eight schools, non-centred" do
        data y, sigma
        param mu
        param tau in positive
        param z[rows(y)]

        mu ~> normal(0, 5)
        tau ~> half_cauchy(5)
        z ~> normal(0, 1)

        theta = mu + tau * z
        y ~> normal(theta, sigma)
      end

  The result is a `Plimsoll.Model` of plain lists and maps, nothing hidden: it can be inspected,
  compared, changed and stored. `Plimsoll.Nuts.fit/3` samples it. `json/1` is the form in which the
  native engine (`crates/bayes`) reads it.

  ## What stands in a model
  - `data y, sigma` names the data, whose shapes come with them.
  - `param mu` is an unknown number; `param z[10]`, `param z[rows(y)]` and `param b[columns(x)]` are
    vectors, as long as written or as the data. `in` gives the support: `real` (as if it were left
    out), `positive`, `above(a)`, `below(b)`, `interval(a, b)`, and for vectors `ordered`.
  - `theta = mu + tau * z` defines. Numbers and vectors of one length mix element by element. There
    are `+ - * / **` and
    #{Enum.map_join(~w(exp log log1p sqrt square tanh inv_logit logit log1p_exp sum dot matvec concat log_softmax softmax cumulative_sum ar1 stationary_ar1), ", ", &"`#{&1}`")}
    (as `Operation` in `crates/bayes` defines them), and `effect[group]`, elements of a vector by
    positions from 0 that are data. `keep(theta = …)` reports `theta` with every draw.
  - `y ~> normal(theta, sigma)` says that every element of `y` is so distributed. Families:
    `normal(mean, scale)`, `half_normal(scale)`, `log_normal(mean, scale)`, `cauchy(location,
    scale)`, `half_cauchy(scale)`, `student_t(degrees, location, scale)`, `laplace(location,
    scale)`, `logistic(location, scale)`, `uniform(low, high)`, `exponential(rate)`, `gamma(shape,
    rate)`, `inverse_gamma(shape, scale)`, `beta(a, b)`, `bernoulli_logit(logit)`,
    `poisson_log(log_rate)`. Arguments may be expressions.
  - `y ~> mixture(log_weights, [normal(a, b), normal(c, d)])` is a mixture.
  - `term(expression)` adds to the log density as it is.
  - `^x` is the number that the Elixir expression `x` has when the model is built.

  An expression inside another one becomes a definition of its own (`theta/1`, `theta/2`, …), as the
  engine's definitions are single operations.

  Precedence is Elixir's: `-x ** 2` is `(-x) ** 2`. The base of `**` must be positive: write
  `-square(x)`.

  The order of the lines matters only where a name must be defined above its use. What the form
  cannot know, such as shapes, the engine checks when it meets the data.
  """

  alias Plimsoll.JSON
  alias Plimsoll.Model.Reader

  @enforce_keys [:name, :data, :parameters, :definitions, :statements]
  defstruct @enforce_keys

  @typedoc "The name of something in the model, or a number."
  @type argument :: String.t() | number

  @typedoc """
  The lists hold maps with the members that the engine reads (`crates/bayes/src/model.rs`), such as
  `%{name: "theta", op: :add, args: ["mu", "spread"]}`.
  """
  @type t :: %__MODULE__{
          name: String.t(),
          data: [String.t()],
          parameters: [map],
          definitions: [map],
          statements: [map]
        }

  @doc """
  The model called `name` that the lines of the block describe; see the module's documentation.

      iex> import Plimsoll.Model
      iex> scale = 2.5
      iex> coin = model "a coin" do
      ...>   data y
      ...>   param a
      ...>   a ~> normal(0, ^scale)
      ...>   y ~> bernoulli_logit(a)
      ...> end
      iex> coin.parameters
      [%{name: "a"}]
      iex> hd(coin.statements)
      %{kind: :distribution, value: "a", family: :normal, args: [0, 2.5]}

  Raises `CompileError` for a line that is none of these.
  """
  defmacro model(name, do: block) do
    lists = Reader.read(block, __CALLER__)

    quote do
      struct!(
        Plimsoll.Model,
        Map.put(unquote(Macro.escape(lists, unquote: true)), :name, unquote(name))
      )
    end
  end

  @doc false
  # What `^x` may be.
  @spec number!(term) :: number
  def number!(x) when is_number(x), do: x

  def number!(x) do
    raise ArgumentError, "^ in a model stands before a number, and this is #{inspect(x)}"
  end

  @doc """
  The model as the engine reads it.

      iex> import Plimsoll.Model
      iex> IO.iodata_to_binary(json(model "m" do
      ...>   param x in interval(0, 1)
      ...>   x ~> beta(2, 3)
      ...> end))
      ~S({"name":"m","data":[],"parameters":[{"name":"x","support":{"interval":[0,1]}}],) <>
        ~S("definitions":[],"statements":[{"args":[2,3],"family":"beta","kind":"distribution","value":"x"}]})
  """
  @spec json(t) :: iodata
  def json(%__MODULE__{} = model) do
    JSON.encode(
      name: model.name,
      data: model.data,
      parameters: model.parameters,
      definitions: model.definitions,
      statements: model.statements
    )
  end
end
