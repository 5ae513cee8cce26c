//! The executor that starts real processes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use plimsoll_beam::Session;
use plimsoll_probe::{Observation, Watch};
use plimsoll_schema::{Arm, Design, Run, RunStatus, Sample};
use plimsoll_stats::warmup;
use plimsoll_workload::{Event, Fill, Metric, fill, parse_message};

use crate::executor::{Executor, RunError};
use crate::runner::Stop;
use crate::schedule::Planned;

/// How often the probe looks. A look costs well under a millisecond, and a run lasts a second.
const PROBE_EVERY: Duration = Duration::from_millis(100);
/// A workload that keeps to the protocol ends by itself; this much later it hangs.
const GRACE: Duration = Duration::from_secs(30);
/// The most output that is kept of a run: enough for a metric in the last lines.
const KEPT_OUTPUT: usize = 64 * 1024;
/// The environment's size moves the stack, and with it a program's speed: so it is varied (Mytkowicz
/// et al., "Producing wrong data without doing anything obviously wrong", 2009).
const PADDING: u64 = 4096;

/// What is run.
#[derive(Debug, Clone)]
pub struct Programme {
    /// The command's words, placeholders included.
    pub words: Vec<String>,
    /// The words of the built-in workloads that ceiling arms run, by name.
    pub ceilings: BTreeMap<String, Vec<String>>,
    /// Environment settings, placeholders included.
    pub environment: BTreeMap<String, String>,
    /// Where the figure comes from when the command does not speak the workload protocol.
    pub metric: Option<Metric>,
    /// A command that is not a workload of ours may take this long.
    pub timeout: Duration,
}

/// Starts a fresh process for every run.
#[derive(Debug)]
pub struct ProcessExecutor {
    programme: Programme,
    stop: Stop,
}

/// What came out of a process.
#[derive(Default)]
struct Output {
    samples: Vec<Sample>,
    done: Option<Sample>,
    job_median_ms: Option<f64>,
    job_p95_ms: Option<f64>,
    tail: String,
    malformed: Option<String>,
}

enum Ended {
    Exited(ExitStatus),
    TimedOut,
}

impl ProcessExecutor {
    /// An executor that gives up the run in progress when `stop` is requested.
    pub fn new(programme: Programme, stop: Stop) -> Self {
        Self { programme, stop }
    }

