//! Whole commands, watched from outside.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use plimsoll_probe::{ProbeError, Watch};
use plimsoll_schema::ThreadType;
use proptest::prelude::*;

/// Starts a command that writes a line when it is ready, and waits for that line's first byte.
fn start(words: &[&str]) -> Child {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env_remove("ERL_FLAGS")
        .env_remove("ERL_AFLAGS")
        .env_remove("ERL_ZFLAGS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    child
}

const HOUR: Duration = Duration::from_secs(3600);

/// Spins until it has been told to stop by its standard input, then says so and idles.
const SPIN: &str = "F = fun F() -> F() end,
    Spinning = [spawn(F) || _ <- lists:seq(1, 4)],
    io:put_chars(\"r\"), io:get_line(''),
    [exit(P, kill) || P <- Spinning], io:put_chars(\"s\"),
    receive after infinity -> ok end";

#[test]
fn the_vm_behind_a_shell_is_found_and_its_bound_schedulers_do_the_work() {
    let script = format!(
        "erl +S 2:2 +sbt ts -noshell -eval '{}'; true",
        SPIN.replace("''", "\"\"")
    );
    let mut shell = start(&["sh", "-c", &script]);
    let watch = Watch::start(shell.id(), Duration::from_millis(50)).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    let observation = watch.finish();
    let vm = observation.pid_of_vm.expect("a VM below the shell");
    assert_ne!(vm, shell.id());
    assert_eq!(
        std::fs::read_to_string(format!("/proc/{vm}/comm")).unwrap(),
        "beam.smp\n"
    );

    let threads = &observation.evidence.threads;
    let scheduler = &threads[&ThreadType::Scheduler];
    assert_eq!(scheduler.threads, 2);
    let cpu = scheduler.user_seconds + scheduler.system_seconds;
    assert!(cpu > 0.05, "{scheduler:?}");
    assert!(threads[&ThreadType::DirtyCpu].bound_seconds == 0.0);
    // The shell, the VM's main thread and its signal threads.
    assert!(threads[&ThreadType::Other].threads >= 3, "{threads:?}");
    assert_eq!(observation.scheduler_masks.len(), 2);
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus > 1 {
        assert!(
            observation
                .scheduler_masks
                .iter()
                .all(|mask| mask.len() == 1),
            "{observation:?}"
        );
        assert!(
            (scheduler.bound_seconds - cpu).abs() < 1e-6,
            "{scheduler:?}"
        );
    }
    // The VM ends with its standard input's shell only after it was told to.
    drop(shell.stdin.take());
    let killed = Command::new("kill")
        .args(["-KILL", &vm.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    shell.wait().unwrap();
}

#[test]
fn a_process_that_ended_but_was_not_waited_for_still_has_its_totals() {
    let mut child = start(&[
        "sh",
        "-c",
        "echo r; read line; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done",
    ]);
    let watch = Watch::start(child.id(), HOUR).unwrap();
    watch.begin_window();
    drop(child.stdin.take());
    // The pipe closes when the shell ends; nobody has waited for it yet.
    let mut rest = Vec::new();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_to_end(&mut rest)
        .unwrap();
    let observation = watch.finish();
    let other = &observation.evidence.threads[&ThreadType::Other];
    assert!(
        other.user_seconds + other.system_seconds > 0.005,
        "{other:?}"
    );
    assert_eq!(observation.pid_of_vm, None);
    assert!(observation.scheduler_masks.is_empty());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_process_that_is_gone_is_an_error_that_says_so() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    match Watch::start(pid, HOUR) {
        Err(error @ ProbeError::NoProcess { .. }) => {
            assert!(error.to_string().contains(&pid.to_string()), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_kernel_does_not_count_is_none_and_not_zero() {
    // A procfs with the bare minimum: no schedstat, sched, status, loadavg, vmstat, cgroup.
    let root = tempfile::tempdir().unwrap();
    let task = root.path().join("proc/7/task/7");
    std::fs::create_dir_all(&task).unwrap();
    let stat = |ticks: u32| {
        let line = format!("7 (1_scheduler) R 1 7 7 0 -1 0 0 0 0 0 {ticks} 50 0 0 20 0 1 0 99 0 0");
        for directory in ["proc/7/stat", "proc/7/task/7/stat"] {
            std::fs::write(root.path().join(directory), &line).unwrap();
        }
    };
    stat(100);
    let watch = Watch::start_below(root.path(), 7, HOUR).unwrap();
    stat(400);
    let observation = watch.finish();
    let scheduler = &observation.evidence.threads[&ThreadType::Scheduler];
    assert_eq!(
        (
            scheduler.threads,
            scheduler.user_seconds,
            scheduler.system_seconds
        ),
        (1, 3.0, 0.0)
    );
    assert_eq!(scheduler.minor_faults, Some(0));
    assert_eq!(scheduler.migrations, None);
    assert_eq!(scheduler.voluntary_switches, None);
    assert_eq!(scheduler.run_delay_seconds, None);
    assert_eq!(observation.evidence.host, Default::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_in_any_file_crash_a_watch(
        bytes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 12),
        huge in any::<u64>(),
    ) {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        let stat = |ticks: u64| {
            let line = format!("7 (9_scheduler) R 1 7 7 0 -1 0 {ticks} 0 {ticks} 0 {ticks} {ticks} -4 7 20 0 1 0 99 0 0");
            write("proc/7/stat", line.as_bytes());
            write("proc/7/task/7/stat", line.as_bytes());
            write("proc/7/task/7/schedstat", format!("{ticks} {ticks} {ticks}").as_bytes());
            write("proc/stat", format!("cpu {ticks} {ticks} {ticks} {ticks} 0 0 0 {ticks}\ncpu0 1").as_bytes());
        };
        stat(0);
        for (file, bytes) in [
            "proc/7/task/7/status", "proc/7/task/7/sched", "proc/7/task/7/children", "proc/7/cgroup",
            "proc/self/mountinfo", "proc/loadavg", "proc/vmstat", "proc/8/stat", "proc/7/task/8/stat",
            "proc/7/task/8/schedstat", "proc/7/task/8/status", "proc/7/task/8/sched",
        ].into_iter().zip(&bytes) {
            write(file, bytes);
        }
        let watch = Watch::start_below(root.path(), 7, HOUR).unwrap();
        stat(huge);
        watch.begin_window();
        stat(u64::MAX);
        write("proc/7/task/8/stat", b"8 (x) R 7 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 99 0 0");
        let observation = watch.finish();
        prop_assert!(observation.evidence.threads.contains_key(&ThreadType::Scheduler));
    }
}
