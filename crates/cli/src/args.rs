//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use plimsoll_schema::CpuSet;

/// How much load this machine and the BEAM on it can carry, why not more, and which change helps.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, disable_help_subcommand = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 fine, 1 regression where asked for, 2 wrong usage or bad input, \
3 cannot run here, 130 stopped.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The machine, and where each scheduler lands under every bind type
    Map(MapArgs),
    /// Run a workload under arms and levels: effects, verdict, launch line
    Bench(Box<BenchArgs>),
    /// How many instruments fit the cycle, at what risk
    Capacity(CapacityArgs),
    /// How late processes wake up inside a VM under load; which functions hold a scheduler
    Jitter(Box<crate::jitter::JitterArgs>),
    /// Stored experiments: list, show, compare, export
    Runs(RunsArgs),
    /// Print the manual page
    #[command(hide = true)]
    Man(Output),
    /// Print the completions of a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
}

/// Where output goes.
#[derive(Debug, Args)]
pub struct Output {
    /// Write to FILE instead of printing
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How output looks and where it goes.
#[derive(Debug, Args)]
pub struct Shown {
    /// Print the record as JSON
    #[arg(long)]
    pub json: bool,
    /// No progress, no remarks
    #[arg(long, short)]
    pub quiet: bool,
    /// Where output goes
    #[command(flatten)]
    pub output: Output,
}

/// `plimsoll map`.
#[derive(Debug, Args)]
pub struct MapArgs {
    /// An hwloc XML file (lstopo --of xml) instead of this machine
    #[arg(long, value_name = "FILE", conflicts_with = "synthetic")]
    pub xml: Option<PathBuf>,
    /// An hwloc synthetic description, such as "pack:2 [numa] l3:1 core:22 pu:2"
    #[arg(long, value_name = "STRING")]
    pub synthetic: Option<String>,
    /// Normal schedulers of the VM [default: as many as it would start]
    #[arg(long, value_name = "N")]
    pub schedulers: Option<usize>,
    /// CPUs that the VM may use, such as 0-3,8 [default: all that are allowed]
    #[arg(long, value_name = "LIST")]
    pub cpuset: Option<CpuSet>,
    /// Draw the machine as SVG
    #[arg(long, conflicts_with = "json")]
    pub svg: bool,
    /// How output looks
    #[command(flatten)]
    pub shown: Shown,
}

/// `plimsoll bench`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArgs {
    /// A built-in workload: spin, nif-spin, ets-counter, nuts
    #[arg(value_name = "WORKLOAD", conflicts_with = "command")]
    pub workload: Option<String>,
    /// Your own command, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Bind types to compare, the first is the baseline [default: u and every other distinct placement]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// A further arm, with any settings: --arm 'quiet=OMP_NUM_THREADS=2 +sbwt none' (may be repeated)
    #[arg(long = "arm", value_name = "NAME=WORDS")]
    pub flag_arms: Vec<String>,
    /// Every arm in these execution modes of the workload (nuts: dirty, stepping)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "workload"
    )]
    pub modes: Vec<String>,
    /// Run this workload in the same blocks, as the ceiling that speedups are held against
    #[arg(long, value_name = "WORKLOAD", requires = "workload")]
    pub ceiling: Option<String>,
    /// Concurrent jobs, such as 1,2,4
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1])]
    pub levels: Vec<u32>,
    /// Blocks to run [default: as many as the error rate needs]
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    pub blocks: Option<usize>,
    /// Run as many blocks as fit, for instance 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Length of a run, warm-up included
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s")]
    pub window: Duration,
    /// Chance of any false claim in the experiment
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    pub error_rate: f64,
    /// Seed of the order of runs and of the workload
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Environment of the command; {level}, {seconds} and {seed} are filled in (may be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Take the figure from the command's output: the first group of the last match
    #[arg(long, value_name = "REGEX", requires = "command")]
    pub metric: Option<String>,
    /// What the figure counts, for the tables
    #[arg(long, value_name = "WORD", requires = "command")]
    pub unit: Option<String>,
    /// A command may take this long
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10m")]
    pub timeout: Duration,

    /// Where runs are kept [default: $PLIMSOLL_STORE or the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Go on with an interrupted experiment
    #[arg(long, value_name = "ID", conflicts_with_all = ["workload", "command", "arms", "flag_arms", "levels", "blocks", "budget"])]
    pub resume: Option<i64>,
    /// Also write the report, one HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Exit with 1 when an arm is slower than the baseline
    #[arg(long)]
    pub fail_if_slower: bool,
    /// Say what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Test the statistics on nothing, and measure this machine's noise floor
    #[arg(long, conflicts_with_all = ["workload", "command", "resume"])]
    pub calibrate: bool,
    /// How output looks
    #[command(flatten)]
    pub shown: Shown,
}

