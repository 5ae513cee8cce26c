# What every test in guest/tests has at hand. A test is a file that calls ok, not_ok or equal once for
# each thing that it shows (or skip), and puts back what it changes.
# shellcheck shell=sh disable=SC1090,SC2034,SC2154

. "/vm/machines/$VM_MACHINE.sh"
pus=$((sockets * dies * cores * threads))
PATH=/opt/plimsoll/bin:$PATH
# Schedulers that wait actively would keep the emulated CPUs from each other.
export ERL_ZFLAGS='+sbwt none +sbwtdcpu none +sbwtdio none'

# report LINE : to the host at once, so that a guest that hangs has said how far it came.
report() { echo "$1" | tee -a "$VM_RESULTS" >"$VM_PORT"; }
ok() { report "ok $1"; }
not_ok() { report "not ok $1: $(printf %s "$2" | tr '\n' '|')"; }
# skip WHY : ends a test that does not apply to this machine.
skip() { report "# skipped: $1"; exit 0; }

# equal NAME GOT WANTED
equal() {
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got '$2', wanted '$3'"; fi
}

# at_least NAME GOT WANTED : whole numbers.
at_least() {
    if [ "$2" -ge "$3" ]; then ok "$1"; else not_ok "$1" "got $2, wanted at least $3"; fi
}

sweep() { [ "$VM_FORM" = sweep ]; }

# range FIRST COUNT : a CPU list as Linux writes it.
range() {
    if [ "$2" = 1 ]; then echo "$1"; else echo "$1-$(($1 + $2 - 1))"; fi
}

# numbers 0-3,8 : 0 1 2 3 8, one a line.
numbers() {
    echo "$1" | tr , '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done
}

# word N WORD… : the Nth word, from 0.
word() {
    shift "$(($1 + 1))"
    echo "$1"
}

# map OPTION… : the record of `plimsoll map`, on standard output.
map() { plimsoll map --json --quiet "$@"; }

# vm FLAG… : starts a VM with these flags; prints how many schedulers are online, and the bindings.
# $under, if set, is the command under which it starts.
under=
vm() {
    # shellcheck disable=SC2086
    $under timeout -s KILL 60 erl -noinput -boot no_dot_erlang "$@" -eval '
        io:format("~w ~s~n", [
            erlang:system_info(schedulers_online),
            lists:join(",", [io_lib:format("~w", [Cpu]) || Cpu <- tuple_to_list(erlang:system_info(scheduler_bindings))])]),
        erlang:halt(0)'
}

bind_types='u ns ts ps s nnts nnps tnnps db'

# predicted TYPE : the bindings of that type in the record on standard input, as vm prints them.
predicted() {
    jq -r --arg type "$1" '.bindings[$type] | map(if . == null then "unbound" else tostring end) | join(",")'
}
