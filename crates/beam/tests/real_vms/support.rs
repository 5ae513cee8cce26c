//! Commands run twice, with and without a session: what the user sees must be the same.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_beam::Session;
use plimsoll_schema::VmFacts;

/// A command in an environment without VM flags of the surroundings.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .env_remove("ERL_FLAGS")
        .env_remove("ERL_AFLAGS")
        .env_remove("ERL_ZFLAGS")
        .env("ERL_CRASH_DUMP_SECONDS", "0")
        .stdin(Stdio::null());
    command
}

/// Puts a session's environment over the command's.
pub fn observe(command: &mut Command, session: &Session, flags: &[&str]) {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    command.envs(session.environment(&flags));
}

/// Runs what `make` makes without and with a session; asserts that output and exit status are the
/// same, byte for byte, and returns the output and the facts.
pub fn same_output_with_agent(make: impl Fn() -> Command) -> (String, VmFacts) {
    let plain = make().output().expect("the command starts");
    let session = Session::new().unwrap();
    let mut observed = make();
    observe(&mut observed, &session, &[]);
    let observed = observed.output().expect("the command starts");
    let stdout = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert_eq!(String::from_utf8_lossy(&observed.stdout), stdout);
    assert_eq!(
        String::from_utf8_lossy(&observed.stderr),
        String::from_utf8_lossy(&plain.stderr)
    );
    assert_eq!(observed.status, plain.status);
    assert!(plain.status.success(), "{plain:?}");
    let facts = session.facts().unwrap().expect("a VM claimed the session");
    (stdout, facts)
}

/// Asks again and again until `ready` answers; a minute is far more than any of this takes.
pub fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < end, "never happened: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The facts when they satisfy `condition`.
pub fn facts_where(session: &Session, what: &str, condition: impl Fn(&VmFacts) -> bool) -> VmFacts {
    until(what, || session.facts().unwrap().filter(&condition))
}
