# Limits of cgroups, v2: cpuset, quota, nested quota, and a quota on the root that a container mounts.
# shellcheck shell=sh disable=SC2154

groups=/sys/fs/cgroup
outer=$groups/outer inner=$groups/outer/inner
mkdir -p $inner
echo '+cpu +cpuset' >$groups/cgroup.subtree_control
echo '+cpu +cpuset' >$outer/cgroup.subtree_control

# Starts a command in the inner group.
cat >/tmp/inside <<'SCRIPT'
#!/bin/sh
echo $$ >/sys/fs/cgroup/outer/inner/cgroup.procs && exec "$@"
SCRIPT
# Starts a command in the inner group as in a container: the group is the root of what it sees. The
# first word is the propagation of its mounts.
cat >/tmp/contained <<'SCRIPT'
#!/bin/sh
echo $$ >/sys/fs/cgroup/outer/inner/cgroup.procs || exit
propagation=$1
shift
exec unshare --cgroup --mount --propagation "$propagation" sh -c '
    umount /sys/fs/cgroup && mount -t cgroup2 cgroup /sys/fs/cgroup && exec "$@"' sh "$@"
SCRIPT
chmod +x /tmp/inside /tmp/contained

# Whether this release reads a quota of cgroup v2 at the mount's root only.
erts=$(cat /vm/erts)
older() { [ "$erts" != "$1" ] && [ "$(printf '%s\n' "$erts" "$1" | sort -V | head -n 1)" = "$erts" ]; }
old_vm() { older 13.2.2.8 || { ! older 14 && older 14.2; }; }

# agree NAME : the schedulers that a VM puts online under $under are those that the record says.
agree() {
    $under plimsoll map --json --quiet >/tmp/map.json
    got=$(vm +sbt db)
    if old_vm; then
        wanted=$(jq -r '.machine.counts.allowed as $n | .machine.limits.quota_seen_by_old_vm // $n | [., $n] | min' /tmp/map.json)
    else
        wanted=$(jq -r .schedulers /tmp/map.json)
    fi
    equal "$1: schedulers online" "${got%% *}" "$wanted"
}
limits() { jq -r ".machine.limits | $1" /tmp/map.json; }

under=/tmp/inside
cpus=$(range $((pus / 8)) $((pus / 2)))
echo "$cpus" >$outer/cpuset.cpus
agree "cpuset"
equal "cpuset: in the limits" "$(limits .cpuset)" "$cpus"
equal "cpuset: CPUs allowed" "$(jq -r '[.machine.pus[] | select(.allowed).os_index] | sort | map(tostring) | join(" ")' /tmp/map.json)" \
    "$(numbers "$cpus" | xargs)"
equal "cpuset: bindings" "$(vm +S 5 +sbt ps)" "5 $($under plimsoll map --json --quiet --schedulers 5 | predicted ps)"
range 0 "$pus" >$outer/cpuset.cpus

echo "350000 100000" >$outer/cpu.max
equal "quota of the group above" "$($under plimsoll map --json --quiet | jq .machine.limits.quota_cpus)" 3.5
echo "200000 100000" >$inner/cpu.max
agree "nested quotas"
equal "nested quotas: the smaller one" "$(limits .quota_cpus)" 2
equal "nested quotas: every group" \
    "$(limits '[.groups[] | select(.quota_cpus != null) | "\(.path) \(.quota_cpus)"] | join(", ")')" \
    "/outer/inner 2, /outer 3.5"
equal "nested quotas: what an old VM sees" "$(limits .quota_seen_by_old_vm)" null

# Both ways of mounting, because old releases read over a mount that shares with no other. Both places
# of the word cpu among the controllers, because they do not know it at the end of the line.
container() { # PROPAGATION WHAT
    under="/tmp/contained $1"
    agree "container, $1 mounts, $2"
    equal "container, $1 mounts, $2: quota" "$(limits .quota_cpus)" 2
}
container shared "cpu is the last controller"
echo +pids >$groups/cgroup.subtree_control
echo +pids >$outer/cgroup.subtree_control
container shared "cpu is not the last controller"
container private "cpu is not the last controller"

under=
# What a VM has started may end a moment after it.
for group in $inner $outer; do
    for _ in $(seq 10); do
        rmdir "$group" 2>/dev/null && break
        sleep 1
    done
done
