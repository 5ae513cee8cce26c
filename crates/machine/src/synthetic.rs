use hwlocality::topology::Topology;
use plimsoll_schema::{Machine, MachineSource};

use crate::topology::{Numbering, describe, flags};
use crate::{MachineError, child};

/// The most PUs that a description may have: as many as Linux can be configured for.
const MAX_PUS: u64 = 8_192;

/// Type names of hwloc's descriptions, lower case; hwloc takes any case and any longer spelling
/// that begins so.
const TYPES: &[&str] = &[
    "mach",
    "pack",
    "sock",
    "die",
    "tile",
    "module",
    "cluster",
    "core",
    "pu",
    "numa",
    "node",
    "group",
    "l1",
    "l2",
    "l3",
    "l4",
    "l5",
    "memcache",
    "memsidecache",
];

/// Describes the machine that an hwloc synthetic description draws, for instance
/// `pack:2 [numa(memory=137438953472)] l3:1 core:22 pu:2`.
///
/// Numbers follow Linux, because it is Linux machines that people describe:
/// - CPUs are numbered hardware thread by hardware thread: the first threads of all cores from
///   the first package to the last, then the second threads. (hwloc itself would put the threads
///   of a core side by side.) If the `pu` level has `indexes=`, these are taken as given.
/// - Core numbers start at 0 in each package, unless the `core` level has `indexes=`.
/// - NUMA nodes exist only where the text names them.
/// - Without a `core` level each PU is a core of its own.
///
/// # Errors
/// A text that is not such a description, or one of more than 8 192 PUs: the error names the text
/// and, where one can be told, the word at fault.
pub fn from_synthetic(spec: &str) -> Result<Machine, MachineError> {
    let bad = |word: Option<&str>, why: String| MachineError::Synthetic {
        spec: spec.to_owned(),
        word: word.map(str::to_owned),
        why,
    };
    let words = words(spec);
    let (word, why) = match fault(&words) {
        Some(fault) => fault,
        None => {
            let text = spec.to_owned();
            let numbering = Numbering {
                linux_cpus: !has_indexes(&words, "pu"),
                linux_cores: !has_indexes(&words, "core"),
            };
            let numa = words.iter().any(|word| is_numa(word));
            let source = MachineSource::Synthetic { spec: text.clone() };
            let machine = child::guarded(move || {
                let topology = Topology::builder()
                    .with_flags(flags())
                    .map_err(|error| error.to_string())?
                    .from_synthetic(&text)
                    .map_err(|_| "hwloc cannot make sense of it".to_owned())?
                    .build()
                    .map_err(|_| "hwloc cannot build it".to_owned())?;
                describe(&topology, source, numbering)
            });
            match machine {
                Ok(machine) if numa => return Ok(machine),
                Ok(machine) => return Ok(without_numa(machine)),
                Err(why) => (None, why),
            }
        }
    };
    Err(bad(word, why))
}

/// hwloc gives every machine a NUMA node; the text did not.
fn without_numa(mut machine: Machine) -> Machine {
    machine.numa_nodes.clear();
    machine.counts.numa_nodes = 0;
    for pu in &mut machine.pus {
        pu.numa_node = None;
    }
    machine
}

/// The words of a description: blanks inside round brackets do not separate.
fn words(spec: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut depth, mut start) = (0u32, None);
    for (at, c) in spec.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_whitespace() && depth == 0 {
            if let Some(start) = start.take() {
                words.push(&spec[start..at]);
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    words.extend(start.map(|start| &spec[start..]));
    words
}

/// The part of a word before its attributes, without square brackets, split at the colon:
/// type and count.
fn level(word: &str) -> (Option<&str>, Option<&str>) {
    let head = word
        .split('(')
        .next()
        .unwrap_or(word)
        .trim_matches(['[', ']']);
    match head.split_once(':') {
        Some((kind, count)) => (Some(kind), Some(count)),
        None if head.starts_with(|c: char| c.is_ascii_digit()) => (None, Some(head)),
        None => (Some(head), None),
    }
}

fn is_numa(word: &str) -> bool {
    let kind = level(word).0.unwrap_or("").to_ascii_lowercase();
    kind.starts_with("numa") || kind.starts_with("node")
}

/// Whether the level of this type says itself how it is numbered. A level without a type that
/// comes last is the PU level.
fn has_indexes(words: &[&str], kind: &str) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let here = match level(word).0 {
            Some(name) => name.to_ascii_lowercase().starts_with(kind),
            None => kind == "pu" && at + 1 == words.len(),
        };
        here && word.contains("indexes=")
    })
}

/// What is wrong with the words, as far as can be told without hwloc: the word and the sentence.
fn fault<'a>(words: &[&'a str]) -> Option<(Option<&'a str>, String)> {
    if words.is_empty() {
        return Some((None, "it is empty".to_owned()));
    }
    let mut pus: u64 = 1;
    for (at, &word) in words.iter().enumerate() {
        if word.contains('\0') {
            return Some((Some(word), "it contains a zero byte".to_owned()));
        }
        if word.matches('(').count() != word.matches(')').count() {
            return Some((Some(word), format!("`{word}` lacks a bracket")));
        }
        // Attributes of the whole machine come first, in brackets of their own.
        if at == 0 && word.starts_with('(') {
            continue;
        }
        let (kind, count) = level(word);
        if let Some(kind) = kind {
            let lower = kind.to_ascii_lowercase();
            if !TYPES.iter().any(|name| lower.starts_with(name)) {
                return Some((
                    Some(word),
                    format!("`{kind}` in `{word}` is not a part of a machine"),
                ));
            }
        }
        match count.map(str::parse::<u64>) {
            None if word.starts_with('[') => {}
            None => return Some((Some(word), format!("`{word}` does not say how many"))),
            Some(Ok(n)) if n > 0 => pus = pus.saturating_mul(n),
            Some(_) => {
                return Some((
                    Some(word),
                    format!(
                        "`{}` in `{word}` is not a count from 1",
                        count.unwrap_or("")
                    ),
                ));
            }
        }
        if pus > MAX_PUS {
            return Some((
                Some(word),
                format!("with `{word}` it has more than {MAX_PUS} PUs"),
            ));
        }
    }
    let &last = words.last()?;
    match level(last).0 {
        Some(kind) if !kind.eq_ignore_ascii_case("pu") => Some((
            Some(last),
            format!("its last word is `{last}`, not the PUs of each part, like `pu:1`"),
        )),
        _ => None,
    }
}
