# Two sockets with two NUMA nodes each (sub-NUMA clustering), without SMT.
# Node numbers follow CPU numbers: Linux numbers nodes in the order in which CPUs name them.
# shellcheck shell=sh disable=SC2034
cpu=Skylake-Server-v4
sockets=2 dies=2 cores=4 threads=1
node_cpus='0-3 4-7 8-11 12-15'
node_mib='512 320 320 320'
l3_mib=16
distances='10 12 21 21
           12 10 21 21
           21 21 10 12
           21 21 12 10'
