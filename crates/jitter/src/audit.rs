//! What the VM says of an audited module.

use plimsoll_schema::{AuditedFunction, HoldFigures, JitterAudit};
use serde::Deserialize;

/// What the audit of one VM found. `Plimsoll.Jitter.Audit` writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct AuditEvent {
    module: String,
    limit_us: u64,
    functions: Vec<Function>,
    not_called: Vec<String>,
    suspended: u64,
}

#[derive(Debug, Deserialize)]
struct Function {
    function: String,
    native: bool,
    calls: u64,
    dirty_calls: u64,
    unreturned: u64,
    /// Length of a stay in microseconds, and how many there were.
    holds: Vec<(u64, u64)>,
}

const CANNOT_SEE: [&str; 5] = [
    "Functions that the expression does not reach, and inputs that it does not use.",
    "Whether the function worked or waited: a stay is wall time, and the kernel may have taken the CPU \
     away meanwhile. Look at the median and the p99 before the worst.",
    "Where inside a native function the time goes.",
    "What other processes of the module's own do, unless the workers started them.",
    "The cost of tracing itself: some microseconds a call are part of every stay.",
];

impl AuditEvent {
    pub(crate) fn record(self) -> JitterAudit {
        let limit = self.limit_us;
        let mut functions: Vec<AuditedFunction> = self
            .functions
            .into_iter()
            .map(|f| AuditedFunction {
                function: f.function,
                native: f.native,
                calls: f.calls,
                dirty_calls: f.dirty_calls,
                unreturned: f.unreturned,
                holds: figures(&f.holds, limit),
            })
            .collect();
        functions.sort_by_key(|f| std::cmp::Reverse((f.holds.p99_us, f.holds.worst_us)));
        JitterAudit {
            module: self.module,
            limit_us: limit,
            functions,
            not_called: self.not_called,
            suspended: self.suspended,
            cannot_see: CANNOT_SEE.map(str::to_owned).to_vec(),
        }
    }
}

fn figures(holds: &[(u64, u64)], limit_us: u64) -> HoldFigures {
    let mut histogram =
        hdrhistogram::Histogram::<u64>::new(3).expect("three digits are within the bounds");
    for &(us, count) in holds {
        let _ = histogram.record_n(us, count);
    }
    let worst = holds.iter().map(|h| h.0).max().unwrap_or(0);
    let quantile = |q| histogram.value_at_quantile(q).min(worst);
    HoldFigures {
        count: histogram.len(),
        over_limit: holds.iter().filter(|h| h.0 > limit_us).map(|h| h.1).sum(),
        median_us: quantile(0.5),
        p99_us: quantile(0.99),
        p999_us: quantile(0.999),
        worst_us: worst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_hold_longest_come_first_and_holds_over_the_limit_are_counted() {
        let event: AuditEvent = serde_json::from_str(
            r#"{"module":"m","limit_us":1000,"not_called":["c/0"],"suspended":0,
            "functions":[
              {"function":"a/1","native":false,"calls":3,"dirty_calls":0,"unreturned":0,"holds":[[5,3]]},
              {"function":"b/1","native":true,"calls":4,"dirty_calls":0,"unreturned":1,"holds":[[900,1],[1000,1],[5000,2]]}]}"#,
        )
        .unwrap();
        let audit = event.record();
        assert_eq!(audit.functions[0].function, "b/1");
        let holds = &audit.functions[0].holds;
        assert_eq!(
            (holds.count, holds.over_limit, holds.worst_us),
            (4, 2, 5000)
        );
    }
}
