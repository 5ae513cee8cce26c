# A short experiment: in every run the VM's own answer and the threads' masks are what was predicted.
# Its times mean nothing here and are not looked at.
# shellcheck shell=sh disable=SC2154

plimsoll bench spin --arms u,db --levels 1 --blocks 1 --window 1s --json --quiet --store /tmp/runs.db >/tmp/bench.json
equal "bench: exit code" $? 0
ask() { jq -r "$1" /tmp/bench.json; }
equal "bench: runs" "$(ask '[.runs[] | "\(.arm) \(.status.kind)"] | sort | join(", ")')" "db ok, u ok"
for arm in u db; do
    equal "bench: $arm is where it was predicted" "$(ask ".runs[] | select(.arm == \"$arm\").vm.bindings | tostring")" \
        "$(ask ".arms[] | select(.name == \"$arm\").predicted | tostring")"
done
equal "bench: the masks of db's threads are the CPUs that were predicted" \
    "$(ask '.runs[] | select(.arm == "db").vm.masks | join(" ")')" \
    "$(ask '.arms[] | select(.name == "db").predicted | map(tostring) | join(" ")')"
equal "bench: the masks of u's threads are all CPUs" "$(ask '[.runs[] | select(.arm == "u").vm.masks[]] | unique | join(" ")')" "$(range 0 "$pus")"
equal "bench: the kernel's NUMA counters are read" \
    "$(ask '[.runs[].evidence.host | .numa_hint_faults, .numa_pages_migrated | type] | unique | join(" ")')" number
