# Two sockets of four cores with two threads, one NUMA node each.
# shellcheck shell=sh disable=SC2034
cpu=Broadwell-v4
sockets=2 dies=1 cores=4 threads=2
node_cpus='0-7 8-15'
node_mib='768 768'
l3_mib=16
distances='10 21
           21 10'
