//! Machines at random.

use proptest::collection::vec;
use proptest::prelude::*;

use super::Cpu;

/// How the kernel lays NUMA nodes over packages.
#[derive(Debug, Clone, Copy)]
enum Numa {
    None,
    /// So many packages in one node.
    PackagesPerNode(u32),
    /// So many nodes in one package.
    NodesPerPackage(u32),
    /// The first package spans two nodes, the others are a node each.
    Mixed,
}

/// Ids `0..count` spread out and out of order: what firmware does to package and core numbers.
fn ids(count: usize) -> impl Strategy<Value = Vec<u32>> {
    let sparse = vec(1u32..9, count).prop_map(|steps| {
        steps
            .iter()
            .scan(0, |id, step| {
                *id += step;
                Some(*id)
            })
            .collect::<Vec<_>>()
    });
    prop_oneof![
        2 => Just((0..count as u32).collect::<Vec<_>>()),
        1 => sparse.clone(),
        1 => sparse.prop_shuffle(),
    ]
}

/// Regular machines as people build them: sockets, nodes, cores, threads; some cores with fewer
/// threads, some CPUs offline, all ids possibly sparse and permuted.
pub fn regular() -> impl Strategy<Value = Vec<Cpu>> {
    let numa = prop_oneof![
        Just(Numa::None),
        (1u32..3).prop_map(Numa::PackagesPerNode),
        (2u32..4).prop_map(Numa::NodesPerPackage),
        Just(Numa::Mixed),
    ];
    (1u32..5, 1u32..6, 1u32..4, numa)
        .prop_flat_map(|(packages, cores, threads, numa)| {
            let nodes_in = match numa {
                Numa::NodesPerPackage(nodes) => nodes,
                Numa::Mixed => 2,
                _ => 1,
            };
            let groups = (packages * nodes_in) as usize;
            let all = groups * (cores * threads) as usize;
            (
                Just((packages, cores, threads, numa, nodes_in)),
                ids(packages as usize),
                ids(groups),
                ids((cores * nodes_in) as usize),
                ids(all),
                vec(0u8..20, all),
            )
        })
        .prop_map(|(shape, package_ids, node_ids, core_ids, cpu_ids, fates)| {
            let (packages, cores, threads, numa, nodes_in) = shape;
            let mut cpus = Vec::new();
            for thread in 0..threads {
                for package in 0..packages {
                    for part in 0..nodes_in {
                        let node = match numa {
                            Numa::None => None,
                            Numa::PackagesPerNode(n) => Some(package / n),
                            Numa::NodesPerPackage(n) => Some(package * n + part),
                            Numa::Mixed if package == 0 => Some(part),
                            Numa::Mixed => Some(package + 1),
                        };
                        for core in 0..cores {
                            let n = cpus.len();
                            cpus.push((
                                fates[n],
                                thread,
                                Cpu {
                                    l3: package * nodes_in + part,
                                    ..Cpu::new(
                                        cpu_ids[n],
                                        package_ids[package as usize],
                                        node.map(|node| node_ids[node as usize]),
                                        core_ids[(part * cores + core) as usize],
                                    )
                                },
                            ));
                        }
                    }
                }
            }
            let mut cpus: Vec<_> = cpus
                .into_iter()
                // Some cores have no second thread; the first CPU always stays.
                .filter(|&(fate, thread, _)| thread == 0 || fate >= 3)
                .map(|(fate, _, cpu)| Cpu {
                    online: fate < 19,
                    ..cpu
                })
                .collect();
            cpus[0].online = true;
            cpus
        })
}

/// Machines that nobody builds: every CPU in any package, node and core. Nodes cross packages,
/// packages cross nodes, core numbers repeat.
pub fn wild() -> impl Strategy<Value = Vec<Cpu>> {
    (1usize..40, any::<bool>())
        .prop_flat_map(|(count, numa)| {
            (
                ids(count),
                vec((0u32..5, 0u32..5, 0u32..5, 0u32..4), count),
                Just(numa),
            )
        })
        .prop_map(|(cpu_ids, places, numa)| {
            cpu_ids
                .into_iter()
                .zip(places)
                .map(|(os, (package, node, core, l3))| Cpu {
                    l3,
                    ..Cpu::new(os, package, numa.then_some(node), core)
                })
                .collect()
        })
}
