#!/bin/sh
# sh image.sh PREFIX FILE : packs the guest's initramfs into FILE.
# In it: busybox, an Erlang VM copied from this host, the installed PREFIX as /opt/plimsoll, and the
# tests. Nothing is taken from anywhere else, so the guest runs what this host would run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1
file=$2

die() { printf '%s\n' "$*" >&2; exit 3; }

root=$(mktemp -d "$file.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

# libraries FILE… : the shared libraries that they need, the loader included.
libraries() {
    # ldd fails on static programs, which need none.
    ldd "$@" 2>/dev/null | sed -n 's/^.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (0x.*/\1/p' | sort -u
}

# place FILE… : copies them to the same place in the image. Links are followed.
place() {
    for one in "$@"; do
        mkdir -p "$root${one%/*}"
        [ -e "$root$one" ] || cp -L "$one" "$root$one"
    done
}

# program NAME : a program of this host, with its libraries.
program() {
    path=$(command -v "$1") || die "$1 is not on PATH"
    cp -L "$path" "$root/usr/bin/$1"
    place_libraries "$path"
}

place_libraries() {
    # shellcheck disable=SC2046
    place $(libraries "$@")
}

# One layout whatever the host's: everything below /usr.
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" \
    "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run" "$root/root" "$root/etc"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done

# The host's own shell, because busybox's takes its own applets before programs on the path; and
# util-linux's unshare, because busybox's knows no cgroups.
for name in sh busybox jq taskset unshare; do program "$name"; done
for applet in $(busybox --list); do
    [ -e "$root/usr/bin/$applet" ] || ln -s busybox "$root/usr/bin/$applet"
done

# Erlang at its own path, because its start script knows that path. Debugging information and
# documentation stay behind.
erlang=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().') ||
    die "erl on PATH does not start: apt-get install erlang-base"
mkdir -p "$root$erlang/lib"
cp -RL "$erlang/bin" "$erlang/releases" "$root$erlang/"
for erts in "$erlang"/erts-*; do
    mkdir -p "$root$erts"
    cp -RL "$erts/bin" "$root$erts/"
    place_libraries "$erts"/bin/beam.smp "$erts"/bin/erlexec "$erts"/bin/erl_child_setup "$erts"/bin/inet_gethost
done
for name in kernel stdlib compiler crypto; do
    for application in "$erlang/lib/$name"-*; do
        [ -d "$application/ebin" ] || continue
        mkdir -p "$root$application"
        cp -RL "$application/ebin" "$root$application/"
        [ ! -d "$application/priv" ] || cp -RL "$application/priv" "$root$application/"
    done
done
[ -e "$root/usr/bin/erl" ] || ln -s "$erlang/bin/erl" "$root/usr/bin/erl"

mkdir -p "$root/opt/plimsoll"
cp -RL "$prefix/bin" "$prefix/lib" "$root/opt/plimsoll/"
place_libraries "$prefix/bin/plimsoll"

mkdir -p "$root/vm"
cp -R "$here/guest/." "$root/vm/"
cp -R "$here/machines" "$root/vm/machines"
erl -noshell -eval 'io:put_chars(erlang:system_info(version)), halt().' >"$root/vm/erts"
ln -s vm/init "$root/init"
chmod 755 "$root/vm/init"

# Not compressed: the emulated CPU would have to undo it.
(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$file.new"
mv "$file.new" "$file"
