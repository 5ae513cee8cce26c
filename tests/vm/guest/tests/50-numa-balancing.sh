# Automatic NUMA balancing: shown, and at work: the pages of a process that is moved to another
# node's CPUs follow it, and the kernel's counter says so.
# shellcheck shell=sh disable=SC2154

switch=/proc/sys/kernel/numa_balancing
before=$(cat $switch)
for state in 0 1; do
    echo $state >$switch
    equal "automatic NUMA balancing $state is shown" "$(map | jq -r .machine.kernel.numa_balancing)" $state
done

pages_on() { # NODE PID : how many of its anonymous pages are there
    grep -E 'anon=|heap' "/proc/$2/numa_maps" | grep -Eo " N$1=[0-9]+" | cut -d = -f 2 | { sum=0; while read -r n; do sum=$((sum + n)); done; echo $sum; }
}
counter() { sed -n 's/^numa_pages_migrated //p' /proc/vmstat; }

# shellcheck disable=SC2086
home=$(word 0 $node_cpus) away=$(word 1 $node_cpus)
if [ -z "$away" ]; then
    echo "$before" >$switch
    skip "one NUMA node has nowhere to move pages to"
fi
# dd keeps a buffer of 32 MiB and writes all of it again and again.
taskset -c "$home" dd if=/dev/zero of=/dev/null bs=32M 2>/dev/null &
pid=$!
for _ in $(seq 20); do
    sleep 1
    at_home=$(pages_on 0 $pid)
    [ "$at_home" -lt 8192 ] || break
done
start=$(counter)
taskset -cp "$away" $pid >/dev/null
# The kernel looks at a task's pages once a second or less often, a part at a time.
for _ in $(seq 30); do
    sleep 1
    moved=$(pages_on 1 $pid)
    [ "$moved" -lt $((at_home * 9 / 10)) ] || break
done
counted=$(($(counter) - start))
kill $pid
echo "$before" >$switch
echo "$at_home pages of 4 KiB at home, $moved moved, $counted counted"
at_least "memory is first touched on node 0" "$at_home" 8192
at_least "automatic balancing moves nine pages of ten" "$moved" $((at_home * 9 / 10))
at_least "numa_pages_migrated counts them" "$counted" $((moved * 9 / 10))
