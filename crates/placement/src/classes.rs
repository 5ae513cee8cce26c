use std::collections::{BTreeMap, BTreeSet};

use plimsoll_schema::BindType;

/// Bind types that are the same placement: every scheduler on the same CPU. Types stand in the order
/// of [`BindType::ALL`] inside a class, classes in the order of their first members.
pub fn classes(bindings: &BTreeMap<BindType, Vec<Option<u32>>>) -> Vec<Vec<BindType>> {
    grouped_by(bindings, |cpus| cpus)
}

/// Bind types that use the same CPUs, whichever scheduler sits on which: a coarser grouping than
/// [`classes`], in the same order.
///
/// These are still different placements. The VM gives work to schedulers with low numbers first and
/// lets the others sleep, so below full load the numbering decides which CPUs are busy. Only when
/// every scheduler works all the time do they come to the same.
pub fn same_cpus(bindings: &BTreeMap<BindType, Vec<Option<u32>>>) -> Vec<Vec<BindType>> {
    grouped_by(bindings, |cpus| {
        cpus.iter().flatten().collect::<BTreeSet<_>>()
    })
}

fn grouped_by<'a, K: PartialEq>(
    bindings: &'a BTreeMap<BindType, Vec<Option<u32>>>,
    key: impl Fn(&'a Vec<Option<u32>>) -> K,
) -> Vec<Vec<BindType>> {
    let mut groups: Vec<(K, Vec<BindType>)> = Vec::new();
    // `BindType` is ordered as in `ALL`, and so is the map.
    for (&bind, cpus) in bindings {
        let key = key(cpus);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(bind),
            None => groups.push((key, vec![bind])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}
