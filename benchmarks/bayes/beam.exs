# What the BEAM path costs over the library called from Rust: M1 jobs with the same data and seeds
# inside this VM and in `bench-bayes --serve`, in turn, in CPU time of all threads. Both must evaluate
# the same number of gradients, or the comparison means nothing. Run by ./beam.

[program, pairs, jobs] = System.argv()
[pairs, jobs] = Enum.map([pairs, jobs], &String.to_integer/1)

# Nanoseconds on a CPU of every thread of this VM.
vm_cpu = fn ->
  for path <- Path.wildcard("/proc/self/task/*/schedstat"), reduce: 0 do
    sum -> sum + (File.read!(path) |> String.split(" ") |> hd() |> String.to_integer())
  end
end

model = Plimsoll.Models.m1()
data = Plimsoll.Data.by_seed("m1", 1, 200)
file = Path.join(System.tmp_dir!(), "plimsoll-beam-#{System.pid()}.txt")
File.write!(file, Enum.map_join(data["y"], "\n", &Float.to_string/1))
port = Port.open({:spawn_executable, program}, [:binary, line: 1000, args: ["--serve", file]])

rust = fn first ->
  Port.command(port, "#{first} #{jobs}\n")

  receive do
    {^port, {:data, {:eol, line}}} ->
      [cpu, gradients] = String.split(line, " ")
      {String.to_float(cpu), String.to_integer(gradients)}
  after
    60_000 -> raise "bench-bayes does not answer"
  end
end

beam = fn on ->
  fn first ->
    before = vm_cpu.()

    gradients =
      for seed <- first..(first + jobs - 1), reduce: 0 do
        sum ->
          {:ok, fit} = Plimsoll.Nuts.fit(model, data, seed: seed, on: on, diagnostics: false)
          sum + fit.gradients
      end

    {(vm_cpu.() - before) / 1.0e9, gradients}
  end
end

arms = [rust: rust, dirty: beam.(:dirty), stepping: beam.(:stepping)]
:rand.seed(:exsss, 1)
for {_name, run} <- arms, do: run.(0)

blocks =
  for block <- 1..pairs do
    results = for {name, run} <- Enum.shuffle(arms), do: {name, run.(block * jobs)}
    [_same] = results |> Enum.map(fn {_name, {_cpu, gradients}} -> gradients end) |> Enum.uniq()
    Map.new(results, fn {name, {cpu, _gradients}} -> {name, cpu} end)
  end

File.rm!(file)

spread = fn values ->
  sorted = Enum.sort(values)
  median = Enum.at(sorted, div(length(sorted), 2))
  digits = &:erlang.float_to_binary(&1, decimals: 3)
  "#{digits.(median)} (#{digits.(hd(sorted))} … #{digits.(List.last(sorted))})"
end

IO.puts("M1 jobs, model and data to draws, CPU ms each (#{pairs} blocks of #{jobs} jobs a side)")

for {name, _run} <- arms do
  IO.puts("  #{String.pad_trailing("#{name}", 10)} #{spread.(for b <- blocks, do: b[name] * 1000 / jobs)}")
end

for name <- [:dirty, :stepping] do
  IO.puts("  #{name} over rust  #{spread.(for b <- blocks, do: b[name] / b.rust)}    target at most 1.05")
end
