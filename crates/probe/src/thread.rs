use plimsoll_schema::ThreadType;

/// What a thread does, told by its name in `/proc/PID/task/TID/comm`.
///
/// OTP up to 25 calls scheduler 1 `1_scheduler`, later releases `erts_sched_1`; the kernel cuts
/// names off after 15 bytes. A thread of a program that is not a BEAM is [`ThreadType::Other`].
pub fn thread_type(comm: &str) -> ThreadType {
    split(comm).0
}

/// The number of a normal scheduler's thread, from 1; `None` for any other thread.
pub fn scheduler_number(comm: &str) -> Option<usize> {
    match split(comm) {
        (ThreadType::Scheduler, number) => number,
        _ => None,
    }
}

fn split(comm: &str) -> (ThreadType, Option<usize>) {
    let comm = comm.trim_end_matches('\n');
    let number = |digits: &str| {
        let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        all_digits.then(|| digits.parse().ok()).flatten()
    };
    let of_stem = |stem: &str| match stem {
        "erts_sched" => ThreadType::Scheduler,
        "erts_dcpus" => ThreadType::DirtyCpu,
        "erts_dios" => ThreadType::DirtyIo,
        "erts_aux" => ThreadType::Aux,
        "erts_poll" => ThreadType::Poll,
        "erts_async" | "async" => ThreadType::Async,
        _ => ThreadType::Other,
    };
    if let Some((digits, rest)) = comm.split_once('_')
        && let Some(n) = number(digits)
    {
        // Longest first is cut off first: a two-digit number leaves `10_dirty_io_sch`.
        let ty = match rest {
            "scheduler" => ThreadType::Scheduler,
            "aux" => ThreadType::Aux,
            "poller" => ThreadType::Poll,
            _ if rest.starts_with("dirty_cpu_") => ThreadType::DirtyCpu,
            _ if rest.starts_with("dirty_io_") => ThreadType::DirtyIo,
            _ => ThreadType::Other,
        };
        return (ty, Some(n));
    }
    if let Some((stem, digits)) = comm.rsplit_once('_')
        && let Some(n) = number(digits)
    {
        return (of_stem(stem), Some(n));
    }
    (of_stem(comm), None)
}
