# The machine is described as QEMU was asked for it.
# shellcheck shell=sh disable=SC2016,SC2086,SC2116,SC2154

map >/tmp/map.json
ask() { jq -r "$1" /tmp/map.json; }

# groups SIZE : the CPU lists of the parts that have so many CPUs each.
groups() { for first in $(seq 0 "$1" $((pus - 1))); do range "$first" "$1"; done | xargs; }

per_core=$threads per_die=$((cores * threads)) per_socket=$((dies * cores * threads))
equal "packages" "$(ask '[.machine.packages[].cpus] | join(" ")')" "$(groups $per_socket)"
equal "cores and their hardware threads" "$(ask '[.machine.cores[].cpus] | join(" ")')" "$(groups $per_core)"
equal "L3 domains" "$(ask '[.machine.l3_domains[].cpus] | join(" ")')" "$(groups $per_die)"
equal "L3 sizes in MiB" "$(ask '[.machine.l3_domains[].size_bytes / 1048576] | unique | map(tostring) | join(" ")')" "$l3_mib"
equal "NUMA nodes" "$(ask '[.machine.numa_nodes | sort_by(.os_index)[].cpus] | join(" ")')" "$node_cpus"
equal "NUMA distances" \
    "$(ask '.machine.numa_nodes as $nodes
        | [range($nodes | length)] | sort_by($nodes[.].os_index) as $order
        | [$order[] as $i | $order[] as $j | $nodes[$i].distances[$j]] | map(select(. != null) | tostring) | join(" ")')" \
    "$(echo $distances)"

# The kernel keeps some of a node's memory for itself.
node=0
for wanted in $node_mib; do
    got=$(ask ".machine.numa_nodes[] | select(.os_index == $node) | .memory_bytes / 1048576 | floor")
    if [ "$got" -le "$wanted" ] && [ "$got" -ge $((wanted * 85 / 100)) ]; then
        ok "memory of node $node"
    else
        not_ok "memory of node $node" "got $got MiB, wanted 85 to 100 % of $wanted"
    fi
    node=$((node + 1))
done

equal "counts" \
    "$(ask '.machine.counts | "\(.packages) \(.numa_nodes) \(.l3_domains) \(.cores) \(.pus) \(.online) \(.allowed) \(.threads_per_core)"')" \
    "$sockets $node $((sockets * dies)) $((pus / threads)) $pus $pus $pus $threads"

# Each CPU points at its own core, package, L3 domain and node.
cpu=0
while [ $cpu -lt $pus ]; do
    node=0
    for cpus in $node_cpus; do
        [ $cpu -lt "${cpus%-*}" ] || [ $cpu -gt "${cpus#*-}" ] || break
        node=$((node + 1))
    done
    echo "$cpu: $(range $((cpu / per_core * per_core)) $per_core) $(range $((cpu / per_socket * per_socket)) $per_socket)" \
        "$(range $((cpu / per_die * per_die)) $per_die) $node $((cpu % threads))"
    cpu=$((cpu + 1))
done >/tmp/wanted
ask '.machine as $m | $m.pus | sort_by(.os_index)[]
    | "\(.os_index): \($m.cores[.core].cpus) \($m.packages[.package].cpus) \($m.l3_domains[.l3_domain].cpus) \($m.numa_nodes[.numa_node].os_index) \(.thread)"' >/tmp/got
equal "every CPU's core, package, L3 domain, node and thread" "$(cat /tmp/got)" "$(cat /tmp/wanted)"

equal "kernel release" "$(ask .machine.kernel.release)" "$(uname -r)"
equal "transparent huge pages" "[$(ask .machine.kernel.transparent_huge_pages)]" \
    "$(grep -o '\[.*\]' /sys/kernel/mm/transparent_hugepage/enabled)"
