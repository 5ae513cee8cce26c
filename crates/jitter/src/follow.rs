//! One VM from its start to its end, watched from outside.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_lab::Stop;
use plimsoll_schema::{HeldAt, JitterStatus, JitterVm};

use crate::audit::AuditEvent;
use crate::event::{Beat, Begin, Done, Event, parse};
use crate::lab::JitterError;
use crate::tally::Tally;

/// Longest line that is read: a stalled VM reports all its missed wake-ups in one.
const LONGEST_LINE: u64 = 256 << 20;
/// A VM that has said all it has to say is not waited for longer: a native call may hold it.
const FAREWELL: Duration = Duration::from_secs(2);
const KEPT_ERRORS: usize = 16 << 10;
/// Places that are told apart; what is beyond is counted under one name.
const MOST_PLACES: usize = 200;

/// How long a VM may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To its first line.
    pub boot: Duration,
    /// From one line to the next: a longer silence means that its schedulers are blocked.
    pub patience: Duration,
    /// Until it is through with its schedule.
    pub whole: Duration,
}

/// What was seen of a VM.
#[derive(Debug)]
pub struct Followed {
    /// How it ended.
    pub status: JitterStatus,
    /// What it said of itself.
    pub vm: Option<JitterVm>,
    /// Its wake-ups; `None`: it never began.
    pub tally: Option<Tally>,
    /// Longest time between two heartbeats, as seen from here.
    pub longest_silence: Option<Duration>,
    /// Share of the time in which scheduler threads wanted a CPU and had none.
    pub cpu_wait_share: Option<f64>,
    pub(crate) beats: Beats,
    pub(crate) done: Option<Done>,
    pub(crate) audit: Option<AuditEvent>,
}

/// Sums over the heartbeats.
#[derive(Debug, Default)]
pub(crate) struct Beats {
    pub count: u64,
    pub run_queue: f64,
    pub dirty_run_queue: f64,
    pub long_schedules: u64,
    pub longest_schedule_ms: Option<u64>,
    pub long_gcs: u64,
    pub longest_gc_ms: Option<u64>,
    places: BTreeMap<String, (u64, u64)>,
}

impl Beats {
    fn take(&mut self, beat: Beat) {
        self.count += 1;
        self.run_queue += beat.run_queue;
        self.dirty_run_queue += beat.dirty_run_queue;
        self.long_schedules += beat.long_count;
        self.long_gcs += beat.gc_ms.len() as u64;
        self.longest_gc_ms = self.longest_gc_ms.max(beat.gc_ms.into_iter().max());
        for (ms, place) in beat.long {
            self.longest_schedule_ms = self.longest_schedule_ms.max(Some(ms));
            let known = self.places.len() < MOST_PLACES || self.places.contains_key(&place);
            let place = if known { place } else { "elsewhere".to_owned() };
            let (count, worst) = self.places.entry(place).or_default();
            *count += 1;
            *worst = ms.max(*worst);
        }
    }

    /// The `most` places where schedulers were held most often.
    pub fn held_at(&self, most: usize) -> Vec<HeldAt> {
        let mut places: Vec<HeldAt> = self
            .places
            .iter()
            .map(|(place, &(count, worst_ms))| HeldAt {
                place: place.clone(),
                count,
                worst_ms,
            })
            .collect();
        places.sort_by_key(|p| std::cmp::Reverse((p.count, p.worst_ms)));
        places.truncate(most);
        places
    }
}

/// Starts `command`, reads its lines and ends it, with everything that it started, when it is through,
/// silent for too long, or the user stops.
///
/// # Errors
/// The command cannot be started; it says that it cannot run here, or that what was asked for makes no
/// sense; the user stopped.
pub fn follow(mut command: Command, limits: Limits, stop: &Stop) -> Result<Followed, JitterError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn().map_err(|e| JitterError::CannotStart {
        program: command.get_program().to_string_lossy().into_owned(),
        why: e.to_string(),
    })?;
    let lines = line_reader(child.stdout.take().expect("stdout is piped"));
    let errors = tail_reader(child.stderr.take().expect("stderr is piped"));
    let mut watch = Watch::new(child.id());
    let ended = watch.until_end(&mut child, &lines, limits, stop);
    // Whatever the command started ends with it.
    end_group(&mut child);
    watch.followed(ended?, &text(&errors))
}

enum Ended {
    Exited(ExitStatus),
    /// It said `done` and was not waited for.
    Through,
    Silent {
        since: Instant,
        cpu: Option<f64>,
    },
    TooLong,
    Nonsense(String),
}

