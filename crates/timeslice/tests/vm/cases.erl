%% Each case is one function that returns when all is well.
-module(cases).
-compile(export_all).
-compile(nowarn_export_all).

-define(LONG, 1_000_000_000_000).
-define(SHORT, 30_000_000).

modes() -> [blocking, yielding, dirty, automatic].

the_template_counts_the_same_primes_four_ways() ->
    [78498, 78498, 78498, 78498] =
        [my_nif:F(1_000_000)
         || F <- [primes, primes_blocking, primes_dirty, primes_automatic]],
    0 = my_nif:primes(0),
    0 = my_nif:live().

a_panic_is_an_error_with_its_message() ->
    [{nif_panicked, <<"told to">>} = reason(fun() -> troublemaker:panics(Mode, N) end)
     || Mode <- modes(), N <- [0, ?SHORT]],
    0 = troublemaker:live().

an_error_is_raised() ->
    [wrong = reason(fun() -> troublemaker:raises(Mode, N) end)
     || Mode <- modes(), N <- [0, ?SHORT]],
    0 = troublemaker:live().

a_type_that_was_never_registered_is_named() ->
    {not_registered, Name} = reason(fun troublemaker:stranger/0),
    {match, _} = re:run(Name, "Stranger").

a_large_binary_is_held_while_its_owner_forgets_it() ->
    [begin
         Bytes = binary:copy(<<1>>, Size),
         %% The only reference is the call's argument; garbage is made beside it.
         Size = troublemaker:checksum(Mode, ?SHORT, Bytes),
         %% Part of a larger one, and not on a byte border.
         <<_:3, Part:(Size - 1)/binary, _:5>> = Bytes,
         Sum = lists:sum(binary_to_list(Part)),
         Sum = troublemaker:checksum(Mode, ?SHORT, Part)
     end || Mode <- modes(), Size <- [10, 1000, 100_000, 5_000_000]],
    0 = troublemaker:live().

a_killed_caller_leaves_nothing_behind() ->
    Memory = erlang:memory(total),
    [kill_all(Mode, 250) || Mode <- [yielding, dirty, automatic]],
    gone(erlang:monotonic_time(millisecond) + 5000),
    %% 750 states of 64 kB would be 48 MB if they were the VM's; what is the VM's must not grow.
    true = erlang:memory(total) < Memory + 8_000_000.

kill_all(Mode, Number) ->
    [begin
         {Pid, Monitor} =
             spawn_monitor(fun() -> troublemaker:checksum(Mode, ?LONG, <<1:800_000>>) end),
         case I rem 3 of
             0 -> ok;
             1 -> erlang:yield();
             2 -> started()
         end,
         exit(Pid, kill),
         receive {'DOWN', Monitor, _, _, Reason} -> killed = Reason end
     end || I <- lists:seq(1, Number)].

started() ->
    case troublemaker:live() of
        0 -> erlang:yield(), started();
        _ -> ok
    end.

%% No timed assertion: the limit only ends a hopeless wait.
gone(Until) ->
    case troublemaker:live() of
        0 -> ok;
        _ ->
            true = erlang:monotonic_time(millisecond) < Until,
            erlang:yield(),
            gone(Until)
    end.

others_run_while_it_yields() ->
    %% One scheduler: only if the computation gives it back can the other process count.
    _ = erlang:system_flag(schedulers_online, 1),
    Self = self(),
    Counter = counters:new(1, []),
    spawn_link(fun() -> Self ! {sum, troublemaker:checksum(yielding, 2_000_000_000, <<7>>)} end),
    Ticker = spawn_link(fun() -> count(Counter) end),
    receive {sum, 7} -> ok end,
    true = counters:get(Counter, 1) > 20,
    unlink(Ticker),
    exit(Ticker, kill).

count(Counter) ->
    counters:add(Counter, 1, 1),
    erlang:yield(),
    count(Counter).

a_long_automatic_call_leaves_the_normal_scheduler() ->
    troublemaker:record(true),
    Spent = fun(Mode) ->
        _ = troublemaker:slices(),
        1 = troublemaker:checksum(Mode, 1_000_000_000, <<1>>),
        {Wall, _} = troublemaker:slices(),
        lists:sum([N || {_, N} <- Wall])
    end,
    1 = Spent(automatic),
    0 = Spent(dirty),
    true = Spent(yielding) > 10,
    0 = Spent(blocking).

tracing_and_collecting_in_the_middle_changes_nothing() ->
    Pid = spawn_link(fun() ->
        receive go -> ok end,
        receive {From, Bytes} -> From ! {sum, troublemaker:checksum(yielding, 1_000_000_000, Bytes)} end
    end),
    erlang:trace(Pid, true, [running, garbage_collection]),
    Pid ! go,
    Pid ! {self(), binary:copy(<<2>>, 100_000)},
    collect(Pid),
    0 = troublemaker:live().

collect(Pid) ->
    _ = erlang:garbage_collect(Pid),
    receive {sum, 200_000} -> ok
    after 0 -> collect(Pid)
    end.

reason(Fun) ->
    try Fun() of
        Value -> {returned, Value}
    catch
        error:Reason -> Reason
    end.
