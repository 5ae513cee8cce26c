//! CPU time, and ratios of paired measurements with their spread.

/// CPU seconds of a clock: of the calling thread, or of the whole process.
fn clock(id: libc::clockid_t) -> f64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec, and both clocks exist on every Linux.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// CPU seconds the calling thread has used.
pub fn thread_cpu() -> f64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU seconds all threads of this process have used.
pub fn process_cpu() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU seconds of the calling thread spent in `f`.
pub fn timed<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = thread_cpu();
    let value = f();
    (thread_cpu() - start, value)
}

/// Smallest, median and largest.
#[derive(Clone, Copy)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
        Spread {
            min: values[0],
            median,
            max: values[n - 1],
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({"min": self.min, "median": self.median, "max": self.max})
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(
            f,
            "{:.digits$} ({:.digits$} … {:.digits$})",
            self.median, self.min, self.max
        )
    }
}

/// Measures `a` and `b` in turn, `pairs` times, the first of each pair alternating.
pub fn paired(
    pairs: usize,
    mut a: impl FnMut(usize) -> f64,
    mut b: impl FnMut(usize) -> f64,
) -> Vec<(f64, f64)> {
    (0..pairs)
        .map(|i| {
            if i % 2 == 0 {
                let x = a(i);
                (x, b(i))
            } else {
                let y = b(i);
                (a(i), y)
            }
        })
        .collect()
}
