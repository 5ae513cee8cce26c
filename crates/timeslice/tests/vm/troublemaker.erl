-module(troublemaker).
-export([panics/2, raises/2, checksum/3, stranger/0, live/0, record/1, slices/0]).
-on_load(load/0).

load() ->
    erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "troublemaker"), 0).

panics(_Mode, _Operations) -> erlang:nif_error(not_loaded).
raises(_Mode, _Operations) -> erlang:nif_error(not_loaded).
checksum(_Mode, _Operations, _Bytes) -> erlang:nif_error(not_loaded).
stranger() -> erlang:nif_error(not_loaded).
live() -> erlang:nif_error(not_loaded).
record(_On) -> erlang:nif_error(not_loaded).
slices() -> erlang:nif_error(not_loaded).