/// What the watchdog knows.
struct Watch {
    process: u32,
    begin: Option<(Begin, Instant)>,
    tally: Option<Tally>,
    beats: Beats,
    done: Option<(Done, Instant)>,
    audit: Option<AuditEvent>,
    /// The last sign of life, and the CPU time used until then.
    alive: Instant,
    cpu: Option<f64>,
    /// Time on and time waiting for a CPU of the scheduler threads, at the begin and last.
    schedulers: Option<[(u64, u64); 2]>,
    longest_silence: Option<Duration>,
}

impl Watch {
    fn new(process: u32) -> Self {
        Self {
            process,
            begin: None,
            tally: None,
            beats: Beats::default(),
            done: None,
            audit: None,
            alive: Instant::now(),
            cpu: None,
            schedulers: None,
            longest_silence: None,
        }
    }

    fn until_end(
        &mut self,
        child: &mut Child,
        lines: &Receiver<String>,
        limits: Limits,
        stop: &Stop,
    ) -> Result<Ended, JitterError> {
        let start = Instant::now();
        loop {
            match lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => {
                    if let Err(why) = self.take(&line) {
                        return Ok(Ended::Nonsense(why));
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(2)),
            }
            if stop.requested() {
                return Err(JitterError::Stopped);
            }
            if let Some(status) = child
                .try_wait()
                .map_err(|e| JitterError::Watch(e.to_string()))?
            {
                while let Ok(line) = lines.recv_timeout(Duration::from_millis(50)) {
                    if let Err(why) = self.take(&line) {
                        return Ok(Ended::Nonsense(why));
                    }
                }
                return Ok(Ended::Exited(status));
            }
            if let Some((_, at)) = &self.done {
                if at.elapsed() > FAREWELL {
                    return Ok(Ended::Through);
                }
                continue;
            }
            let patience = if self.begin.is_some() {
                limits.patience
            } else {
                limits.boot
            };
            if self.alive.elapsed() > patience {
                let cpu = cpu_seconds(self.process)
                    .zip(self.cpu)
                    .map(|(now, then)| now - then);
                return Ok(Ended::Silent {
                    since: self.alive,
                    cpu,
                });
            }
            if start.elapsed() > limits.whole {
                return Ok(Ended::TooLong);
            }
        }
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let event = match parse(line) {
            None => return Ok(()),
            Some(Err(e)) => return Err(format!("the VM's line cannot be read: {e}")),
            Some(Ok(event)) => event,
        };
        let now = Instant::now();
        match event {
            Event::Begin(begin) => {
                self.tally = Some(Tally::new(begin.probes, begin.period_us, begin.window_us));
                self.begin = Some((begin, now));
            }
            Event::Beat(beat) => {
                if self.done.is_none() {
                    let silence = now - self.alive;
                    self.longest_silence = self.longest_silence.max(Some(silence));
                }
                if let Some(tally) = &mut self.tally {
                    tally.beat(beat.at_us);
                    for (probe, from, late) in &beat.late {
                        tally.record(*probe, *from, late)?;
                    }
                }
                self.beats.take(beat);
            }
            Event::Audit(audit) => self.audit = Some(audit),
            Event::Done(done) => self.done = Some((done, now)),
        }
        self.alive = now;
        self.cpu = cpu_seconds(self.process);
        if let Some(last) = scheduler_times(self.process) {
            let first = self.schedulers.map_or(last, |[first, _]| first);
            self.schedulers = Some([first, last]);
        }
        Ok(())
    }

