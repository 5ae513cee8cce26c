# Where NUMA nodes hold several L3 domains the VM does not see these; with the +sct that `plimsoll map`
# advises it does.
# shellcheck shell=sh disable=SC2154

domains=$((sockets * dies)) per_domain=$((cores * threads))
# shellcheck disable=SC2086
[ $domains -gt "$(echo $node_cpus | wc -w)" ] || skip "every L3 domain is a NUMA node on this machine"

# The words after +sct up to the next blank.
topology=$(map | jq -r '.advice[] | select(.id == "topology.l3-invisible").fix' | sed -n 's/.*\(+sct [^ `]*\).*/\1/p')
domains_of() { echo "${1#* }" | tr , '\n' | while read -r cpu; do echo $((cpu / per_domain)); done; }

# shellcheck disable=SC2086
got=$(vm +S $domains $topology +sbt s)
equal "+sct, +sbt s: a scheduler in every L3 domain" "$(domains_of "$got" | sort -nu | xargs)" "$(seq 0 $((domains - 1)) | xargs)"
# shellcheck disable=SC2086
got=$(vm +S $pus $topology +sbt nnts)
equal "+sct, +sbt nnts: one L3 domain after the other" "$(domains_of "$got" | uniq -c | xargs)" \
    "$(seq 0 $((domains - 1)) | sed "s/^/$per_domain /" | xargs)"
