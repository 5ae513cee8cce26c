//! Which processes descend from a process, and what CPU time each one has used.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// `/proc/PID/stat` or `/proc/PID/task/TID/stat`, the members that are used. Times in clock ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The name, at most 15 bytes.
    pub comm: String,
    pub parent: u32,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub user: u64,
    pub system: u64,
    /// User and system time of children that were waited for, and of theirs.
    pub reaped: u64,
    /// When it started, in ticks since boot: tells a reused number from the one before.
    pub start: u64,
}

impl Stat {
    /// User and system time, without children.
    pub fn ticks(&self) -> u64 {
        self.user.saturating_add(self.system)
    }
}

/// Reads a `stat` file; `None` = not of that form.
pub(crate) fn parse_stat(text: &str) -> Option<Stat> {
    // The name may contain anything, parentheses and spaces included: it ends at the last one.
    let (head, tail) = text.rsplit_once(')')?;
    let (_, comm) = head.split_once('(')?;
    // Numbering of proc(5): the first member after the name is (3), the state.
    let members: Vec<&str> = tail.split_ascii_whitespace().collect();
    let member = |number: usize| members.get(number - 3)?.parse::<u64>().ok();
    // Times of waited-for children are signed in the kernel's format.
    let signed = |number: usize| {
        let value = members.get(number - 3)?.parse::<i64>().ok()?;
        Some(u64::try_from(value).unwrap_or(0))
    };
    Some(Stat {
        comm: comm.to_owned(),
        parent: u32::try_from(member(4)?).ok()?,
        minor_faults: member(10)?,
        major_faults: member(12)?,
        user: member(14)?,
        system: member(15)?,
        reaped: signed(16)?.saturating_add(signed(17)?),
        start: member(22)?,
    })
}

/// A process by number and start: numbers are reused.
pub(crate) type ProcessKey = (u32, u64);

/// A process that was seen, alive or not.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    /// The process that started it; `None` = it is the one that is watched.
    parent: Option<ProcessKey>,
    /// Generations below the watched process.
    pub depth: usize,
    pub alive: bool,
    stat: Stat,
}

/// A process and every descendant that was ever seen.
#[derive(Debug)]
pub(crate) struct Family {
    members: BTreeMap<ProcessKey, Process>,
}

impl Family {
    /// The family of process `root`; `None` = there is no such process. `proc`: where procfs is.
    pub fn of(proc: &Path, root: u32) -> Option<Self> {
        let stat = process_stat(proc, root)?;
        let founder = Process {
            parent: None,
            depth: 0,
            alive: true,
            stat,
        };
        let mut family = Self {
            members: BTreeMap::from([((root, founder.stat.start), founder)]),
        };
        family.look(proc);
        Some(family)
    }

    /// Looks again. A process whose parent has ended is still followed.
    pub fn look(&mut self, proc: &Path) {
        let mut queue: Vec<ProcessKey> = self.alive().map(|(key, _)| key).collect();
        // Only where the kernel was built without `children` files is the whole of procfs read.
        let mut parents = None;
        while let Some(key) = queue.pop() {
            let Some(process) = self.members.get_mut(&key) else {
                continue;
            };
            match process_stat(proc, key.0) {
                Some(stat) if stat.start == key.1 => process.stat = stat,
                _ => {
                    process.alive = false;
                    continue;
                }
            }
            let depth = process.depth + 1;
            let children = children(proc, key.0).unwrap_or_else(|| {
                let parents = parents.get_or_insert_with(|| children_by_parent(proc));
                parents.get(&key.0).cloned().unwrap_or_default()
            });
            for child in children {
                let same_number = self.members.range((child, 0)..=(child, u64::MAX));
                if same_number.into_iter().any(|(_, process)| process.alive) {
                    continue;
                }
                let Some(stat) = process_stat(proc, child) else {
                    continue;
                };
                let child = (child, stat.start);
                // Looking at it twice is harmless; replacing a member that has ended is not.
                self.members.entry(child).or_insert_with(|| {
                    queue.push(child);
                    Process {
                        parent: Some(key),
                        depth,
                        alive: true,
                        stat,
                    }
                });
            }
        }
    }

    /// The processes that were there at the last look.
    pub fn alive(&self) -> impl Iterator<Item = (ProcessKey, &Process)> {
        self.members
            .iter()
            .filter(|(_, process)| process.alive)
            .map(|(key, process)| (*key, process))
    }

    /// CPU time of the whole family since its processes started, in clock ticks: what each process
    /// used, and for children that have ended the larger of what was last seen of them and what
    /// their parent was told (it knows of those too that came and went between two looks).
    pub fn ticks(&self) -> u64 {
        // For each process: time of its ended children, and of those still there.
        let mut children: BTreeMap<ProcessKey, (u64, u64)> = BTreeMap::new();
        let mut by_depth: Vec<_> = self.members.iter().collect();
        by_depth.sort_by_key(|(_, process)| std::cmp::Reverse(process.depth));
        let mut family = 0_u64;
        for (key, process) in by_depth {
            let (ended, present) = children.get(key).copied().unwrap_or_default();
            let ended = ended.max(process.stat.reaped);
            let total = [process.stat.ticks(), ended, present]
                .into_iter()
                .fold(0, u64::saturating_add);
            match process.parent {
                None => family = family.saturating_add(total),
                Some(parent) => {
                    let (ended, present) = children.entry(parent).or_default();
                    let sum = if process.alive { present } else { ended };
                    *sum = sum.saturating_add(total);
                }
            }
        }
        family
    }
}

