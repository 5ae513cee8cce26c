use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The highest CPU number accepted in a list: more than any kernel configuration allows (8 192),
/// small enough that `0-4294967295` cannot exhaust memory.
const MAX_CPU: u32 = 65_535;

/// A set of CPUs by operating-system number, written in Linux list syntax: `0-3,8`.
///
/// ```
/// let set: plimsoll_schema::CpuSet = "8,0-3".parse().unwrap();
/// assert_eq!(set.to_string(), "0-3,8");
/// assert_eq!(set.len(), 5);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: u32) {
        self.0.insert(cpu);
    }

    /// How many CPUs are in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The CPUs that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// The CPUs of `self` that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    /// Whether every CPU of `self` is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl Extend<u32> for CpuSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut first = true;
        while let Some(start) = cpus.next() {
            let mut end = start;
            while cpus.peek() == Some(&(end + 1)) {
                end += 1;
                cpus.next();
            }
            if !first {
                f.write_str(",")?;
            }
            first = false;
            if start == end {
                write!(f, "{start}")?;
            } else {
                write!(f, "{start}-{end}")?;
            }
        }
        Ok(())
    }
}

/// Why a text is not a CPU list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a CPU list: {why}; write it like 0-3,8")]
pub struct ParseCpuSetError {
    /// The whole text as given.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    /// Parses Linux list syntax. The empty text is the empty set, as in `/sys` files.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |why: String| ParseCpuSetError {
            text: text.to_owned(),
            why,
        };
        let number = |word: &str| -> Result<u32, ParseCpuSetError> {
            let n: u32 = word
                .trim()
                .parse()
                .map_err(|_| error(format!("`{word}` is not a CPU number")))?;
            if n > MAX_CPU {
                return Err(error(format!(
                    "{n} is beyond the highest CPU number, {MAX_CPU}"
                )));
            }
            Ok(n)
        };
        let mut set = BTreeSet::new();
        if text.trim().is_empty() {
            return Ok(Self(set));
        }
        for part in text.trim().split(',') {
            match part.split_once('-') {
                None => {
                    set.insert(number(part)?);
                }
                Some((low, high)) => {
                    let (low, high) = (number(low)?, number(high)?);
                    if low > high {
                        return Err(error(format!("the range {low}-{high} runs backwards")));
                    }
                    set.extend(low..=high);
                }
            }
        }
        Ok(Self(set))
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for CpuSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CpuSet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "CPUs by operating-system number in Linux list syntax, for instance 0-3,8",
            "pattern": "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_printed_set_reads_back_as_itself(cpus in proptest::collection::btree_set(0u32..2000, 0..64)) {
            let set: CpuSet = cpus.into_iter().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
        }

        #[test]
        fn no_text_crashes_the_parser(text in "[0-9,\\- a]{0,16}") {
            let _ = text.parse::<CpuSet>();
        }
    }

    #[test]
    fn a_backward_range_names_the_range() {
        let error = "3-1".parse::<CpuSet>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`3-1` is not a CPU list: the range 3-1 runs backwards; write it like 0-3,8"
        );
    }

    #[test]
    fn an_enormous_range_is_refused_instead_of_filling_memory() {
        assert!("0-4294967295".parse::<CpuSet>().is_err());
    }
}
