use plimsoll_schema::{BindType, MapReport, ThreadType};

/// One thread and where it sits: what a drawing puts on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSpot {
    /// What the thread does.
    pub threads: ThreadType,
    /// Its number among threads of its type, from 1 as the VM counts.
    pub number: usize,
    /// The CPU that it is bound to; `None` = the kernel may run it anywhere.
    pub cpu: Option<u32>,
}

impl ThreadSpot {
    /// Scheduler 1, 2, … on the CPUs of `bindings`.
    pub fn schedulers(bindings: &[Option<u32>]) -> Vec<Self> {
        Self::of(ThreadType::Scheduler, bindings.iter().copied())
    }

    /// `count` threads of one type that nothing binds.
    pub fn anywhere(threads: ThreadType, count: usize) -> Vec<Self> {
        Self::of(threads, std::iter::repeat_n(None, count))
    }

    fn of(threads: ThreadType, cpus: impl Iterator<Item = Option<u32>>) -> Vec<Self> {
        cpus.enumerate()
            .map(|(i, cpu)| Self {
                threads,
                number: i + 1,
                cpu,
            })
            .collect()
    }
}

/// Every counted thread of a VM started with `+sbt bind` on the machine of `report`: schedulers
/// where the bindings say, all others anywhere.
pub fn thread_spots(report: &MapReport, bind: BindType) -> Vec<ThreadSpot> {
    let mut spots = report
        .bindings
        .get(&bind)
        .map(|cpus| ThreadSpot::schedulers(cpus))
        .unwrap_or_default();
    for reach in &report.reach {
        if reach.threads != ThreadType::Scheduler {
            spots.extend(ThreadSpot::anywhere(
                reach.threads,
                reach.count.unwrap_or_default(),
            ));
        }
    }
    spots
}
