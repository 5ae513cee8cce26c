//! Running hwloc on somebody else's text without trusting it with our life.
//!
//! hwloc's importers check with `assert` and print to standard error; a hostile description can
//! abort the process, run for long or take much memory. So the text is read in a forked child
//! with limits on time and memory and with standard error closed; it hands the finished record
//! back through a pipe as JSON. Whatever happens to the child is a sentence here.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use plimsoll_schema::Machine;

/// Wall-clock seconds that a description may take; 1 024 PUs take well under one.
const SECONDS: u32 = 60;
/// Memory that the child may take on top of what we have.
const EXTRA_MEMORY: u64 = 2 << 30;
/// The largest answer accepted: a record of 65 536 PUs has about 20 MB.
const MAX_ANSWER: u64 = 256 << 20;

/// Runs `describe` in a child process and gives what it gives; a child that dies instead is an error.
pub(crate) fn guarded(
    describe: impl FnOnce() -> Result<Machine, String>,
) -> Result<Machine, String> {
    let (reader, writer) = pipe()?;
    // SAFETY: the child uses only memory and descriptors of its own copy and leaves through
    // `_exit`. Allocating after fork is defined by POSIX for single-threaded processes only; the
    // C libraries of Linux (glibc, musl) make malloc usable in the child of a threaded one too,
    // and should the child ever wait for a lock that nobody will release, the alarm ends it.
    match unsafe { libc::fork() } {
        -1 => Err(format!(
            "no child process could be started ({})",
            std::io::Error::last_os_error()
        )),
        0 => {
            drop(reader);
            confine();
            let answer = catch_unwind(AssertUnwindSafe(describe))
                .unwrap_or_else(|_| Err("hwloc contradicts itself about it".to_owned()));
            let sent = catch_unwind(AssertUnwindSafe(|| {
                let mut pipe = std::io::BufWriter::new(File::from(writer));
                serde_json::to_writer(&mut pipe, &answer).is_ok() && pipe.flush().is_ok()
            }));
            // SAFETY: ends the child at once, without running the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!matches!(sent, Ok(true)))) }
        }
        child => {
            drop(writer);
            let mut answer = Vec::new();
            let read = File::from(reader).take(MAX_ANSWER).read_to_end(&mut answer);
            let end = wait(child);
            read.map_err(|error| format!("its description got lost ({error})"))?;
            serde_json::from_slice(&answer)
                .unwrap_or_else(|_| Err(format!("hwloc failed on it ({end})")))
        }
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), String> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors, which nobody else owns.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(format!(
                "no pipe could be opened ({})",
                std::io::Error::last_os_error()
            ));
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Limits the child: time, memory, no core file, nothing printed.
fn confine() {
    // SAFETY: asks for a constant of the system.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let memory = crate::Root::default()
        .read("/proc/self/statm")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(u64::MAX, |pages| {
            pages.saturating_mul(page).saturating_add(EXTRA_MEMORY)
        });
    // SAFETY: plain system calls of the child about itself; a failed one leaves it less confined.
    unsafe {
        for signal in [libc::SIGALRM, libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::alarm(SECONDS);
        for (what, limit) in [(libc::RLIMIT_CORE, 0), (libc::RLIMIT_AS, memory)] {
            let limit = libc::rlimit {
                rlim_cur: limit,
                rlim_max: limit,
            };
            libc::setrlimit(what, &limit);
        }
    }
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        // SAFETY: as above; replaces the child's copies only.
        unsafe {
            libc::dup2(null.as_raw_fd(), libc::STDOUT_FILENO);
            libc::dup2(null.as_raw_fd(), libc::STDERR_FILENO);
        }
    }
}

/// Waits for the child and says in words how it ended.
fn wait(child: libc::pid_t) -> String {
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call; `child` is ours and is waited for once.
        if unsafe { libc::waitpid(child, &mut status, 0) } != -1 {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return error.to_string();
        }
    }
    if libc::WIFSIGNALED(status) {
        match libc::WTERMSIG(status) {
            libc::SIGALRM => format!("it took more than {SECONDS} seconds"),
            signal => format!("it crashed with signal {signal}"),
        }
    } else {
        format!("it ended with status {}", libc::WEXITSTATUS(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_in_the_child_is_an_error_here() {
        // SAFETY: abort is always allowed; the child is the one that dies.
        let error = guarded(|| unsafe { libc::abort() }).unwrap_err();
        assert!(error.contains("signal 6"), "{error}");
    }

    #[test]
    fn a_panic_in_the_child_is_an_error_here() {
        let error = guarded(|| panic!("on purpose")).unwrap_err();
        assert!(error.contains("contradicts"), "{error}");
    }

    #[test]
    fn memory_beyond_the_limit_is_refused_in_the_child() {
        let error = guarded(|| {
            let mut hoard = Vec::<Vec<u8>>::new();
            loop {
                let mut piece = Vec::new();
                if piece.try_reserve_exact(256 << 20).is_err() {
                    return Err(format!("stopped after {}", hoard.len()));
                }
                hoard.push(piece);
            }
        })
        .unwrap_err();
        assert!(error.starts_with("stopped after"), "{error}");
    }
}