const BENCH_HELP: &str = "Workloads:
  spin         pure Elixir integer work on the normal schedulers
  nif-spin     the same arithmetic in a dirty NIF, which binding does not reach
  ets-counter  every process counts in one ETS table
  nuts         one fit of a model by NUTS a job; --modes dirty,stepping says where it runs

A command of your own may print lines {\"plimsoll\":1,\"event\":\"sample\",\"ops\":N,\"seconds\":S};
one that prints none is timed as a whole.";

/// `plimsoll capacity`.
#[derive(Debug, Args)]
pub struct CapacityArgs {
    /// The stored experiment to judge by [default: the newest]
    #[arg(value_name = "ID")]
    pub experiment: Option<i64>,
    /// Length of the cycle in which every instrument must be done
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub cycle: Duration,
    /// Numbers of instruments
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    pub instruments: Vec<u64>,
    /// Accepted chance that a round takes longer than the cycle
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    pub risk: f64,
    /// Jobs per second from elsewhere, such as a published figure
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "experiment"
    )]
    pub from_throughput: Vec<f64>,
    /// A claimed row to check, such as 1000=19.2m (may be repeated); exits with 1 on a contradiction
    #[arg(long, value_name = "N=TIME")]
    pub claimed: Vec<String>,
    /// Where runs are kept [default: $PLIMSOLL_STORE or the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// How output looks
    #[command(flatten)]
    pub shown: Shown,
}

/// `plimsoll runs`.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// What to do with them
    #[command(subcommand)]
    pub what: RunsVerb,
    /// Where runs are kept [default: $PLIMSOLL_STORE or the user's data folder]
    #[arg(long, value_name = "FILE", global = true)]
    pub store: Option<PathBuf>,
}

/// `plimsoll runs …`.
#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// All experiments, newest first
    List(Shown),
    /// One experiment, analysed again
    Show {
        /// Its number
        id: i64,
        /// How output looks
        #[command(flatten)]
        shown: Shown,
    },
    /// Two experiments side by side
    Compare {
        /// The first
        a: i64,
        /// The second
        b: i64,
        /// How output looks
        #[command(flatten)]
        shown: Shown,
    },
    /// One experiment as JSON, CSV (a line a run) or HTML
    Export {
        /// Its number
        id: i64,
        /// What to write
        #[arg(long, value_enum, default_value_t = Format::Json)]
        format: Format,
        /// Where output goes
        #[command(flatten)]
        output: Output,
    },
}

/// Formats of `runs export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The whole record
    Json,
    /// A line a run
    Csv,
    /// The report
    Html,
}

/// `plimsoll completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// For which shell
    pub shell: clap_complete::Shell,
    /// Where output goes
    #[command(flatten)]
    pub output: Output,
}

fn time(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|e| e.to_string()),
    };
    match parsed {
        Ok(time) if time < Duration::from_millis(50) => {
            Err("that is too short to measure anything".to_owned())
        }
        Ok(time) => Ok(time),
        Err(why) => Err(format!("{why}; write it like 90s, 2m or 1m30s")),
    }
}
