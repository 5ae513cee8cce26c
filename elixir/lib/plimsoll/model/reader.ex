defmodule Plimsoll.Model.Reader do
  @moduledoc """
  From the lines of `Plimsoll.Model.model/2`, as Elixir's syntax tree, to the lists of a model.
  """

  @families ~w(normal half_normal log_normal cauchy half_cauchy student_t laplace logistic uniform
               exponential gamma inverse_gamma beta bernoulli_logit poisson_log)a
  @functions ~w(exp log log1p sqrt square tanh inv_logit logit log1p_exp sum dot matvec concat index
                log_softmax softmax cumulative_sum ar1 stationary_ar1)a
  @operators %{+: :add, -: :sub, *: :mul, /: :div, **: :pow}
  @empty %{data: [], parameters: [], definitions: [], statements: []}

  @doc """
  The lists `data`, `parameters`, `definitions` and `statements`; a `^x` in them is `{:unquote, _, _}`
  around `x`, as `Macro.escape/2` knows it.
  """
  @spec read(Macro.t(), Macro.Env.t()) :: map
  def read(block, env) do
    lines =
      case block do
        {:__block__, _, lines} -> lines
        line -> [line]
      end

    lists = Enum.reduce(lines, @empty, &line(&1, &2, env))
    Map.new(lists, fn {key, reversed} -> {key, Enum.reverse(reversed)} end)
  end

  defp line({:data, _, [_ | _] = names}, lists, env) do
    Enum.reduce(names, lists, &push(&2, :data, name(&1, env)))
  end

  defp line({:param, _, [{:in, _, [what, support]}]}, lists, env) do
    parameter(what, [support: support(support, env)], lists, env)
  end

  defp line({:param, _, [what]}, lists, env), do: parameter(what, [], lists, env)

  defp line({:keep, _, [{:=, _, [what, expression]}]}, lists, env) do
    define(name(what, env), expression, %{keep: true}, lists, env)
  end

  defp line({:=, _, [what, expression]}, lists, env) do
    define(name(what, env), expression, %{}, lists, env)
  end

  defp line({:term, _, [expression]}, lists, env) do
    {[value], lists} = arguments([expression], "term", lists, env)
    push(lists, :statements, %{kind: :term, value: value})
  end

  defp line({:~>, _, [value, {:mixture, _, [weights, components]}]}, lists, env)
       when is_list(components) do
    place = place(value, lists)
    {[value, weights], lists} = arguments([value, weights], place, lists, env)
    {components, lists} = Enum.map_reduce(components, lists, &family(&1, place, &2, env))
    statement = %{kind: :mixture, value: value, log_weights: weights, components: components}
    push(lists, :statements, statement)
  end

  defp line({:~>, _, [value, distribution]}, lists, env) do
    place = place(value, lists)
    {[value], lists} = arguments([value], place, lists, env)
    {family, lists} = family(distribution, place, lists, env)
    push(lists, :statements, Map.merge(%{kind: :distribution, value: value}, family))
  end

  defp line(other, _lists, env) do
    refuse(
      other,
      "is none of: data …; param …; name = expression; keep(name = expression); " <>
        "value ~> family(…); term(expression)",
      env
    )
  end

  defp parameter(what, members, lists, env) do
    {name, shape} =
      case what do
        {{:., _, [Access, :get]}, _, [name, length]} -> {name, [shape: [dimension(length, env)]]}
        name -> {name, []}
      end

    push(lists, :parameters, Map.new([name: name(name, env)] ++ shape ++ members))
  end

  defp dimension(length, _env) when is_integer(length) and length > 0, do: length
  defp dimension({:^, _, _} = pinned, env), do: literal(pinned, env)
  defp dimension({:rows, _, [data]}, env), do: %{rows: name(data, env)}
  defp dimension({:columns, _, [data]}, env), do: %{columns: name(data, env)}

  defp dimension(other, env) do
    refuse(other, "is no length: use a whole number, rows(data) or columns(data)", env)
  end

  defp support({kind, _, context}, _env)
       when kind in [:real, :positive, :ordered] and context in [nil, []],
       do: kind

  defp support({kind, _, context}, _env)
       when kind in [:real, :positive, :ordered] and is_atom(context),
       do: kind

  defp support({kind, _, [bound]}, env) when kind in [:above, :below] do
    %{kind => literal(bound, env)}
  end

  defp support({:interval, _, [low, high]}, env) do
    %{interval: [literal(low, env), literal(high, env)]}
  end

  defp support(other, env) do
    refuse(
      other,
      "is no support: use real, positive, above(a), below(b), interval(a, b) or ordered",
      env
    )
  end

  defp family({family, _, arguments}, place, lists, env)
       when family in @families and is_list(arguments) do
    {args, lists} = arguments(arguments, place, lists, env)
    {%{family: family, args: args}, lists}
  end

  defp family(other, _place, _lists, env) do
    refuse(other, "is no distribution: use mixture, #{Enum.join(@families, ", ")}", env)
  end

  # `name = expression`. A bare name or number has no operation: a sum with nothing is the name's.
  defp define(name, expression, members, lists, env) do
    case operation(expression, name, lists, env) do
      {:ok, op, args, lists} ->
        push(lists, :definitions, Map.merge(%{name: name, op: op, args: args}, members))

      :none ->
        {[value], lists} = arguments([expression], name, lists, env)
        push(lists, :definitions, Map.merge(%{name: name, op: :add, args: [value, 0]}, members))
    end
  end

  # Names and numbers as they are; every other expression becomes a definition named after `place`.
  defp arguments(expressions, place, lists, env) do
    Enum.map_reduce(expressions, lists, fn expression, lists ->
      with :none <- operation(expression, place, lists, env) do
        {value(expression, env), lists}
      else
        {:ok, op, args, lists} ->
          name = fresh(place, lists)
          {name, push(lists, :definitions, %{name: name, op: op, args: args})}
      end
    end)
  end

  defp operation({sign, _, [number]}, _place, _lists, _env)
       when sign in [:+, :-] and is_number(number),
       do: :none

  defp operation({:-, _, [x]}, place, lists, env), do: apply_to(:neg, [x], place, lists, env)

  defp operation({operator, _, [_, _] = args}, place, lists, env)
       when is_map_key(@operators, operator) do
    apply_to(Map.fetch!(@operators, operator), args, place, lists, env)
  end

  defp operation({{:., _, [Access, :get]}, _, [_, _] = args}, place, lists, env) do
    apply_to(:index, args, place, lists, env)
  end

  defp operation({function, _, [_ | _] = args}, place, lists, env) when function in @functions do
    apply_to(function, args, place, lists, env)
  end

  defp operation(_other, _place, _lists, _env), do: :none

  defp apply_to(op, args, place, lists, env) do
    {args, lists} = arguments(args, place, lists, env)
    {:ok, op, args, lists}
  end

  defp value({_, _, context} = variable, env) when is_atom(context), do: name(variable, env)
  defp value({:__aliases__, _, _} = capital, env), do: name(capital, env)
  defp value(other, env), do: literal(other, env)

  defp literal(number, _env) when is_number(number), do: number
  defp literal({:+, _, [number]}, _env) when is_number(number), do: number
  defp literal({:-, _, [number]}, _env) when is_number(number), do: -number

  defp literal({:^, _, [pinned]}, _env) do
    {:unquote, [], [quote(do: Plimsoll.Model.number!(unquote(pinned)))]}
  end

  defp literal(other, env) do
    refuse(
      other,
      "is no name, number or operation: put ^ before an Elixir expression; there are + - * / ** " <>
        Enum.join(@functions, ", "),
      env
    )
  end

  defp name({name, _, context}, _env) when is_atom(name) and is_atom(context) do
    Atom.to_string(name)
  end

  # A capital, such as the matrix X.
  defp name({:__aliases__, _, [name]}, _env) when is_atom(name), do: Atom.to_string(name)
  defp name(other, env), do: refuse(other, "is no name", env)

  defp place({name, _, context}, _lists) when is_atom(name) and is_atom(context), do: "#{name}"
  defp place(_expression, lists), do: "statement #{length(lists.statements) + 1}"

  defp fresh(place, lists) do
    taken = for %{name: name} <- lists.definitions, do: name

    Stream.iterate(1, &(&1 + 1))
    |> Stream.map(&"#{place}/#{&1}")
    |> Enum.find(&(&1 not in taken))
  end

  defp push(lists, key, value), do: Map.update!(lists, key, &[value | &1])

  @spec refuse(Macro.t(), String.t(), Macro.Env.t()) :: no_return
  defp refuse(expression, why, env) do
    line =
      case expression do
        {_, meta, _} -> Keyword.get(meta, :line, env.line)
        _literal -> env.line
      end

    raise CompileError,
      file: env.file,
      line: line,
      description: "in a model: `#{Macro.to_string(expression)}` #{why}"
  end
end
