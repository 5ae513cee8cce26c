defmodule Plimsoll do
  @moduledoc """
  The BEAM side of Plimsoll, which measures how much load a machine and the VM on it can carry.

  - `Plimsoll.Workload`: work to be measured inside a VM, and `Plimsoll.Workload.Runner`, which does
    it at a level for a window of time.
  - `Plimsoll.Native`: the native library.

  OTP and Elixir only; no application needs to be started.
  """
end
