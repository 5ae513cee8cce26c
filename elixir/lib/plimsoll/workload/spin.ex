defmodule Plimsoll.Workload.Spin do
  @moduledoc """
  Integer work in Elixir, on the normal schedulers: nothing shared, nothing allocated, every result
  needed by the next. What it reaches at a level is the ceiling for any other workload there.
  """

  @behaviour Plimsoll.Workload

  import Bitwise

  @steps_per_job 20_000
  @mask 0xFFFFFFFF

  @impl true
  def name, do: "spin"

  @impl true
  def summary, do: "integer work in Elixir, on the normal schedulers"

  @impl true
  def unit, do: "steps"

  @impl true
  def setup(settings), do: {:ok, settings.seed}

  @impl true
  def start(seed, index), do: first_state(seed, index)

  @impl true
  def job(state), do: {@steps_per_job, spin(state, @steps_per_job)}

  @impl true
  def cleanup(_seed), do: :ok

  @doc """
  A first state, 1 to 2³² − 1, from the seed and the number of a process.
  """
  @spec first_state(non_neg_integer, pos_integer) :: pos_integer
  def first_state(seed, index), do: 1 + :erlang.phash2({seed, index}, @mask)

  @doc """
  `steps` steps of Marsaglia's 32-bit xorshift generator with the triple (13, 17, 5) ("Xorshift
  RNGs", Journal of Statistical Software 8 (14), 2003) from `state`, 1 to 2³² − 1.

  All values stay below 2⁴⁵, which the VM keeps without allocating.

      iex> Plimsoll.Workload.Spin.spin(1, 1)
      270369
  """
  @spec spin(pos_integer, non_neg_integer) :: pos_integer
  def spin(state, 0), do: state

  def spin(state, steps) do
    state = bxor(state, state <<< 13 &&& @mask)
    state = bxor(state, state >>> 17)
    spin(bxor(state, state <<< 5 &&& @mask), steps - 1)
  end
end
