//! Does a capacity table agree with the throughputs that it is said to come from?

use plimsoll_schema::{Confidence, Finding};

/// A row of a capacity table as somebody claims it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Instruments.
    pub instruments: u64,
    /// Claimed wall time of a round in seconds.
    pub seconds: f64,
}

/// Times are given to about a tenth of a minute; a row agrees with a throughput within this share.
const ROUNDING: f64 = 0.02;

/// What in `claims` contradicts `throughputs` (jobs per second) or the other rows.
pub fn contradictions(claims: &[Claim], throughputs: &[f64]) -> Vec<Finding> {
    let best = throughputs.iter().copied().fold(f64::NAN, f64::max);
    let mut findings = Vec::new();
    let implied = |claim: &Claim| claim.instruments as f64 / claim.seconds;
    let too_fast: Vec<&Claim> = claims
        .iter()
        .filter(|c| implied(c) > best * (1.0 + ROUNDING))
        .collect();
    if let (Some(first), false) = (too_fast.first(), best.is_nan()) {
        findings.push(Finding {
            id: "capacity.faster-than-measured".to_owned(),
            cause: format!(
                "{} of {} claimed rows need more throughput than was measured",
                too_fast.len(),
                claims.len()
            ),
            evidence: too_fast
                .iter()
                .map(|c| {
                    format!(
                        "{} instruments in {} mean {:.2} jobs per second; at the best measured, {best} jobs per \
                         second, they take {}",
                        c.instruments,
                        minutes(c.seconds),
                        implied(c),
                        minutes(c.instruments as f64 / best)
                    )
                })
                .collect(),
            fix: Some(format!(
                "plan with N ÷ throughput: {} instruments take {}",
                first.instruments,
                minutes(first.instruments as f64 / best)
            )),
            expected_gain: None,
            confidence: Confidence::Certain,
        });
    }
    let between: Vec<String> = claims
        .iter()
        .filter(|c| implied(c) <= best * (1.0 + ROUNDING))
        .filter(|c| {
            !throughputs
                .iter()
                .any(|t| (implied(c) / t - 1.0).abs() <= ROUNDING)
        })
        .map(|c| {
            format!(
                "{} instruments in {} mean {:.2} jobs per second, which is none of the measured {}",
                c.instruments,
                minutes(c.seconds),
                implied(c),
                throughputs
                    .iter()
                    .map(f64::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        })
        .collect();
    if !between.is_empty() && !throughputs.is_empty() {
        findings.push(Finding {
            id: "capacity.no-such-throughput".to_owned(),
            cause: "claimed rows do not follow from any measured throughput".to_owned(),
            evidence: between,
            fix: Some("say which throughput each row was computed from".to_owned()),
            expected_gain: None,
            confidence: Confidence::Certain,
        });
    }
    let rates: Vec<f64> = claims.iter().map(implied).collect();
    let (low, high) = rates
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), r| (l.min(*r), h.max(*r)));
    if rates.len() > 1 && high / low > 1.0 + 2.0 * ROUNDING {
        findings.push(Finding {
            id: "capacity.rows-disagree".to_owned(),
            cause: "the claimed rows are not proportional: they cannot come from one throughput"
                .to_owned(),
            evidence: vec![format!(
                "they mean between {low:.2} and {high:.2} jobs per second"
            )],
            fix: Some("compute all rows of a table from one throughput".to_owned()),
            expected_gain: None,
            confidence: Confidence::Certain,
        });
    }
    findings
}

fn minutes(seconds: f64) -> String {
    if seconds >= 60.0 {
        format!("{:.1} min", seconds / 60.0)
    } else {
        format!("{seconds:.1} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: [f64; 4] = [0.73, 0.87, 0.88, 0.98];

    fn claims(rows: &[(u64, f64)]) -> Vec<Claim> {
        rows.iter()
            .map(|&(instruments, minutes)| Claim {
                instruments,
                seconds: 60.0 * minutes,
            })
            .collect()
    }

    #[test]
    fn the_published_capacity_table_contradicts_its_own_throughputs() {
        let table = claims(&[
            (100, 1.4),
            (500, 7.2),
            (1_000, 14.4),
            (1_400, 20.1),
            (2_000, 28.7),
        ]);
        let findings = contradictions(&table, &MEASURED);
        assert_eq!(findings[0].id, "capacity.faster-than-measured");
        let evidence = findings[0].evidence.join("\n");
        assert!(
            evidence.contains("1000 instruments in 14.4 min"),
            "{evidence}"
        );
        assert!(evidence.contains("they take 17.0 min"), "{evidence}");
        assert!(evidence.contains("they take 23.8 min"), "{evidence}");
    }

    #[test]
    fn the_published_figure_without_the_flag_belongs_to_another_arm() {
        // 19.2 min for 1 000 is 0.87 jobs per second, `db`'s; unbound measured 0.73.
        let without_the_flag = claims(&[(1_000, 19.2)]);
        assert!(
            contradictions(&without_the_flag, &MEASURED).is_empty(),
            "0.87 is among those measured"
        );
        let unbound_alone = contradictions(&without_the_flag, &[0.73]);
        assert_eq!(unbound_alone[0].id, "capacity.faster-than-measured");
        assert!(
            unbound_alone[0].evidence[0].contains("22.8 min"),
            "{:?}",
            unbound_alone[0].evidence
        );
    }

    #[test]
    fn a_table_that_follows_from_its_throughput_is_left_alone() {
        let honest: Vec<(u64, f64)> = [100, 500, 1_000, 2_000]
            .map(|n| (n, n as f64 / 0.98 / 60.0))
            .to_vec();
        assert!(contradictions(&claims(&honest), &MEASURED).is_empty());
    }

    #[test]
    fn rows_that_are_not_proportional_are_flagged() {
        let findings = contradictions(&claims(&[(100, 2.0), (200, 3.0)]), &[0.84, 1.12]);
        assert!(
            findings.iter().any(|f| f.id == "capacity.rows-disagree"),
            "{findings:?}"
        );
    }
}