    fn followed(mut self, ended: Ended, errors: &str) -> Result<Followed, JitterError> {
        let status = match ended {
            Ended::Exited(_) | Ended::Through if self.done.is_some() => JitterStatus::Ok,
            Ended::Exited(status) => match status.code() {
                Some(2) => return Err(JitterError::Usage(said(errors))),
                Some(3) => return Err(JitterError::CannotRun(said(errors))),
                _ => failed(format!(
                    "the VM ended with {status}; it said: {}",
                    said(errors)
                )),
            },
            Ended::Silent { since, cpu } if self.begin.is_some() => {
                self.cut_off();
                let seconds = since.elapsed().as_secs_f64();
                self.longest_silence = self.longest_silence.max(Some(since.elapsed()));
                JitterStatus::Blocked {
                    seconds,
                    cpu_seconds: cpu,
                }
            }
            Ended::Silent { since, .. } => failed(format!(
                "the VM said nothing for {:.0} s after its start; it said: {}",
                since.elapsed().as_secs_f64(),
                said(errors)
            )),
            Ended::Through | Ended::TooLong => failed(
                "the VM was alive but did not get through its schedule: use fewer probes"
                    .to_owned(),
            ),
            Ended::Nonsense(why) => failed(why),
        };
        Ok(Followed {
            status,
            vm: self.begin.map(|(begin, _)| JitterVm {
                otp_release: begin.otp_release,
                erts: begin.erts,
                emulator_flavour: begin.emulator_flavour,
                schedulers_online: begin.schedulers_online,
                dirty_cpu_online: begin.dirty_cpu_online,
            }),
            tally: self.tally,
            longest_silence: self.longest_silence,
            cpu_wait_share: self.schedulers.and_then(|[first, last]| {
                let (ran, waited) = (last.0.checked_sub(first.0)?, last.1.checked_sub(first.1)?);
                (ran + waited > 0).then(|| waited as f64 / (ran + waited) as f64)
            }),
            beats: self.beats,
            done: self.done.map(|(done, _)| done),
            audit: self.audit,
        })
    }

    fn cut_off(&mut self) {
        if let (Some(tally), Some((begin, at))) = (&mut self.tally, &self.begin) {
            let since_begin = i64::try_from(at.elapsed().as_micros()).unwrap_or(i64::MAX);
            tally.cut_off(since_begin - begin.settle_us);
        }
    }
}

fn failed(why: String) -> JitterStatus {
    JitterStatus::Failed { why }
}

/// The last thing that it said, without our own name in front.
fn said(errors: &str) -> String {
    let line = errors
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("nothing");
    let own = errors
        .lines()
        .find_map(|line| line.strip_prefix("plimsoll: "));
    own.unwrap_or(line).trim().to_owned()
}

/// CPU time of a process, all its threads: fields 14 and 15 of `/proc/PID/stat`, after the name, which
/// may hold anything.
fn cpu_seconds(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let user: f64 = fields.nth(11)?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    // SAFETY: `sysconf` takes a plain integer.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then(|| (user + system) / ticks as f64)
}

/// Nanoseconds on a CPU and nanoseconds waiting for one, summed over the normal and dirty CPU schedulers
/// of a VM: the first two fields of `/proc/PID/task/TID/schedstat`. Their threads are called `1_scheduler`
/// and `1_dirty_cpu_sch` up to OTP 25, `erts_sched_1` and `erts_dcpus_1` from OTP 26 on.
fn scheduler_times(process: u32) -> Option<(u64, u64)> {
    let mut sums = None;
    for task in std::fs::read_dir(format!("/proc/{process}/task"))
        .ok()?
        .flatten()
    {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).ok();
        let Some(name) = read("comm") else { continue };
        let scheduler = ["_scheduler", "_dirty_cpu_sch", "erts_sched_", "erts_dcpus_"];
        if !scheduler.iter().any(|part| name.contains(part)) {
            continue;
        }
        let Some(times) = read("schedstat") else {
            continue;
        };
        let mut fields = times
            .split_whitespace()
            .map(|field| field.parse::<u64>().ok());
        if let (Some(Some(ran)), Some(Some(waited))) = (fields.next(), fields.next()) {
            let (all_ran, all_waited) = sums.unwrap_or((0, 0));
            sums = Some((all_ran + ran, all_waited + waited));
        }
    }
    sums
}

/// Lines as they come. The thread ends with the stream; nobody waits for it, because something that
/// the VM started may hold it open.
fn line_reader(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            match reader
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)
            {
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    if send
                        .send(String::from_utf8_lossy(&line).trim_end().to_owned())
                        .is_err()
                    {
                        break;
                    }
                }
            }
        }
    });
    receive
}

fn tail_reader(mut stream: impl Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let tail = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut chunk) {
            let mut tail = shared.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&chunk[..n]);
            if tail.len() > 2 * KEPT_ERRORS {
                let cut = tail.len() - KEPT_ERRORS;
                tail.drain(..cut);
            }
        }
    });
    tail
}

fn text(tail: &Mutex<Vec<u8>>) -> String {
    // What it said last may still be in the pipe.
    std::thread::sleep(Duration::from_millis(10));
    String::from_utf8_lossy(&tail.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Ends the child and whatever it started.
fn end_group(child: &mut Child) {
    // SAFETY: plain integers; the group is the one that this child was made leader of.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let _ = child.wait();
}
