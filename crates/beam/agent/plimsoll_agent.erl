%% The agent inside a VM that Plimsoll started: it writes down what the VM says of itself.
%%
%% It is one process that wakes four times a second. It prints nothing, makes no atoms from data,
%% keeps a fixed amount of state, and ends by itself when the session's directory is gone.
%% Cost, measured on two CPUs with OTP 25: 10 ms more until the program starts (most of it loading
%% and evaluating), then 1.4 ms of CPU time a wake-up, half a per cent of one CPU, in an idle VM; not
%% visible in the time of a fixed amount of work. 34 kB of memory.
%%
%% One binary serves OTP 25 and later, so there are no records and no binary matching here: newer
%% compilers translate those to instructions that older VMs refuse.
-module(plimsoll_agent).

-export([start/1]).

-define(PERIOD_MS, 250).
%% How many VMs of one session may claim it one after the other (see claim/2).
-define(MAX_CLAIMS, 32).

%% Called by `-eval` before the program's own code. The first state is written before this returns,
%% so that even a VM that halts at once leaves its facts.
%% Directory: a binary, taken byte for byte as a file name whatever the VM's file name encoding is.
start(Directory) ->
    case claim(Directory, 1) of
        true ->
            ok = write_state(Directory, none),
            spawn_opt(fun() -> agent(Directory) end, [{priority, high}]),
            ok;
        false ->
            ok
    end.

%% VMs that this VM starts inherit its environment, and with it the agent: only the first one may
%% speak. Start scripts, on the other hand, run small helper VMs before the real one: a claim lapses
%% when its VM has ended. Claims are numbered and created exclusively, so two VMs never share one.
claim(_Directory, Number) when Number > ?MAX_CLAIMS ->
    false;
claim(Directory, Number) ->
    Path = <<Directory/binary, "/claim.", (integer_to_binary(Number))/binary>>,
    case file:open(Path, [write, exclusive, raw]) of
        {ok, File} ->
            Written = file:write(File, os:getpid()),
            _ = file:close(File),
            Written =:= ok;
        {error, eexist} ->
            case file:read_file(Path) of
                %% Its VM is between creating the claim and signing it.
                {ok, <<>>} -> false;
                {ok, Pid} -> not alive(Pid) andalso claim(Directory, Number + 1);
                {error, _} -> false
            end;
        {error, _} ->
            false
    end.

alive(Pid) ->
    file:read_file_info(<<"/proc/", Pid/binary>>, [raw]) =/= {error, enoent}.

agent(Directory) ->
    %% Nothing that is ever printed on behalf of this process may reach the program's output.
    group_leader(self(), self()),
    try
        _ = erlang:system_flag(scheduler_wall_time, true),
        loop(Directory, window())
    catch
        _:_ -> ok
    after
        %% The VM would also do it when this process ends; a user reading along sees it here.
        _ = erlang:system_flag(scheduler_wall_time, false)
    end.

loop(Directory, Window0) ->
    drain(),
    receive after ?PERIOD_MS -> ok end,
    Window =
        case file:delete(<<Directory/binary, "/window">>, [raw]) of
            ok -> window();
            {error, _} -> sample(Window0)
        end,
    case write_state(Directory, Window) of
        ok -> loop(Directory, Window);
        {error, _} -> ok
    end.

%% Nobody writes to this process, except those who write to everybody.
drain() ->
    receive _ -> drain() after 0 -> ok end.

%% A window: {wall times at its start, samples, sum of run-queue lengths}.
window() ->
    {wall_times(), 0, 0}.

sample({Start, Samples, Sum}) ->
    {Start, Samples + 1, Sum + erlang:statistics(total_run_queue_lengths)}.

wall_times() ->
    lists:sort(erlang:statistics(scheduler_wall_time_all)).

%% Written beside and renamed: a reader sees a whole state, also when the VM is killed.
write_state(Directory, Window) ->
    New = <<Directory/binary, "/state.new">>,
    case file:write_file(New, state(Window), [raw]) of
        ok -> file:rename(New, <<Directory/binary, "/state.json">>);
        Error -> Error
    end.

state(Window) ->
    Schedulers = erlang:system_info(schedulers),
    Online = erlang:system_info(schedulers_online),
    DirtyCpuOnline = erlang:system_info(dirty_cpu_schedulers_online),
    {RunQueue, Busy, DirtyBusy} = means(Window, Schedulers, Online, DirtyCpuOnline),
    object([
        {"otp_release", string(erlang:system_info(otp_release))},
        {"erts", string(erlang:system_info(version))},
        {"emulator_flavour", string(atom_to_list(erlang:system_info(emu_flavor)))},
        {"schedulers", integer_to_list(Schedulers)},
        {"schedulers_online", integer_to_list(Online)},
        {"dirty_cpu", integer_to_list(erlang:system_info(dirty_cpu_schedulers))},
        {"dirty_cpu_online", integer_to_list(DirtyCpuOnline)},
        {"dirty_io", integer_to_list(erlang:system_info(dirty_io_schedulers))},
        {"bind_type", string(atom_to_list(erlang:system_info(scheduler_bind_type)))},
        {"bindings", bindings(erlang:system_info(scheduler_bindings))},
        {"run_queue_mean", number(RunQueue)},
        {"scheduler_utilisation", number(Busy)},
        {"dirty_cpu_utilisation", number(DirtyBusy)}
    ]).

%% {run-queue length per online normal scheduler, busy share of the online normal schedulers, busy
%% share of the online dirty CPU schedulers}. Schedulers are numbered normal, dirty CPU, dirty IO.
means(none, _Schedulers, _Online, _DirtyCpuOnline) ->
    {none, none, none};
means({_Start, 0, _Sum}, _Schedulers, _Online, _DirtyCpuOnline) ->
    {none, none, none};
means({Start, Samples, Sum}, Schedulers, Online, DirtyCpuOnline) ->
    Both = lists:zip(Start, wall_times()),
    {
        Sum / (Samples * Online),
        busy(Both, 1, Online),
        busy(Both, Schedulers + 1, Schedulers + DirtyCpuOnline)
    }.

busy(Both, First, Last) ->
    Differences = [
        {Active - Active0, Total - Total0}
     || {{Id, Active0, Total0}, {Id, Active, Total}} <- Both, Id >= First, Id =< Last
    ],
    case lists:sum([Total || {_, Total} <- Differences]) of
        0 -> none;
        Total -> lists:sum([Active || {Active, _} <- Differences]) / Total
    end.

object(Members) ->
    [${, lists:join($,, [[string(Name), $:, Value] || {Name, Value} <- Members]), $}].

%% The only strings here are the VM's own versions and atoms: ASCII, but a quote or a control
%% character must not spoil the whole state.
string(Text) ->
    [$", [Character || Character <- Text, Character >= $\s, Character < 127, Character =/= $", Character =/= $\\], $"].

bindings(Bindings) ->
    [$[, lists:join($,, [binding(Cpu) || Cpu <- tuple_to_list(Bindings)]), $]].

binding(unbound) -> "null";
binding(Cpu) -> integer_to_list(Cpu).

number(none) -> "null";
number(Float) -> float_to_list(Float, [{decimals, 6}]).
