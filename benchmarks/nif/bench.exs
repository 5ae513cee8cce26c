# The native functions against their peers and their promises; started by ./run.
#
# Times are CPU times. What is compared runs in interleaved blocks, in random order within a
# block; a ratio is the median over blocks, with the order statistics that bracket the median
# with 95 % confidence.

defmodule Bench do
  alias Plimsoll.{Levenshtein, Native}

  def main(words) do
    {options, _} =
      OptionParser.parse!(words, strict: [peer: :string, json: :string, quick: :boolean])

    :rand.seed(:exsss, {4, 5, 6})
    folder = Path.join(System.tmp_dir!(), "plimsoll-bench-nif-#{System.pid()}")
    File.mkdir_p!(folder)
    blocks = if options[:quick], do: 9, else: 41
    peer = Peer.start(options[:peer])

    rows =
      try do
        List.flatten([
          peers(peer, folder, blocks),
          yielding(blocks),
          slices(if(options[:quick], do: 2_000, else: 10_000)),
          kills(if(options[:quick], do: 200, else: 1_000))
        ])
      after
        File.rm_rf!(folder)
      end

    print(rows, peer.version)
    if file = options[:json], do: File.write!(file, json(rows, peer.version))
    if Enum.any?(rows, &(&1.met == false)), do: System.halt(1)
  end

  ## Two random strings: ours, rapidfuzz, the full matrix

  defp peers(peer, folder, blocks) do
    long =
      for {bytes, calls, rounds} <- [
            {10_000, 20, blocks},
            {256, 5_000, blocks},
            {64, 50_000, blocks},
            {8, 100_000, blocks}
          ] do
        {a, b} = {:rand.bytes(bytes), :rand.bytes(bytes)}
        files = for {name, data} <- [a: a, b: b], do: write(folder, name, data)
        ours = fn -> cpu(calls, fn -> Levenshtein.distance(a, b) end) end
        theirs = fn -> Peer.time(peer, files, calls, Levenshtein.distance(a, b)) / calls end
        pairs = interleave(rounds, ours: ours, theirs: theirs)
        limit = if bytes == 10_000, do: 1.0

        [
          row("#{bytes} bytes: yielding NIF", "us", median(pairs, :ours) / 1000),
          row("#{bytes} bytes: rapidfuzz", "us", median(pairs, :theirs) / 1000),
          ratio("#{bytes} bytes: NIF / rapidfuzz", pairs, :ours, :theirs, limit)
        ]
      end

    {a, b} = {:rand.bytes(10_000), :rand.bytes(10_000)}
    ours = fn -> cpu(20, fn -> Levenshtein.distance(a, b) end) end
    matrix = fn -> cpu(1, fn -> Native.levenshtein_matrix(:blocking, a, b) end) end
    pairs = interleave(max(5, div(blocks, 4)), ours: ours, matrix: matrix)
    call = fn -> cpu(200_000, fn -> Levenshtein.distance("", "") end) end
    bare = fn -> cpu(200_000, fn -> Native.timeslice_live() end) end
    calls = interleave(blocks, call: call, bare: bare)

    [
      long,
      row("10000 bytes: full matrix", "us", median(pairs, :matrix) / 1000),
      ratio("10000 bytes: NIF / full matrix", pairs, :ours, :matrix, 1 / 200),
      row("call of two empty strings, arguments and all", "us", median(calls, :call) / 1000),
      row("call of a NIF that does nothing", "us", median(calls, :bare) / 1000)
    ]
  end

  defp write(folder, name, data) do
    file = Path.join(folder, Atom.to_string(name))
    File.write!(file, data)
    file
  end

  ## What yielding costs

  defp yielding(blocks) do
    for {name, bytes, calls} <- [{"15 ms", 50_000, 4}, {"60 ms", 100_000, 1}] do
      {a, b} = {:rand.bytes(bytes), :rand.bytes(bytes)}
      work = &fn -> cpu(calls, fn -> Levenshtein.distance(a, b, run: &1) end) end
      runs = [yielding: work.(:yielding), blocking: work.(:blocking), dirty: work.(:dirty)]
      times = interleave(blocks, runs)

      [
        row("#{name} of work: blocking", "us", median(times, :blocking) / 1000),
        ratio("#{name} of work: yielding / blocking", times, :yielding, :blocking, 1.01),
        ratio("#{name} of work: dirty / blocking", times, :dirty, :blocking, nil)
      ]
    end
  end

  ## How long slices are, with a worker on every scheduler

  defp slices(wanted) do
    {a, b} = {:rand.bytes(100_000), :rand.bytes(100_000)}
    near = binary_part(a, 0, 50_000) <> "x" <> binary_part(a, 50_000, 50_000)
    text = String.duplicate("naïve €", 5_000)
    other = String.duplicate("native €", 4_500)

    work = fn ->
      Levenshtein.distance(a, b)
      Levenshtein.distance(a, near, max: 500)
      Levenshtein.distance(text, other, unit: :code_points)

      Levenshtein.distances(
        binary_part(a, 0, 2_000),
        for(i <- 0..99, do: binary_part(b, i, 2_000))
      )
    end

    Native.timeslice_slices()
    Native.timeslice_record(true)
    workers = for _ <- 1..System.schedulers_online(), do: spawn_monitor(fn -> forever(work) end)
    {wall, cpu} = collect(wanted, {[], []})

    for {pid, monitor} <- workers do
      Process.exit(pid, :kill)
      receive do: ({:DOWN, ^monitor, _, _, _} -> :ok)
    end

    Native.timeslice_record(false)

    [
      row("slices recorded", "", count(cpu)),
      row("slice, CPU time, median", "us", quantile(cpu, 0.5)),
      row("slice, CPU time, p99.9", "us", quantile(cpu, 0.999), 1200),
      row("slice, CPU time, longest", "us", quantile(cpu, 1.0)),
      row("slice, elapsed, median", "us", quantile(wall, 0.5)),
      row(
        "slice, elapsed, p99.9 (with the time for which others had the core)",
        "us",
        quantile(wall, 0.999)
      )
    ]
  end

  defp forever(work) do
    work.()
    forever(work)
  end

  defp collect(wanted, {wall, cpu}) do
    Process.sleep(200)
    {more_wall, more_cpu} = Native.timeslice_slices()
    both = {merge(wall, more_wall), merge(cpu, more_cpu)}
    if count(elem(both, 1)) >= wanted, do: both, else: collect(wanted, both)
  end

  defp merge(a, b) do
    (a ++ b)
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Enum.map(fn {k, v} -> {k, Enum.sum(v)} end)
    |> Enum.sort()
  end

  defp count(histogram), do: histogram |> Enum.map(&elem(&1, 1)) |> Enum.sum()

  # The upper edge of the bucket: at most 10 us too much.
  defp quantile(histogram, q) do
    wanted = q * count(histogram)

    Enum.reduce_while(histogram, 0, fn {edge, count}, below ->
      if below + count >= wanted, do: {:halt, edge}, else: {:cont, below + count}
    end)
  end

  ## How soon the state of a killed caller is gone

  defp kills(number) do
    {a, b} = {:rand.bytes(1_000_000), :rand.bytes(1_000_000)}

    for run <- [:yielding, :automatic, :dirty] do
      samples = for _ <- 1..number, do: kill(run, a, b)
      {elapsed, cpu} = Enum.unzip(samples)
      at = fn times, q -> Enum.at(Enum.sort(times), floor(q * (number - 1))) / 1000 end

      # Elapsed time has in it for how long others had the cores; what the VM itself still did
      # until the state was gone has not.
      [
        row("kill to freed, #{run}: CPU time of the VM meanwhile, median", "us", at.(cpu, 0.5)),
        row(
          "kill to freed, #{run}: CPU time of the VM meanwhile, p99",
          "us",
          at.(cpu, 0.99),
          2000
        ),
        row("kill to freed, #{run}: elapsed, median", "us", at.(elapsed, 0.5)),
        row("kill to freed, #{run}: elapsed, p99 (others had the core)", "us", at.(elapsed, 0.99))
      ]
    end
  end

  defp kill(run, a, b) do
    {pid, monitor} = spawn_monitor(fn -> Levenshtein.distance(a, b, run: run) end)
    wait(1)
    # Anywhere in a slice, and past the first for the automatic one.
    Process.sleep(:rand.uniform(4))
    {start, cpu} = {System.monotonic_time(:nanosecond), Native.timeslice_process_cpu()}
    Process.exit(pid, :kill)
    # A process on a dirty scheduler is down before its native call has ended.
    receive do: ({:DOWN, ^monitor, _, _, _} -> wait(0))
    {System.monotonic_time(:nanosecond) - start, Native.timeslice_process_cpu() - cpu}
  end

  defp wait(live) do
    if Native.timeslice_live() != live do
      :erlang.yield()
      wait(live)
    end
  end

  ## Measuring

  # CPU nanoseconds a call; the loop itself costs a few.
  defp cpu(calls, work) do
    start = Native.timeslice_process_cpu()
    repeat(calls, work)
    (Native.timeslice_process_cpu() - start) / calls
  end

  defp repeat(0, _work), do: :ok

  defp repeat(calls, work) do
    work.()
    repeat(calls - 1, work)
  end

  # The first block warms up and is dropped.
  defp interleave(blocks, arms) do
    tl(
      for _ <- 0..blocks,
          do: Map.new(Enum.shuffle(arms), fn {name, measure} -> {name, measure.()} end)
    )
  end

  defp median(blocks, arm), do: middle(for block <- blocks, do: block[arm])

  defp middle(values), do: Enum.at(Enum.sort(values), div(length(values), 2))

  defp row(name, unit, value, target \\ nil) do
    %{
      name: name,
      unit: unit,
      value: value,
      low: nil,
      high: nil,
      target: target,
      met: target && value <= target
    }
  end

  # The ratio of two arms with the interval from the binomial order statistics of the median.
  defp ratio(name, blocks, arm, against, target) do
    ratios = Enum.sort(for block <- blocks, do: block[arm] / block[against])
    n = length(ratios)
    reach = max(0, floor((n - 1.96 * :math.sqrt(n)) / 2))
    value = middle(ratios)

    %{
      name: name,
      unit: "ratio",
      value: value,
      low: Enum.at(ratios, reach),
      high: Enum.at(ratios, n - 1 - reach),
      target: target,
      met: target && value <= target
    }
  end

  ## Saying

  defp print(rows, version) do
    IO.puts(
      "CPU time, rapidfuzz #{version}, #{System.schedulers_online()} schedulers, OTP #{System.otp_release()}\n"
    )

    for row <- rows do
      interval = if row.low, do: "  [#{short(row.low)}, #{short(row.high)}]", else: ""

      target =
        if row.target,
          do: "  target <= #{short(row.target)}: #{if row.met, do: "met", else: "MISSED"}",
          else: ""

      IO.puts(
        "#{String.pad_trailing(row.name, 70)} #{String.pad_leading(short(row.value), 10)} #{row.unit}#{interval}#{target}"
      )
    end
  end

  defp short(value) when is_integer(value), do: Integer.to_string(value)
  defp short(value) when abs(value) >= 100, do: :erlang.float_to_binary(value, decimals: 1)
  defp short(value), do: :erlang.float_to_binary(value, decimals: 4)

  defp json(rows, version) do
    Plimsoll.JSON.encode(%{schema: "plimsoll.bench-nif/1", rapidfuzz: version, rows: rows})
  end
end

defmodule Peer do
  defstruct [:port, :version]

  def start(python) do
    script = Path.join(__DIR__, "peer.py")
    port = Port.open({:spawn_executable, python}, [:binary, line: 200, args: [script]])
    %Peer{port: port, version: answer(port)}
  end

  # CPU nanoseconds of so many calls; the distance must be ours.
  def time(peer, [a, b], calls, distance) do
    Port.command(peer.port, "#{a} #{b} #{calls}\n")
    [time, theirs] = String.split(answer(peer.port))
    ^distance = String.to_integer(theirs)
    String.to_integer(time)
  end

  defp answer(port) do
    receive do
      {^port, {:data, {:eol, line}}} -> line
    after
      60_000 -> raise "the peer does not answer"
    end
  end
end

Bench.main(System.argv())
