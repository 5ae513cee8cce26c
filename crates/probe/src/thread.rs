use plimsoll_schema::ThreadType;

/// The most that `+S` accepts. Names are what a program likes them to be.
const MAX_SCHEDULERS: usize = 1024;

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
        (ThreadType::Scheduler, number) => number.filter(|n| (1..=MAX_SCHEDULERS).contains(n)),
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
        // The end is cut off: `1_dirty_io_sche`, `10_dirty_io_sch`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_schema::ThreadType as T;
    use proptest::prelude::*;

    #[test]
    fn names_up_to_otp_25_are_known() {
        for (comm, ty) in [
            ("1_scheduler", T::Scheduler),
            ("1024_scheduler", T::Scheduler),
            ("1_dirty_cpu_sch", T::DirtyCpu),
            ("1024_dirty_cpu_", T::DirtyCpu),
            ("1_dirty_io_sche", T::DirtyIo),
            ("10_dirty_io_sch", T::DirtyIo),
            ("1_aux", T::Aux),
            ("aux", T::Other),
            ("0_poller", T::Poll),
            ("async_1", T::Async),
            ("sys_sig_dispatc", T::Other),
            ("sys_msg_dispatc", T::Other),
            ("beam.smp", T::Other),
        ] {
            assert_eq!(thread_type(comm), ty, "{comm}");
        }
    }

    #[test]
    fn names_from_otp_26_on_are_known() {
        for (comm, ty) in [
            ("erts_sched_1", T::Scheduler),
            ("erts_sched_1024", T::Scheduler),
            ("erts_dcpus_12", T::DirtyCpu),
            ("erts_dios_10", T::DirtyIo),
            ("erts_aux", T::Aux),
            ("erts_aux_1", T::Aux),
            ("erts_poll_0", T::Poll),
            ("erts_async_1", T::Async),
            ("erts_ssig_disp", T::Other),
            ("erts_smsg_disp", T::Other),
        ] {
            assert_eq!(thread_type(comm), ty, "{comm}");
        }
    }

    #[test]
    fn programs_that_are_no_vm_have_other_threads() {
        for comm in [
            "",
            "_",
            "1_",
            "_1",
            "sh",
            "worker_1",
            "my_scheduler",
            "scheduler",
            "1_schedulers",
        ] {
            assert_eq!(thread_type(comm), T::Other, "{comm}");
            assert_eq!(scheduler_number(comm), None, "{comm}");
        }
    }

    #[test]
    fn only_normal_schedulers_have_a_number() {
        assert_eq!(scheduler_number("12_scheduler\n"), Some(12));
        assert_eq!(scheduler_number("erts_sched_3"), Some(3));
        assert_eq!(scheduler_number("erts_dcpus_3"), None);
        assert_eq!(scheduler_number("erts_sched_99999"), None);
        assert_eq!(scheduler_number("0_scheduler"), None);
    }

    proptest! {
        #[test]
        fn no_name_crashes_the_reader(comm in ".{0,20}") {
            let _ = (thread_type(&comm), scheduler_number(&comm));
        }
    }
}
