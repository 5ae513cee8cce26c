//! The lines that the VM writes.

use serde::Deserialize;

use crate::audit::AuditEvent;

/// What a line says.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    Begin(Begin),
    Beat(Beat),
    Audit(AuditEvent),
    Done(Done),
}

/// The workers are about to start; the window begins `settle_us` later.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Begin {
    pub settle_us: i64,
    pub otp_release: String,
    pub erts: String,
    pub emulator_flavour: String,
    pub schedulers_online: u32,
    pub dirty_cpu_online: u32,
    pub probes: u32,
    pub period_us: u64,
    pub window_us: u64,
}

/// What happened since the heartbeat before.
#[derive(Debug, Deserialize)]
pub(crate) struct Beat {
    pub at_us: i64,
    pub run_queue: f64,
    pub dirty_run_queue: f64,
    /// Probe, number of its first wake-up in the list, latenesses.
    pub late: Vec<(usize, u64, Vec<u64>)>,
    /// Milliseconds, and where; `long_count` counts also those that are not listed.
    pub long: Vec<(u64, String)>,
    pub long_count: u64,
    pub gc_ms: Vec<u64>,
}

/// The schedule is through.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub jobs: u64,
    pub seconds: f64,
    pub utilisation: Option<f64>,
    pub dirty_utilisation: Option<f64>,
}

/// Reads one line; `None`: it is none of ours (the user's code may print).
pub(crate) fn parse(line: &str) -> Option<Result<Event, serde_json::Error>> {
    line.starts_with("{\"plimsoll_jitter\":")
        .then(|| serde_json::from_str(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_is_read_as_the_vm_writes_it() {
        let line = r#"{"plimsoll_jitter":1,"event":"beat","at_us":-3,"run_queue":2,"dirty_run_queue":0,"late":[[0,4,[33,7]]],"long":[[3,"a:b/1 to a:c/2"]],"long_count":9,"gc_ms":[]}"#;
        let Some(Ok(Event::Beat(beat))) = parse(line) else {
            panic!("{line}")
        };
        assert_eq!((beat.at_us, beat.long_count), (-3, 9));
        assert_eq!(beat.late, [(0, 4, vec![33, 7])]);
    }

    #[test]
    fn what_the_users_code_prints_is_not_an_event() {
        assert!(parse("{\"event\":\"beat\"}").is_none());
        assert!(parse("hello").is_none());
        assert!(
            parse("{\"plimsoll_jitter\":1,\"event\":\"beat\"}")
                .unwrap()
                .is_err()
        );
    }
}
