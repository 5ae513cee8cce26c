# The VM's schedulers sit where `plimsoll map` says, for every bind type and several numbers of
# schedulers; with all CPUs and with some.
# shellcheck shell=sh disable=SC2154

# agree NAME SCHEDULERS TYPE… : predictions and VMs, both under $under.
agree() {
    name=$1 schedulers=$2
    shift 2
    $under plimsoll map --json --quiet --schedulers "$schedulers" >/tmp/map.json
    for type in "$@"; do
        equal "+sbt $type +S $schedulers$name" "$(vm +S "$schedulers:$schedulers" +sbt "$type")" \
            "$schedulers $(predicted "$type" </tmp/map.json)"
    done
}

# More schedulers than CPUs: the last ones stay unbound.
if sweep; then counts="3 $pus $((pus + 3))"; else counts=$pus; fi
for count in $counts; do
    # shellcheck disable=SC2086
    agree "" "$count" $bind_types
done

# Half of one node and half of another; then every third CPU; then one core.
middle=$(range $((pus / 4)) $((pus / 2)))
if sweep; then
    for cpus in "$middle" "$(seq -s , 1 3 $((pus - 1)))" "$(range 0 "$threads")"; do
        under="taskset -c $cpus"
        # shellcheck disable=SC2086
        agree " on CPUs $cpus" "$(numbers "$cpus" | wc -l)" $bind_types
    done
else
    under="taskset -c $middle"
    agree " on CPUs $middle" 5 ns ps
fi

# Without +S: as many schedulers online as the mask has CPUs; the rest are offline and come last.
under="taskset -c $middle"
online=$($under plimsoll map --json --quiet | jq -r .schedulers)
got=$(vm +sbt db)
equal "schedulers online on CPUs $middle" "${got%% *}" "$online"
equal "bindings without +S on CPUs $middle" "$(echo "${got#* }" | cut -d , -f "1-$online")" \
    "$($under plimsoll map --json --quiet | predicted db)"

# --cpuset describes the same as the mask.
under=
equal "--cpuset is like the mask" "$(map --cpuset "$middle" | jq -c .bindings)" \
    "$(taskset -c "$middle" plimsoll map --json --quiet | jq -c .bindings)"
