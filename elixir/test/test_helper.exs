library = Path.expand("../priv/plimsoll_nif.so", __DIR__)

unless File.exists?(library) do
  IO.puts(:stderr, """
  The native library is missing: #{Path.relative_to_cwd(library)}
  Build it with ./x setup, or by hand from the root of the checkout:
    cargo build -p plimsoll_nif --release
    cp target/release/libplimsoll_nif.so elixir/priv/plimsoll_nif.so
  """)

  System.halt(1)
end

ExUnit.start()
