//! `/proc/self/mountinfo` and `/proc/self/cgroup` (proc(5), cgroups(7)).

use std::path::{Component, Path, PathBuf};

use plimsoll_schema::CgroupVersion;

use crate::Root;

/// One cgroup file system.
pub(super) struct Mount {
    pub version: CgroupVersion,
    /// Which group is at the mount point: `/` unless a container shows a part only.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Super options; for v1 they name the controllers.
    pub options: Vec<String>,
    /// Whether OTP 25 manages to read the line.
    pub old_vm_parses_it: bool,
}

/// Which group of one hierarchy we are in.
pub(super) struct Membership {
    pub version: CgroupVersion,
    pub controllers: Vec<String>,
    pub path: PathBuf,
}

impl Membership {
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|name| name == controller)
    }
}

impl Mount {
    /// Whether it is of the hierarchy in which `membership` is.
    pub fn shows(&self, membership: &Membership) -> bool {
        self.version == membership.version
            && match self.version {
                CgroupVersion::V2 => true,
                CgroupVersion::V1 => membership
                    .controllers
                    .iter()
                    .all(|name| self.options.contains(name)),
            }
    }

    /// Where the group `path` is, relative to the mount point.
    ///
    /// Plainly, `path` lies below the mount's root. Where it does not, the mount was made in
    /// another cgroup namespace than ours, and its names mean something else: the path may then
    /// hold below the mount point as it stands, or the mount point itself is the nearest group
    /// above ours that can be seen. A path that leaves the namespace upwards (`/../…`) is not below
    /// any mount made inside it.
    pub fn path_below(&self, root: &Root, path: &Path) -> Option<PathBuf> {
        let is_there = |below: &Path| root.is_dir(self.point.join(below));
        if let Ok(below) = path.strip_prefix(&self.root)
            && is_there(below)
        {
            return Some(below.to_owned());
        }
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let below = path.strip_prefix("/").unwrap_or(path);
        Some(if is_there(below) {
            below.to_owned()
        } else {
            PathBuf::new()
        })
    }
}

pub(super) fn mounts(root: &Root) -> Vec<Mount> {
    root.read("/proc/self/mountinfo")
        .unwrap_or_default()
        .lines()
        .filter_map(mount)
        .collect()
}

/// `31 23 0:28 ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE SUPER_OPTIONS`
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let right: Vec<&str> = right.split(' ').collect();
    let version = match *right.first()? {
        "cgroup" => CgroupVersion::V1,
        "cgroup2" => CgroupVersion::V2,
        _ => return None,
    };
    let optional = left.get(6..)?;
    Some(Mount {
        version,
        root: unescape(left[3]).into(),
        point: unescape(left[4]).into(),
        options: right.last()?.split(',').map(str::to_owned).collect(),
        old_vm_parses_it: !optional.is_empty() && !optional.iter().any(|word| word.contains('-')),
    })
}

/// Blanks, tabs, newlines and backslashes stand as `\` and three octal digits in mountinfo.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Our groups in the hierarchies that can limit CPUs; the unified hierarchy's line is `0::PATH`.
pub(super) fn memberships(root: &Root) -> Vec<Membership> {
    root.read("/proc/self/cgroup")
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let version = if id == "0" && controllers.is_empty() {
                CgroupVersion::V2
            } else {
                CgroupVersion::V1
            };
            let membership = Membership {
                version,
                controllers: controllers.split(',').map(str::to_owned).collect(),
                path: path.into(),
            };
            (version == CgroupVersion::V2 || membership.has("cpu") || membership.has("cpuset"))
                .then_some(membership)
        })
        .collect()
}