    fn command(
        &self,
        design: &Design,
        arm: &Arm,
        planned: &Planned,
        session: &Session,
    ) -> Result<Command, RunError> {
        let values = Fill {
            level: planned.level,
            seconds: design.window_seconds,
            seed: planned.seed,
        };
        let words = match &arm.ceiling {
            None => &self.programme.words,
            Some(workload) => self.programme.ceilings.get(workload).ok_or_else(|| {
                RunError::Setup(format!("the workload `{workload}` is not known"))
            })?,
        };
        let filled = fill(words, &self.programme.environment, &values)
            .map_err(|e| RunError::Setup(e.to_string()))?;
        let (program, arguments) = filled
            .words
            .split_first()
            .ok_or_else(|| RunError::Setup("the command is empty".to_owned()))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(filled.env)
            .envs(&arm.env)
            .envs(session.environment(&arm.vm_flags))
            .env(
                "PLIMSOLL_PADDING",
                "x".repeat((planned.seed % PADDING) as usize),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: everything that the command starts ends with it.
            .process_group(0);
        Ok(command)
    }

    /// Reads events until the process ends, is too late or the user stops.
    fn follow(
        &self,
        child: &mut Child,
        lines: &Receiver<String>,
        probe: &mut Probe,
        session: &Session,
        deadline: Instant,
        output: &mut Output,
    ) -> Result<Ended, RunError> {
        loop {
            match lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => {
                    let first = output.samples.is_empty();
                    if output.take(&line) && first {
                        probe.begin();
                        session
                            .begin_window()
                            .map_err(|e| RunError::Setup(e.to_string()))?;
                    }
                    if output.done.is_some() {
                        probe.end();
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(2)),
            }
            if self.stop.requested() {
                end_group(child);
                return Err(RunError::Stopped);
            }
            if has_ended(child) {
                // Before it is reaped: a zombie still has its totals.
                probe.end();
                let status = child.wait().map_err(|e| RunError::Setup(e.to_string()))?;
                // The pipe may still hold lines; a grandchild that keeps it open does not hold us.
                while let Ok(line) = lines.recv_timeout(Duration::from_millis(50)) {
                    output.take(&line);
                }
                end_group(child);
                return Ok(Ended::Exited(status));
            }
            if Instant::now() > deadline {
                end_group(child);
                return Ok(Ended::TimedOut);
            }
        }
    }
}

impl Executor for ProcessExecutor {
    fn execute(&mut self, design: &Design, arm: &Arm, planned: &Planned) -> Result<Run, RunError> {
        let session = Session::new().map_err(|e| RunError::Setup(e.to_string()))?;
        let mut command = self.command(design, arm, planned, &session)?;
        let started_at_ms = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |d| d.as_millis() as u64);
        let start = Instant::now();
        let mut child = command.spawn().map_err(|e| RunError::CannotStart {
            program: command.get_program().to_string_lossy().into_owned(),
            why: e.to_string(),
        })?;
        let mut probe = match Watch::start(child.id(), PROBE_EVERY) {
            Ok(watch) => Probe::Watching(watch),
            Err(e) => {
                end_group(&mut child);
                return Err(RunError::Setup(e.to_string()));
            }
        };
        let lines = line_reader(child.stdout.take().expect("stdout is piped"));
        let errors = tail_reader(child.stderr.take().expect("stderr is piped"));
        let mut output = Output::default();
        let limit = if design.command.is_empty() {
            Duration::from_secs_f64(design.window_seconds * 2.0) + GRACE
        } else {
            self.programme.timeout
        };
        let ended = self.follow(
            &mut child,
            &lines,
            &mut probe,
            &session,
            start + limit,
            &mut output,
        );
        let wall = start.elapsed();
        let Observation {
            evidence,
            scheduler_masks,
            ..
        } = probe.observation();
        let ended = ended?;
        let facts = session
            .facts()
            .map_err(|e| RunError::Setup(e.to_string()))?;
        let figure = match ended {
            Ended::TimedOut => Err(format!(
                "it had not ended after {:.0} s",
                limit.as_secs_f64()
            )),
            Ended::Exited(status) if !status.success() => {
                Err(format!("it ended with {status}{}", quoted(&errors.text())))
            }
            Ended::Exited(_) => output.figure(self.programme.metric.as_ref(), wall),
        };
        let mut vm = facts;
        if let Some(vm) = &mut vm {
            vm.masks = scheduler_masks;
        }
        let (status, figure) = match figure {
            Ok(figure) => (RunStatus::Ok, Some(figure)),
            Err(why) => (RunStatus::Failed { why }, None),
        };
        Ok(Run {
            block: planned.block,
            order: planned.order,
            arm: arm.name.clone(),
            level: planned.level,
            seed: planned.seed,
            status,
            started_at_ms,
            ops_per_second: figure.as_ref().map(|f| f.ops_per_second),
            warmup_seconds: figure.as_ref().map_or(0.0, |f| f.warmup_seconds),
            measured_seconds: figure.as_ref().map_or(0.0, |f| f.measured_seconds),
            steady: figure.as_ref().is_some_and(|f| f.steady),
            job_median_ms: output.job_median_ms,
            job_p95_ms: output.job_p95_ms,
            samples: output.samples,
            evidence,
            vm,
        })
    }
}

/// The probe: from the first sample until the workload says that it is done, so that the VM's start
/// and end are not counted.
enum Probe {
    Watching(Watch),
    Ended(Observation),
}

impl Probe {
    fn begin(&self) {
        if let Self::Watching(watch) = self {
            watch.begin_window();
        }
    }

    fn end(&mut self) {
        if let Self::Watching(_) = self
            && let Self::Watching(watch) =
                std::mem::replace(self, Self::Ended(Observation::default()))
        {
            *self = Self::Ended(watch.finish());
        }
    }

    fn observation(mut self) -> Observation {
        self.end();
        match self {
            Self::Ended(observation) => observation,
            Self::Watching(_) => Observation::default(),
        }
    }
}

struct Figure {
    ops_per_second: f64,
    warmup_seconds: f64,
    measured_seconds: f64,
    steady: bool,
}