fn process_stat(proc: &Path, pid: u32) -> Option<Stat> {
    parse_stat(&read(&proc.join(format!("{pid}/stat")))?)
}

/// The text of a procfs file; `None` = not there, not permitted, or gone meanwhile. Names of
/// threads may hold any bytes.
pub(crate) fn read(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
    )
}

/// The numbers in the names of a directory.
pub(crate) fn numbers(directory: &Path) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The children of all threads of a process; `None` = the kernel has no such files.
fn children(proc: &Path, pid: u32) -> Option<Vec<u32>> {
    let tasks = proc.join(format!("{pid}/task"));
    let mut all = Vec::new();
    let mut seen = false;
    for thread in numbers(&tasks) {
        if let Some(text) = read(&tasks.join(format!("{thread}/children"))) {
            seen = true;
            all.extend(
                text.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
    }
    seen.then_some(all)
}

fn children_by_parent(proc: &Path) -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in numbers(proc) {
        if let Some(stat) = process_stat(proc, pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_crashes_the_reader_of_stat(text in any::<String>()) {
            let _ = parse_stat(&text);
        }

        #[test]
        fn no_damaged_stat_crashes_its_reader(name in ".{0,20}", members in "[-0-9A-Z ]{0,200}") {
            let _ = parse_stat(&format!("1 ({name}) {members}"));
        }

        #[test]
        fn any_name_leaves_the_members_in_place(name in "[^\\x00]{0,15}") {
            let line = format!("7 ({name}) S 3 7 7 0 -1 0 11 12 13 14 15 16 -1 18 20 0 1 0 99 0 0");
            let stat = parse_stat(&line).unwrap();
            prop_assert_eq!(stat, Stat {
                comm: name,
                parent: 3,
                minor_faults: 11,
                major_faults: 13,
                user: 15,
                system: 16,
                reaped: 18,
                start: 99,
            });
        }
    }

    /// A procfs with processes `(pid, parent, user ticks, reaped ticks)`; all start at their pid.
    fn fabricate(root: &Path, with_children: bool, processes: &[(u32, u32, u64, u64)]) {
        let _ = fs::remove_dir_all(root);
        for &(pid, parent, user, reaped) in processes {
            let task = root.join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            let line = format!(
                "{pid} (x) S {parent} 0 0 0 0 0 0 0 0 0 {user} 0 {reaped} 0 0 0 1 0 {pid} 0"
            );
            fs::write(root.join(format!("{pid}/stat")), line).unwrap();
            if with_children {
                let of_this = processes
                    .iter()
                    .filter(|p| p.1 == pid)
                    .map(|p| p.0.to_string());
                fs::write(task.join("children"), of_this.collect::<Vec<_>>().join(" ")).unwrap();
            }
        }
    }

    fn pids(family: &Family) -> Vec<u32> {
        family.alive().map(|((pid, _), _)| pid).collect()
    }

    #[test]
    fn descendants_are_found_with_and_without_children_files() {
        let root = tempfile::tempdir().unwrap();
        for with_children in [true, false] {
            fabricate(
                root.path(),
                with_children,
                &[
                    (1, 0, 9, 0),
                    (5, 1, 1, 0),
                    (6, 5, 1, 0),
                    (7, 6, 1, 0),
                    (8, 1, 1, 0),
                ],
            );
            assert_eq!(pids(&Family::of(root.path(), 5).unwrap()), [5, 6, 7]);
        }
        assert!(Family::of(root.path(), 99).is_none());
    }

    #[test]
    fn an_orphan_is_still_followed_and_a_reused_number_is_not() {
        let root = tempfile::tempdir().unwrap();
        fabricate(
            root.path(),
            true,
            &[(1, 0, 0, 0), (5, 1, 1, 0), (6, 5, 1, 0), (7, 6, 10, 0)],
        );
        let mut family = Family::of(root.path(), 5).unwrap();
        // 6 has ended, unnoticed by 5; 7 now belongs to 1.
        fabricate(
            root.path(),
            true,
            &[(1, 0, 0, 0), (5, 1, 1, 0), (7, 1, 10, 0)],
        );
        family.look(root.path());
        assert_eq!(pids(&family), [5, 7]);
        assert_eq!(family.ticks(), 12);
        // A stranger has taken number 7.
        let stranger = "7 (x) S 1 0 0 0 0 0 0 0 0 0 500 0 0 0 0 0 1 0 1234 0";
        fs::write(root.path().join("7/stat"), stranger).unwrap();
        family.look(root.path());
        assert_eq!(pids(&family), [5]);
        assert_eq!(family.ticks(), 12);
    }

    #[test]
    fn time_of_children_counts_once_whether_they_were_seen_or_only_reaped() {
        let root = tempfile::tempdir().unwrap();
        fabricate(root.path(), true, &[(5, 1, 100, 0), (6, 5, 10, 0)]);
        let mut family = Family::of(root.path(), 5).unwrap();
        assert_eq!(family.ticks(), 110);
        // 6 has used 2 more before its end; another child was never seen and used 3.
        fabricate(root.path(), true, &[(5, 1, 100, 15)]);
        family.look(root.path());
        assert_eq!(family.ticks(), 115);
    }
}
