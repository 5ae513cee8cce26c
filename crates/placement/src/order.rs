use plimsoll_schema::{BindType, Machine};

use crate::view::{ErtsCpu, erts_view};

/// All CPUs that the VM sees, in the order in which it hands them to schedulers. `None` for `u` and
/// where the VM sees no topology.
pub fn order(machine: &Machine, bind: BindType) -> Option<Vec<u32>> {
    order_of(&erts_view(machine)?, bind)
}

/// The order of CPUs given as the VM sees them, in any sequence. `None` for `u`.
///
/// Each level's ids are first replaced by sequence numbers, then the CPUs are sorted by the levels
/// in the order that the bind type gives them. No two CPUs get equal keys, so the result does not
/// depend on the sorting algorithm.
///
/// Source: `verify_topology`, `make_cpudata_id_seq`, `cpu_bind_order_sort` and the comparisons above
/// them in `erts/emulator/beam/erl_cpu_topology.c`.
pub fn order_of(view: &[ErtsCpu], bind: BindType) -> Option<Vec<u32>> {
    let key = sort_key(bind)?;
    let mut cpus = view.to_vec();
    cpus.sort_unstable_by_key(|c| (c.processor, c.node, c.processor_node, c.core, c.thread));
    let mut placed: Vec<_> = cpus
        .iter()
        .zip(sequence_numbers(&cpus, nodes_of(bind)))
        .map(|(cpu, numbers)| (key(numbers), cpu.logical.unsigned_abs()))
        .collect();
    placed.sort_by_key(|&(key, _)| key);
    Some(placed.into_iter().map(|(_, cpu)| cpu).collect())
}

/// Sequence numbers of one CPU on every level.
#[derive(Clone, Copy)]
struct Numbers {
    node: i32,
    processor: i32,
    processor_node: i32,
    core: i32,
    thread: i32,
}

type SortKey = fn(Numbers) -> [i32; 5];

/// The levels in their order of weight. The earlier a level, the sooner the order moves on along it:
/// thread first means one thread of every core before any second thread.
fn sort_key(bind: BindType) -> Option<SortKey> {
    Some(match bind {
        BindType::U => return None,
        BindType::Ns => |n| [n.node, n.processor, n.processor_node, n.core, n.thread],
        BindType::Ts => |n| [n.thread, n.node, n.processor, n.processor_node, n.core],
        BindType::Ps => |n| [n.thread, n.processor_node, n.core, n.node, n.processor],
        BindType::S => |n| [n.thread, n.core, n.processor_node, n.processor, n.node],
        // The flat ones have no level for nodes inside packages: `node` covers both.
        BindType::Nnts => |n| [n.node, n.thread, n.processor, n.core, 0],
        BindType::Nnps => |n| [n.node, n.thread, n.core, n.processor, 0],
        BindType::Tnnps | BindType::Db => |n| [n.thread, n.node, n.core, n.processor, 0],
    })
}

/// How a bind type treats NUMA nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nodes {
    /// Nodes around packages and nodes inside packages are levels of their own.
    Nested,
    /// One sequence of nodes, wherever they are.
    Flat,
}

fn nodes_of(bind: BindType) -> Nodes {
    match bind {
        BindType::Tnnps | BindType::Nnps | BindType::Nnts | BindType::Db => Nodes::Flat,
        _ => Nodes::Nested,
    }
}

/// Numbers the changes of one id along a sequence of CPUs: 0, 1, 2, …; −1 before the first.
#[derive(Clone, Copy)]
struct Level {
    id: i32,
    number: i32,
}

impl Level {
    const START: Self = Self { id: -1, number: -1 };

    /// Moves on to a CPU with this id; true when that is another part than before.
    fn enters(&mut self, id: i32) -> bool {
        let changes = id != self.id;
        if changes {
            self.id = id;
            self.number += 1;
        }
        changes
    }
}

/// Replaces ids by sequence numbers that start again inside each larger part. `cpus` must be sorted
/// by package, node, node in package, core, thread.
///
/// A node that is met again after another one counts as a new node in the nested numbering: this is
/// what the VM does, so we do it.
fn sequence_numbers(cpus: &[ErtsCpu], nodes: Nodes) -> Vec<Numbers> {
    let mut node = Level::START;
    let mut processor = Level::START;
    let mut processor_node = Level::START;
    let mut core = Level::START;
    let mut thread = Level::START;
    // Nodes of both kinds in one count: this, not `node`, is a CPU's node number.
    let mut node_number = -1;
    cpus.iter()
        .map(|cpu| {
            if (nodes == Nodes::Nested || cpu.node >= 0) && node.enters(cpu.node) {
                (processor, processor_node) = (Level::START, Level::START);
                (core, thread) = (Level::START, Level::START);
                if cpu.node >= 0 {
                    node_number += 1;
                }
            }
            if processor.enters(cpu.processor) {
                (core, thread) = (Level::START, Level::START);
                // Flat: a node that goes on in the next package is still the same node.
                if nodes == Nodes::Nested {
                    processor_node = Level::START;
                }
            }
            if cpu.processor_node < 0 {
                processor_node = Level::START;
            } else if processor_node.enters(cpu.processor_node) {
                (core, thread) = (Level::START, Level::START);
                node_number += 1;
            }
            if core.enters(cpu.core) {
                thread = Level::START;
            }
            thread.enters(cpu.thread);
            Numbers {
                node: node_number,
                processor: processor.number,
                processor_node: processor_node.number.max(0),
                core: core.number,
                thread: thread.number,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Topologies that the VM accepts: every package in one node, or in several inside it, or all
    /// without nodes.
    fn accepted() -> impl Strategy<Value = Vec<ErtsCpu>> {
        let cpu = (0i32..4, 0i32..3, 0i32..3, 0i32..3);
        (
            any::<bool>(),
            vec((any::<bool>(), 0i32..4), 4),
            vec(cpu, 1..40),
        )
            .prop_map(|(numa, packages, cpus)| {
                let places: BTreeSet<_> = cpus
                    .into_iter()
                    .map(|(processor, inner, core, thread)| {
                        let (splits, outer) = packages[processor.unsigned_abs() as usize];
                        let (node, processor_node) = match (numa, splits) {
                            (false, _) => (-1, -1),
                            (true, true) => (-1, inner),
                            (true, false) => (outer, -1),
                        };
                        (node, processor, processor_node, core, thread)
                    })
                    .collect();
                (0..)
                    .zip(places)
                    .map(
                        |(logical, (node, processor, processor_node, core, thread))| ErtsCpu {
                            node,
                            processor,
                            processor_node,
                            core,
                            thread,
                            logical,
                        },
                    )
                    .collect()
            })
    }

    proptest! {
        /// Equal keys would leave the order to the sorting algorithm, which in the VM is libc's.
        #[test]
        fn no_two_cpus_have_equal_keys(mut cpus in accepted()) {
            cpus.sort_unstable_by_key(|c| (c.processor, c.node, c.processor_node, c.core, c.thread));
            for bind in BindType::ALL {
                let Some(key) = sort_key(bind) else { continue };
                let numbers = sequence_numbers(&cpus, nodes_of(bind));
                let keys: BTreeSet<_> = numbers.into_iter().map(key).collect();
                prop_assert_eq!(keys.len(), cpus.len(), "{}", bind);
            }
        }
    }
}