impl Output {
    /// Takes one line; true when it was an event of the protocol.
    fn take(&mut self, line: &str) -> bool {
        let message = parse_message(line);
        if let Ok(Some(message)) = &message {
            let number = |name: &str| message.extra.get(name).and_then(|value| value.as_f64());
            self.job_median_ms = number("job_median_ms");
            self.job_p95_ms = number("job_p95_ms");
        }
        match message.map(|message| message.map(|m| m.event)) {
            Ok(None) => {
                self.tail.push_str(line);
                self.tail.push('\n');
                if self.tail.len() > 2 * KEPT_OUTPUT {
                    let cut = self.tail.ceil_char_boundary(self.tail.len() - KEPT_OUTPUT);
                    self.tail.drain(..cut);
                }
                false
            }
            Ok(Some(Event::Warm)) => {
                // The workload knows better than we when it is warm.
                self.samples.clear();
                true
            }
            Ok(Some(Event::Sample { ops, seconds })) => {
                self.samples.push(Sample { ops, seconds });
                true
            }
            Ok(Some(Event::Done { ops, seconds })) => {
                self.done = Some(Sample { ops, seconds });
                true
            }
            Err(e) => {
                self.malformed.get_or_insert(e.to_string());
                true
            }
        }
    }

    /// The run's figure: from samples after warm-up, else the totals of `done`, else the metric, else
    /// the wall time of the whole command.
    fn figure(&self, metric: Option<&Metric>, wall: Duration) -> Result<Figure, String> {
        if let Some(why) = &self.malformed {
            return Err(why.clone());
        }
        let whole = |ops: f64, seconds: f64| Figure {
            ops_per_second: ops / seconds,
            warmup_seconds: 0.0,
            measured_seconds: seconds,
            steady: true,
        };
        if let Some(metric) = metric {
            let value = metric.figure(&self.tail).map_err(|e| e.to_string())?;
            let seconds = wall.as_secs_f64();
            return Ok(Figure {
                ops_per_second: value,
                ..whole(value, seconds)
            });
        }
        if !self.samples.is_empty() {
            let rates: Vec<f64> = self.samples.iter().map(|s| s.ops / s.seconds).collect();
            let lengths: Vec<f64> = self.samples.iter().map(|s| s.seconds).collect();
            let warm = warmup(&rates, &lengths);
            let seconds =
                |samples: &[Sample]| samples.iter().map(|s| s.seconds).fold(0.0, |a, b| a + b);
            let (left_out, kept) = self.samples.split_at(warm.skip);
            let ops: f64 = kept.iter().map(|s| s.ops).sum();
            if ops <= 0.0 {
                return Err(
                    "no work was completed in the window: use a longer one (--window 5s)"
                        .to_owned(),
                );
            }
            return Ok(Figure {
                ops_per_second: ops / seconds(kept),
                warmup_seconds: seconds(left_out),
                measured_seconds: seconds(kept),
                steady: warm.steady,
            });
        }
        match self.done {
            Some(done) if done.ops > 0.0 && done.seconds > 0.0 => Ok(whole(done.ops, done.seconds)),
            Some(_) => Err("the workload reported no completed work".to_owned()),
            None => Ok(whole(1.0, wall.as_secs_f64())),
        }
    }
}

/// Lines of a stream as they come, without ever holding more than `KEPT_OUTPUT` of one line. The
/// thread ends with the stream; nobody waits for it, because a daemon may hold the stream open.
fn line_reader(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            match reader
                .by_ref()
                .take(KEPT_OUTPUT as u64)
                .read_until(b'\n', &mut line)
            {
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    if send.send(text).is_err() {
                        break;
                    }
                }
            }
        }
    });
    receive
}

/// The last part of a stream, as far as it has come.
struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn tail_reader(mut stream: impl Read + Send + 'static) -> Tail {
    let tail = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut chunk) {
            let mut tail = shared.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&chunk[..n]);
            if tail.len() > 2 * KEPT_OUTPUT {
                let cut = tail.len() - KEPT_OUTPUT;
                tail.drain(..cut);
            }
        }
    });
    Tail(tail)
}

/// Its last line, for an error message.
fn quoted(errors: &str) -> String {
    errors
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .map_or(String::new(), |line| format!("; it said: {}", line.trim()))
}

/// Whether the child has ended, without reaping it.
fn has_ended(child: &Child) -> bool {
    // SAFETY: `siginfo_t` is plain data, and `waitid` writes it; with WNOWAIT the child stays a zombie.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, child.id(), &mut info, options) == 0 && info.si_pid() != 0
    }
}

/// Ends the child and whatever it started.
fn end_group(child: &mut Child) {
    let group = child.id() as i32;
    // SAFETY: `kill` takes plain integers; the group is the one that this child was made leader of,
    // and the child has not been reaped into a reusable id before this call's `wait`.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    let _ = child.wait();
}
