# CPUs that the kernel has taken offline: a hardware thread, and another CPU of the second half.
# shellcheck shell=sh disable=SC2154

gone="1 $((pus / 2 + 2))"
switch() { for cpu in $gone; do echo "$1" >"/sys/devices/system/cpu/cpu$cpu/online"; done; }

switch 0
left=$((pus - 2))
map >/tmp/map.json
equal "offline: count" "$(jq -r '.machine.counts | "\(.pus) \(.online) \(.allowed)"' /tmp/map.json)" "$pus $left $left"
equal "offline: which" "$(jq -r '[.machine.pus[] | select(.online | not).os_index] | sort | map(tostring) | join(" ")' /tmp/map.json)" "$gone"
if sweep; then types=$bind_types; else types="ps"; fi
for type in $types; do
    equal "offline: +sbt $type +S $left" "$(vm +S "$left" +sbt "$type")" "$left $(predicted "$type" </tmp/map.json)"
done
got=$(vm +sbt db)
equal "offline: schedulers online" "${got%% *}" "$(jq -r .schedulers /tmp/map.json)"

switch 1
equal "online again" "$(map | jq -r '.machine.counts | "\(.pus) \(.online) \(.cores)"')" "$pus $pus $((pus / threads))"
