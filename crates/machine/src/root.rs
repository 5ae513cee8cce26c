use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More than any file that is read here has; a stray FIFO or device behind a path cannot fill memory.
const MAX_FILE: u64 = 4 << 20;

/// Where `/sys` and `/proc` are found: `/` on a real system, a folder in tests.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl Root {
    /// The tree under `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The real place of the absolute path `path`.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a file without surrounding blanks; `None` when it cannot be read, which for
    /// kernel files means "not available here".
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path))
            .ok()?
            .take(MAX_FILE)
            .read_to_end(&mut bytes)
            .ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The same, parsed; `None` also when the text is not such a value.
    pub(crate) fn parse<T: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The names in a folder, sorted; empty when it cannot be read.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn is_dir(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).is_dir()
    }
}
