# One socket with four dies, each with an L3 cache of its own; one NUMA node, so that the VM cannot
# see the dies. An Intel model, because software emulation leaves out the leaf in which AMD's tell
# their topology (topoext).
# shellcheck shell=sh disable=SC2034
cpu=Skylake-Server-v4
sockets=1 dies=4 cores=2 threads=2
node_cpus='0-15'
node_mib='1536'
l3_mib=16
distances=''
