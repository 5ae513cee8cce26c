//! Where experiments are kept: one SQLite file, one transaction a run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_schema::{Experiment, Run, Summary};
use rusqlite::{Connection, OptionalExtension, params};

/// Raised when tables change; a store of a newer Plimsoll is refused, not damaged.
const LAYOUT: i64 = 1;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or written.
    #[error("cannot use the store {path}: {why}; choose another with --store FILE")]
    Unusable {
        /// The file.
        path: String,
        /// What the system or SQLite says.
        why: String,
    },
    /// It was written by a newer Plimsoll.
    #[error(
        "the store {path} has layout {found}, this Plimsoll knows up to {LAYOUT}: use the newer Plimsoll that wrote it, or --store FILE"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its layout number.
        found: i64,
    },
    /// There is no such experiment.
    #[error("there is no experiment {0} in the store; `plimsoll runs list` shows those there are")]
    NoSuchExperiment(i64),
    /// A record does not read back.
    #[error("experiment {id} in the store does not read back: {why}")]
    Damaged {
        /// The experiment's number.
        id: i64,
        /// What is wrong.
        why: String,
    },
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: String,
}

/// Where the store is when the user does not say: `$PLIMSOLL_STORE`, else
/// `$XDG_DATA_HOME/plimsoll/runs.db`, else `~/.local/share/plimsoll/runs.db`.
pub fn default_path() -> PathBuf {
    if let Some(path) = std::env::var_os("PLIMSOLL_STORE") {
        return path.into();
    }
    let data = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share")))
        .unwrap_or_else(|| PathBuf::from("."));
    data.join("plimsoll").join("runs.db")
}

