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

home=$(word 0 $node_cpus) away=$(word 1 $node_cpus)
if [ -n "$away" ]; then
    # dd keeps a buffer of 32 MiB and writes all of it again and again.
    taskset -c "$home" dd if=/dev/zero of=/dev/null bs=32M 2>/dev/null &
    pid=$!
    sleep 2
    at_home=$(pages_on 0 $pid)
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
    echo "$at_home pages of 4 KiB at home, $moved moved, $counted counted"
    if [ "$at_home" -ge 8192 ]; then ok "memory is first touched on node 0"; else not_ok "memory is first touched on node 0" "only $at_home pages are there"; fi
    if [ "$moved" -ge $((at_home * 9 / 10)) ]; then ok "automatic balancing moves the pages"; else not_ok "automatic balancing moves the pages" "$moved of $at_home within 30 s"; fi
    if [ "$counted" -ge $((moved * 9 / 10)) ]; then ok "numa_pages_migrated counts them"; else not_ok "numa_pages_migrated counts them" "$counted counted, $moved moved"; fi
fi
echo "$before" >$switch
