#!/bin/sh
# Boots emulated machines with several sockets, NUMA nodes, dies and hardware threads, and runs the
# tests of guest/tests in each with the Plimsoll that is installed under PREFIX:
#
#   sh tests/vm/run.sh PREFIX [short|sweep]
#
# short (the default) is for CI: the two-socket machine, less than three minutes on two slow cores.
# sweep runs every machine with every bind type and many scheduler counts.
#
# VM_MACHINES='chiplet …' chooses machines, VM_ONLY=10 only tests whose name starts so.
# VM_KERNEL=FILE boots another kernel image; else the distribution's is downloaded once into .build/vm
# (VM_CACHE=FOLDER), where every guest's console is kept too. VM_SECONDS limits one guest's time.
#
# Exit codes: 0 all passed, 1 something failed, 2 wrong usage, 3 cannot run here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/vm/packages.sh
. "$here/packages.sh"

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 3; }
usage() { say "$*"; say "usage: sh tests/vm/run.sh PREFIX [short|sweep]"; exit 2; }

case $# in 1 | 2) ;; *) usage "one or two words are needed" ;; esac
form=${2:-short}
case $form in
    short) machines=two-socket limit=170 ;;
    sweep) machines='two-socket four-node chiplet' limit=1500 ;;
    *) usage "no such form: $form" ;;
esac
machines=${VM_MACHINES:-$machines}
limit=${VM_SECONDS:-$limit}
{ [ -x "$1/bin/plimsoll" ] && [ -d "$1/lib/plimsoll" ]; } ||
    usage "$1 is not an installed prefix (bin/plimsoll and lib/plimsoll): ./x setup builds .build/prefix"
prefix=$(cd "$1" && pwd)
for machine in $machines; do
    [ -f "$here/machines/$machine.sh" ] || usage "no such machine: $machine; $here/machines has them"
done

[ "$(uname -m)" = x86_64 ] || die "the guests run this host's programs, and only x86_64 is known here"
for program in $vm_programs erl taskset unshare timeout; do
    command -v "$program" >/dev/null || die "$program is missing: apt-get install $vm_packages erlang-base"
done

cache=${VM_CACHE:-$here/../../.build/vm}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# One guest at a time on a host: a second one would slow both beyond their limits.
exec 9>"$cache/lock"
if command -v flock >/dev/null; then flock -n 9 || die "another run uses $cache: wait until it has ended"; fi

# --- kernel -----------------------------------------------------------------------------------

# Downloads the distribution's kernel package once and keeps only the kernel image.
kernel() {
    if [ -n "${VM_KERNEL:-}" ]; then
        [ -f "$VM_KERNEL" ] || usage "VM_KERNEL=$VM_KERNEL is not a file"
        echo "$VM_KERNEL"
        return
    fi
    if [ ! -f "$cache/vmlinuz" ]; then
        how="get it with: apt-get update && apt-get download $vm_kernel_package, or set VM_KERNEL=FILE to a kernel image"
        command -v apt-get >/dev/null || die "no kernel for the guest; $how"
        # The package of that name only points at the one with the current version.
        package=$(apt-cache depends --important "$vm_kernel_package" 2>/dev/null |
            sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1)
        [ -n "$package" ] || die "apt does not know $vm_kernel_package; $how"
        say "downloading $package"
        rm -rf "$cache/download"
        mkdir -p "$cache/download"
        (cd "$cache/download" && apt-get download "$package" >apt.log 2>&1 && dpkg-deb -x ./*.deb unpacked) ||
            { tail -n 5 "$cache/download/apt.log" >&2; die "could not download $package; $how"; }
        mv "$cache"/download/unpacked/boot/vmlinuz-* "$cache/vmlinuz"
        rm -rf "$cache/download"
    fi
    echo "$cache/vmlinuz"
}

# --- guest ------------------------------------------------------------------------------------

# words of the machine file → words of QEMU. Every NUMA node's memory is an object of its own.
hardware() {
    # shellcheck source=tests/vm/machines/two-socket.sh
    . "$here/machines/$1.sh"
    mib=0 nodes=0
    echo -cpu "$cpu" -smp "$((sockets * dies * cores * threads)),sockets=$sockets,dies=$dies,cores=$cores,threads=$threads"
    for size in $node_mib; do
        # The node's CPUs are the word of the same place.
        cpus=$(echo "$node_cpus" | cut -d ' ' -f $((nodes + 1)))
        echo -object "memory-backend-ram,id=m$nodes,size=${size}M" -numa "node,nodeid=$nodes,memdev=m$nodes,cpus=$cpus"
        mib=$((mib + size)) nodes=$((nodes + 1))
    done
    entry=0
    for value in $distances; do
        echo -numa "dist,src=$((entry / nodes)),dst=$((entry % nodes)),val=$value"
        entry=$((entry + 1))
    done
    echo -m "${mib}M"
}

# boot MACHINE : runs the guest; its results go to standard output and to $cache/MACHINE.results.
boot() {
    only=
    [ -z "${VM_ONLY:-}" ] || only="vm.only=$VM_ONLY"
    append="console=ttyS0 quiet panic=-1 no_timer_check mitigations=off nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
    append="$append vm.machine=$1 vm.form=$form vm.test_seconds=$((limit * 6 / 10)) $only"
    # shellcheck disable=SC2046
    timeout --foreground -k 5 "$limit" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -nic none \
        -accel tcg,thread=multi,tb-size=256 $(hardware "$1") \
        -kernel "$kernel" -initrd "$initrd" -append "$append" \
        -serial "file:$cache/$1.console" -serial stdio </dev/null 2>"$cache/$1.qemu" |
        sed -u 's/\r$//' | tee "$cache/$1.results" |
        sed -u "s/^\(ok\|not ok\|#\) /\1 $1: /; s/^\([0-9]* passed, \)/# $1: \1/"
}

kernel=$(kernel)
initrd=$cache/initrd
sh "$here/image.sh" "$prefix" "$initrd"

passed=0 failed=0
for machine in $machines; do
    results=$cache/$machine.results
    boot "$machine"
    ok=$(grep -c '^ok ' "$results" || :)
    not_ok=$(grep -c '^not ok ' "$results" || :)
    # The guest's own sum is its last word: without it the guest did not come to its end.
    if ! grep -qx "$ok passed, $not_ok failed" "$results"; then
        not_ok=$((not_ok + 1))
        echo "not ok $machine: the guest did not come to its end within $limit s; its last words, from $cache/$machine.*:"
        { grep -v 'warning: TCG' "$cache/$machine.qemu"; cat "$cache/$machine.console"; } | tail -n 5 | sed 's/^/#   /'
    fi
    passed=$((passed + ok)) failed=$((failed + not_ok))
done
rm -f "$initrd"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] || exit 1
