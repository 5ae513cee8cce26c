//! The watchdog against VMs that are shell scripts.

use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_jitter::{Followed, JitterError, Limits, follow};
use plimsoll_lab::Stop;
use plimsoll_schema::JitterStatus;

const BEGIN: &str = r#"{"plimsoll_jitter":1,"event":"begin","settle_us":0,"otp_release":"25","erts":"13","emulator_flavour":"jit","schedulers_online":2,"dirty_cpu_online":2,"workers":2,"probes":1,"period_us":10000,"window_us":1000000}"#;
const DONE: &str = r#"{"plimsoll_jitter":1,"event":"done","jobs":8,"seconds":2.0,"utilisation":0.5,"dirty_utilisation":null}"#;

fn beat(at_ms: i64, from: u64, late: &str) -> String {
    format!(
        r#"{{"plimsoll_jitter":1,"event":"beat","at_us":{},"run_queue":3,"dirty_run_queue":0,"late":[[0,{from},[{late}]]],"long":[[2,"a:b/1 to a:c/2"]],"long_count":1,"gc_ms":[]}}"#,
        at_ms * 1000
    )
}

/// Short, because a script that is silent is silent for good.
const LIMITS: Limits = Limits {
    boot: Duration::from_millis(1500),
    patience: Duration::from_millis(500),
    whole: Duration::from_secs(20),
};

fn script(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    command
}

fn watched(text: &str) -> Result<Followed, JitterError> {
    follow(script(text), LIMITS, &Stop::default())
}

fn echo(lines: &[&str]) -> String {
    lines
        .iter()
        .map(|line| format!("echo '{line}'\n"))
        .collect()
}

#[test]
fn a_vm_that_goes_through_its_schedule_is_ok_and_its_wake_ups_are_counted() {
    let text = echo(&[
        BEGIN,
        "what the code of the user prints",
        &beat(100, 0, "50,60,70"),
        &beat(200, 3, "80"),
        DONE,
    ]);
    let followed = watched(&text).unwrap();
    assert_eq!(followed.status, JitterStatus::Ok);
    let tally = followed.tally.unwrap();
    assert_eq!(
        (tally.wakeups(), tally.lower_bounds(), tally.unknown()),
        (4, 0, 0)
    );
    assert_eq!(tally.lateness().unwrap().worst_us, 80);
    assert_eq!(followed.vm.unwrap().otp_release, "25");
}

#[test]
fn a_vm_that_falls_silent_is_ended_and_its_missing_wake_ups_are_lower_bounds() {
    let start = Instant::now();
    // `exec`: the silent process is the one that is watched, as a VM is.
    let followed = watched(&(echo(&[BEGIN, &beat(20, 0, "50,60")]) + "exec sleep 60")).unwrap();
    assert!(start.elapsed() < Duration::from_secs(30));
    let JitterStatus::Blocked {
        seconds,
        cpu_seconds,
    } = followed.status
    else {
        panic!("{:?}", followed.status)
    };
    assert!(seconds >= 0.5, "{seconds}");
    // It sleeps.
    assert!(cpu_seconds.unwrap() < 0.2);
    let tally = followed.tally.unwrap();
    // Between its last report (wake-up 2 at 20 ms) and its silence (120 ms) nothing is known.
    assert_eq!(tally.unknown(), 10);
    assert!(tally.lower_bounds() > 30, "{}", tally.lower_bounds());
    assert!(tally.lateness().unwrap().worst_us >= 350_000);
}

#[test]
fn a_vm_that_burns_cpu_while_it_is_silent_is_seen_to() {
    let followed = watched(&(echo(&[BEGIN, &beat(20, 0, "50")]) + "while :; do :; done")).unwrap();
    let JitterStatus::Blocked { cpu_seconds, .. } = followed.status else {
        panic!("{:?}", followed.status)
    };
    assert!(cpu_seconds.unwrap() > 0.0);
}

#[test]
fn what_a_blocked_vm_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let alive = folder.path().join("alive");
    let text = format!(
        "{}(while :; do date +%s%N > '{}'; sleep 0.05; done) &\nexec sleep 60",
        echo(&[BEGIN]),
        alive.display()
    );
    assert!(matches!(
        watched(&text).unwrap().status,
        JitterStatus::Blocked { .. }
    ));
    let last = std::fs::read(&alive).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(std::fs::read(&alive).unwrap(), last, "its child goes on");
}

#[test]
fn a_vm_that_never_begins_failed_and_is_not_called_blocked() {
    let JitterStatus::Failed { why } = watched("echo starting >&2; exec sleep 60").unwrap().status
    else {
        panic!("a VM that never began has no schedule to be late for")
    };
    assert!(
        why.contains("after its start") && why.contains("starting"),
        "{why}"
    );
}

#[test]
fn a_vm_that_crashes_failed_with_what_it_said() {
    let text = echo(&[BEGIN]) + "echo 'plimsoll: a worker failed: badarg' >&2; exit 1";
    let JitterStatus::Failed { why } = watched(&text).unwrap().status else {
        panic!()
    };
    assert!(why.contains("a worker failed: badarg"), "{why}");
}

#[test]
fn what_cannot_run_here_and_wrong_usage_end_the_experiment() {
    let error = watched("echo 'plimsoll: run ./x setup' >&2; exit 3").unwrap_err();
    assert!(
        matches!(&error, JitterError::CannotRun(why) if why == "run ./x setup"),
        "{error}"
    );
    let error = watched("echo 'plimsoll: no such load' >&2; exit 2").unwrap_err();
    assert!(
        matches!(&error, JitterError::Usage(why) if why == "no such load"),
        "{error}"
    );
    let mut nowhere = Command::new("no-such-program-here");
    nowhere.arg("x");
    let error = follow(nowhere, LIMITS, &Stop::default()).unwrap_err();
    assert!(
        error.to_string().contains("no-such-program-here"),
        "{error}"
    );
}

#[test]
fn a_vm_that_is_through_but_does_not_end_is_ok_and_ended() {
    let followed = watched(&(echo(&[BEGIN, &beat(10, 0, "5"), DONE]) + "exec sleep 60")).unwrap();
    assert_eq!(followed.status, JitterStatus::Ok);
}

#[test]
fn lines_that_are_damaged_or_out_of_order_fail_the_run_instead_of_being_guessed() {
    for lines in [
        echo(&[BEGIN, r#"{"plimsoll_jitter":1,"event":"beat","at_us":"#]),
        echo(&[BEGIN, &beat(10, 4, "5")]),
    ] {
        let followed = watched(&(lines.clone() + "exec sleep 60")).unwrap();
        assert!(
            matches!(followed.status, JitterStatus::Failed { .. }),
            "{lines}: {:?}",
            followed.status
        );
    }
}

#[test]
fn a_stop_ends_the_vm_at_once() {
    let stop = Stop::default();
    stop.request();
    let start = Instant::now();
    let error = follow(script("exec sleep 60"), LIMITS, &stop).unwrap_err();
    assert!(matches!(error, JitterError::Stopped));
    assert!(start.elapsed() < Duration::from_secs(30));
}
