defmodule Plimsoll.Workload do
  @moduledoc """
  What a workload inside the VM is: jobs that any number of processes can do again and again.

  `Plimsoll.Workload.Runner` keeps `level` processes doing jobs for a window of time and counts.
  To add a workload, write a module with this behaviour and list it in
  `Plimsoll.Workload.Registry`.

  The life of a run: `c:setup/1` once; `c:start/2` once in each process; `c:job/1` over and over in
  each process; `c:cleanup/1` once, after all
  processes have ended, whether the run succeeded or not. A job should take well under a
  thirtieth of the window, because only completed jobs are counted.
  """

  alias Plimsoll.Workload.Settings

  @typedoc "What all processes of a run share."
  @type shared :: term
  @typedoc "What one process carries from job to job."
  @type state :: term

  @doc "Its name on the command line."
  @callback name() :: String.t()
  @doc "What it does, in one line."
  @callback summary() :: String.t()
  @doc "What its `ops` count, for instance `steps`."
  @callback unit() :: String.t()
  @doc """
  Prepares what all processes share, and loads the code that jobs need (to load a module among busy
  processes takes long); runs before the window begins. `{:error, message}` when the
  workload cannot run here: the message says what is missing and the command that provides it.
  """
  @callback setup(Settings.t()) :: {:ok, shared} | {:error, message :: String.t()}
  @doc "The first state of process `index`, from 1; runs in that process, before the window begins."
  @callback start(shared, index :: pos_integer) :: state
  @doc "Does one job; says how many ops it was."
  @callback job(state) :: {ops :: non_neg_integer, state}
  @doc """
  What else there is to say of the run, as members of its `done` line; called once, after the window.
  Optional. Like a job it must find its code loaded.
  """
  @callback extra(shared) :: [{atom, Plimsoll.JSON.t()}]
  @doc "Gives back what `c:setup/1` took."
  @callback cleanup(shared) :: term

  @optional_callbacks extra: 1
end
