defmodule Plimsoll.Jitter.Expression do
  @moduledoc """
  An Erlang expression that the workers run, compiled: interpreted, it would cost hundreds of
  reductions around every call, and the scheduler would be given up more often than it is in a
  program.

  `with` is evaluated once in each worker; its variables can be used in the expression.
  """

  @module :plimsoll_jitter_expression

  @enforce_keys [:with, :variables]
  defstruct @enforce_keys

  @type t :: %__MODULE__{}

  @doc """
  Compiles `text`, a sequence of Erlang expressions (a full stop at the end may be left out).

      iex> {:ok, e} = Plimsoll.Jitter.Expression.compile("lists:sum(L)", "N = 3, L = lists:seq(1, N)")
      iex> Plimsoll.Jitter.Expression.run(Plimsoll.Jitter.Expression.bind(e))
      6
  """
  @spec compile(String.t(), String.t()) :: {:ok, t} | {:error, String.t()}
  def compile(text, with) do
    with {:ok, job} <- parse(text, "--eval"),
         {:ok, prepare} <- parse(with, "--with"),
         {:ok, names} <- names(prepare),
         :ok <- load(job, names) do
      {:ok, %__MODULE__{with: prepare, variables: names}}
    end
  end

  @doc "Evaluates `with`; the values of its variables, for `run/2`."
  @spec bind(t) :: [term]
  def bind(%__MODULE__{with: []}), do: []

  def bind(%__MODULE__{} = expression) do
    {:value, _value, bindings} = :erl_eval.exprs(expression.with, :erl_eval.new_bindings())
    for name <- expression.variables, do: elem(:erl_eval.binding(name, bindings), 1)
  end

  @doc "Runs the expression that was compiled last, with the values that `bind/1` gave."
  @spec run([term]) :: term
  def run(values), do: apply(@module, :job, values)

  defp parse("", _option), do: {:ok, []}

  defp parse(text, option) do
    text = String.trim(text)
    text = if String.ends_with?(text, "."), do: text, else: text <> "."

    with {:ok, tokens, _end} <- :erl_scan.string(String.to_charlist(text)),
         {:ok, expressions} <- :erl_parse.parse_exprs(tokens) do
      {:ok, expressions}
    else
      {:error, {_line, module, why}} -> refused(option, module.format_error(why))
      {:error, {_line, module, why}, _end} -> refused(option, module.format_error(why))
    end
  end

  # Every variable that `with` binds: it has to be evaluated, because a pattern may stand anywhere.
  defp names([]), do: {:ok, []}

  defp names(prepare) do
    {:value, _value, bindings} = :erl_eval.exprs(prepare, :erl_eval.new_bindings())
    {:ok, for({name, _value} <- :erl_eval.bindings(bindings), do: name)}
  catch
    _kind, reason -> refused("--with", :io_lib.format("~tp", [reason]))
  end

  defp load(job, names) do
    arguments = for name <- names, do: {:var, 1, name}

    forms = [
      {:attribute, 1, :module, @module},
      {:attribute, 1, :export, [{:job, length(names)}]},
      {:function, 1, :job, length(names), [{:clause, 1, arguments, [], job}]}
    ]

    case :compile.forms(forms, [:return_errors]) do
      {:ok, module, code} ->
        {:module, _module} = :code.load_binary(module, ~c"--eval", code)
        :ok

      {:error, [{_file, [{_line, module, why} | _]} | _], _warnings} ->
        refused("--eval", module.format_error(why))
    end
  end

  defp refused(option, why) do
    {:error,
     "#{option} is no Erlang expression: #{why}; write it like 'my_nif:work(<<\"abc\">>)'"}
  end
end