impl Store {
    /// Opens the store, making the file and its folder if they are not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let unusable = |why: String| StoreError::Unusable {
            path: path.display().to_string(),
            why,
        };
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| unusable(e.to_string()))?;
        }
        let db = Connection::open(path).map_err(|e| unusable(e.to_string()))?;
        let store = Self {
            db,
            path: path.display().to_string(),
        };
        store.prepare()?;
        Ok(store)
    }

    fn prepare(&self) -> Result<(), StoreError> {
        // Two experiments may run at once, each writing a row a second.
        self.db
            .busy_timeout(Duration::from_secs(10))
            .map_err(|e| self.unusable(e))?;
        self.db
            .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
            .map_err(|e| self.unusable(e))?;
        let found: i64 = self
            .db
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|e| self.unusable(e))?;
        if found > LAYOUT {
            return Err(StoreError::Newer {
                path: self.path.clone(),
                found,
            });
        }
        self.db
            .execute_batch(&format!(
                "BEGIN IMMEDIATE;
                 CREATE TABLE IF NOT EXISTS experiment (
                     id INTEGER PRIMARY KEY AUTOINCREMENT,
                     record TEXT NOT NULL,       -- the experiment as JSON, without its runs
                     elapsed_ms INTEGER NOT NULL DEFAULT 0
                 );
                 CREATE TABLE IF NOT EXISTS run (
                     experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
                     ord INTEGER NOT NULL,
                     record TEXT NOT NULL,
                     PRIMARY KEY (experiment, ord)
                 );
                 PRAGMA user_version = {LAYOUT};
                 COMMIT;"
            ))
            .map_err(|e| self.unusable(e))
    }

    fn unusable(&self, error: rusqlite::Error) -> StoreError {
        StoreError::Unusable {
            path: self.path.clone(),
            why: error.to_string(),
        }
    }

    /// Stores a new experiment and gives it its number.
    pub fn add(&mut self, experiment: &mut Experiment) -> Result<(), StoreError> {
        self.db
            .execute(
                "INSERT INTO experiment (record) VALUES (?1)",
                [without_runs(experiment)],
            )
            .map_err(|e| self.unusable(e))?;
        experiment.id = self.db.last_insert_rowid();
        Ok(())
    }

    /// Stores what has changed in the experiment itself; runs are stored by [`Store::add_run`].
    pub fn update(&mut self, experiment: &Experiment) -> Result<(), StoreError> {
        self.db
            .execute(
                "UPDATE experiment SET record = ?2 WHERE id = ?1",
                params![experiment.id, without_runs(experiment)],
            )
            .map(|_| ())
            .map_err(|e| self.unusable(e))
    }

    /// Stores one run and the time that the experiment has used so far: once this returns, a crash
    /// does not lose it.
    pub fn add_run(
        &mut self,
        experiment: i64,
        run: &Run,
        elapsed: Duration,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let unusable = |e: rusqlite::Error| StoreError::Unusable {
            path: path.clone(),
            why: e.to_string(),
        };
        let transaction = self.db.transaction().map_err(unusable)?;
        transaction
            .execute(
                "INSERT INTO run (experiment, ord, record) VALUES (?1, ?2, ?3)",
                params![experiment, run.order as i64, to_json(run)],
            )
            .map_err(unusable)?;
        transaction
            .execute(
                "UPDATE experiment SET elapsed_ms = ?2 WHERE id = ?1",
                params![experiment, elapsed.as_millis() as i64],
            )
            .map_err(unusable)?;
        transaction.commit().map_err(unusable)
    }

    /// An experiment with all its runs, and the time that they have used.
    pub fn load(&self, id: i64) -> Result<(Experiment, Duration), StoreError> {
        let damaged = |e: serde_json::Error| StoreError::Damaged {
            id,
            why: e.to_string(),
        };
        let (record, elapsed): (String, i64) = self
            .db
            .query_row(
                "SELECT record, elapsed_ms FROM experiment WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(|e| self.unusable(e))?
            .ok_or(StoreError::NoSuchExperiment(id))?;
        let mut experiment: Experiment = serde_json::from_str(&record).map_err(damaged)?;
        let mut rows = self
            .db
            .prepare("SELECT record FROM run WHERE experiment = ?1 ORDER BY ord")
            .map_err(|e| self.unusable(e))?;
        let records = rows
            .query_map([id], |row| row.get::<_, String>(0))
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|e| self.unusable(e))?;
        experiment.runs = records
            .iter()
            .map(|record| serde_json::from_str(record))
            .collect::<Result<_, _>>()
            .map_err(damaged)?;
        experiment.id = id;
        Ok((experiment, Duration::from_millis(elapsed.max(0) as u64)))
    }

    /// All experiments, newest first.
    pub fn list(&self) -> Result<Vec<Summary>, StoreError> {
        let mut rows = self
            .db
            .prepare(
                "SELECT id, record, (SELECT count(*) FROM run WHERE run.experiment = experiment.id)
                 FROM experiment ORDER BY id DESC",
            )
            .map_err(|e| self.unusable(e))?;
        let records = rows
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect::<Result<Vec<(i64, String, i64)>, _>>)
            .map_err(|e| self.unusable(e))?;
        records
            .into_iter()
            .map(|(id, record, runs)| {
                let e: Experiment =
                    serde_json::from_str(&record).map_err(|e| StoreError::Damaged {
                        id,
                        why: e.to_string(),
                    })?;
                Ok(Summary {
                    id,
                    started_at_ms: e.started_at_ms,
                    workload: e.design.workload,
                    status: e.status,
                    arms: e.arms.into_iter().map(|arm| arm.name).collect(),
                    levels: e.levels,
                    runs: runs.max(0) as usize,
                    verdict: e.verdict.map(|v| v.sentence),
                })
            })
            .collect()
    }
}

fn without_runs(experiment: &Experiment) -> String {
    to_json(&Experiment {
        runs: Vec::new(),
        ..experiment.clone()
    })
}

fn to_json<T: serde::Serialize>(record: &T) -> String {
    serde_json::to_string(record).expect("records have string keys and serialise")
}
