//! The probe against what a thread is told of itself by the kernel, through other system calls.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_probe::{Observation, Watch};
use plimsoll_schema::{ThreadType, ThreadTypeEvidence};

/// What a thread is told of itself.
#[derive(Debug, Clone, Copy)]
struct Own {
    cpu_seconds: f64,
    voluntary: i64,
    minor_faults: i64,
}

fn own() -> Own {
    // SAFETY: both are plain output records; the calls write them in full or fail.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        assert_eq!(
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time),
            0
        );
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        Own {
            cpu_seconds: time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9,
            voluntary: usage.ru_nvcsw,
            minor_faults: usage.ru_minflt,
        }
    }
}

fn burn(seconds: f64) {
    let end = own().cpu_seconds + seconds;
    while own().cpu_seconds < end {
        // Fresh pages: faults to count.
        std::hint::black_box(vec![1_u8; 1 << 20]);
    }
}

fn bind_to_first_allowed_cpu() {
    // SAFETY: the set is initialised by the first call before it is read.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &mut set), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set));
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(first.unwrap(), &mut set);
        assert_eq!(libc::sched_setaffinity(0, size, &set), 0);
    }
}

enum Order {
    Burn(f64),
    Bind,
}

/// A thread that does what it is told and then says what it was told of itself.
struct Worker {
    orders: Sender<Order>,
    answers: Receiver<Own>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start(name: &str) -> Self {
        let (orders, inbox) = channel();
        let (outbox, answers) = channel();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                for order in inbox {
                    match order {
                        Order::Burn(seconds) => burn(seconds),
                        Order::Bind => bind_to_first_allowed_cpu(),
                    }
                    outbox.send(own()).unwrap();
                }
            })
            .unwrap();
        Self {
            orders,
            answers,
            thread,
        }
    }

    fn order(&self, order: Order) -> Own {
        self.orders.send(order).unwrap();
        self.answers.recv().unwrap()
    }

    fn end(self) {
        drop(self.orders);
        self.thread.join().unwrap();
    }
}

fn of_type(observation: &Observation, ty: ThreadType) -> ThreadTypeEvidence {
    observation
        .evidence
        .threads
        .get(&ty)
        .cloned()
        .unwrap_or_default()
}

fn cpu(evidence: &ThreadTypeEvidence) -> f64 {
    evidence.user_seconds + evidence.system_seconds
}

/// One test: threads of the same process and the same names would be added up.
#[test]
fn a_threads_own_figures_and_the_probes_agree() {
    let cpus = thread::available_parallelism().unwrap().get();
    // The names make them threads of different types.
    let scheduler = Worker::start("erts_sched_1");
    let dirty = Worker::start("erts_dcpus_1");
    let before_watch = scheduler.order(Order::Burn(0.1));

    let watch = Watch::start(std::process::id(), Duration::from_millis(20)).unwrap();
    let at_window = scheduler.order(Order::Burn(0.1));
    watch.begin_window();
    let unbound = scheduler.order(Order::Burn(0.2));
    dirty.order(Order::Bind);
    let bound = dirty.order(Order::Burn(0.2));
    // A thread that starts in the window and ends in it, after the probe has seen it.
    let short = Worker::start("erts_dios_1");
    short.order(Order::Burn(0.1));
    thread::sleep(Duration::from_millis(200));
    short.end();
    thread::sleep(Duration::from_millis(100));
    let observation = watch.finish();

    let seen = of_type(&observation, ThreadType::Scheduler);
    assert_eq!(seen.threads, 1);
    // What it did before the window is not in it; the reading itself takes a little.
    let expected = unbound.cpu_seconds - at_window.cpu_seconds;
    assert!(before_watch.cpu_seconds >= 0.1);
    assert!((cpu(&seen) - expected).abs() < 0.02, "{seen:?} {expected}");
    assert_eq!(seen.bound_seconds, 0.0);
    let faults = unbound.minor_faults - at_window.minor_faults;
    let got = seen.minor_faults.unwrap() as i64;
    assert!(
        (got - faults).abs() <= 20,
        "{got} faults seen, {faults} had"
    );
    let switches = unbound.voluntary - at_window.voluntary;
    let got = seen.voluntary_switches.unwrap() as i64;
    assert!(
        (got - switches).abs() <= 5,
        "{got} switches seen, {switches} had"
    );

    let seen = of_type(&observation, ThreadType::DirtyCpu);
    assert!(
        (cpu(&seen) - bound.cpu_seconds).abs() < 0.02,
        "{seen:?} {bound:?}"
    );
    if cpus > 1 {
        assert!(
            (seen.bound_seconds - bound.cpu_seconds).abs() < 0.02,
            "{seen:?} {bound:?}"
        );
    }

    let seen = of_type(&observation, ThreadType::DirtyIo);
    assert_eq!(seen.threads, 1);
    assert!((0.09..0.15).contains(&cpu(&seen)), "{seen:?}");

    assert_eq!(observation.pid_of_vm, Some(std::process::id()));
    assert_eq!(observation.scheduler_masks.len(), 1);
    let host = &observation.evidence.host;
    assert!((0.0..=1.0).contains(&host.other_share.unwrap()), "{host:?}");
    assert!(host.runnable_mean.is_some(), "{host:?}");
}
