-module(my_nif).
-export([primes/1, primes_blocking/1, primes_dirty/1, primes_automatic/1, live/0]).
-on_load(load/0).

%% The library is expected beside the compiled module, as my_nif.so.
load() ->
    erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "my_nif"), 0).

%% The number of primes below Limit, four ways.
primes(_Limit) -> erlang:nif_error(not_loaded).
primes_blocking(_Limit) -> erlang:nif_error(not_loaded).
primes_dirty(_Limit) -> erlang:nif_error(not_loaded).
primes_automatic(_Limit) -> erlang:nif_error(not_loaded).

%% Computations under way.
live() -> erlang:nif_error(not_loaded).
