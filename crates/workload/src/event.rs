use serde_json::{Map, Value};

use crate::WorkloadError;
use crate::error::excerpt;

/// What a line of the protocol says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// The workload itself says that its warm-up is over.
    Warm,
    /// Work done since the sample before (or since the start).
    Sample {
        /// Completed work, 0 or more, in the workload's unit.
        ops: f64,
        /// In so many seconds, above 0.
        seconds: f64,
    },
    /// The window is over; totals of all samples.
    Done {
        /// Completed work, 0 or more, in the workload's unit.
        ops: f64,
        /// In so many seconds, above 0.
        seconds: f64,
    },
}

/// A line of the protocol with everything that stands in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// What it says.
    pub event: Event,
    /// All members but `plimsoll`, `event`, and the event's own `ops` and `seconds`.
    pub extra: Map<String, Value>,
}

/// The event that a line of a workload's standard output announces; `None` when the line is not
/// ours. Use [`parse_message`] for the members that the protocol does not know.
///
/// # Errors
/// As [`parse_message`].
pub fn parse_line(line: &str) -> Result<Option<Event>, WorkloadError> {
    Ok(parse_message(line)?.map(|message| message.event))
}

/// Reads a line of a workload's standard output; `None` when it is not ours.
///
/// Ours is a JSON object with a member `plimsoll`, in any order and with any white space.
///
/// # Errors
/// [`WorkloadError::BadLine`] for a line that is ours but has another version, an unknown event, or
/// figures that are missing or cannot be (negative, no time, not a number), and for one that begins
/// with a member `plimsoll` and is not JSON: work that is silently not counted would be a wrong
/// result.
pub fn parse_message(line: &str) -> Result<Option<Message>, WorkloadError> {
    let text = line.trim();
    let Some(inside) = text.strip_prefix('{') else {
        return Ok(None);
    };
    let bad = |why: String| WorkloadError::BadLine {
        line: excerpt(text),
        why,
    };
    let mut members = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(members) => members,
        Err(_) if !inside.trim_start().starts_with("\"plimsoll\"") => return Ok(None),
        Err(error) => return Err(bad(format!("it is not JSON ({error})"))),
    };
    match members.remove("plimsoll") {
        None => return Ok(None),
        Some(version) if version.as_u64() == Some(1) => {}
        Some(version) => {
            let version = excerpt(&version.to_string());
            return Err(bad(format!("\"plimsoll\" is {version}, and 1 is known")));
        }
    }
    let event = match members.remove("event") {
        Some(Value::String(name)) if name == "warm" => Event::Warm,
        Some(Value::String(name)) if name == "sample" => {
            let (ops, seconds) = figures(&mut members).map_err(bad)?;
            Event::Sample { ops, seconds }
        }
        Some(Value::String(name)) if name == "done" => {
            let (ops, seconds) = figures(&mut members).map_err(bad)?;
            Event::Done { ops, seconds }
        }
        Some(other) => {
            let other = excerpt(&other.to_string());
            return Err(bad(format!(
                "\"event\" is {other}, and \"warm\", \"sample\" and \"done\" are known"
            )));
        }
        None => return Err(bad("\"event\" is missing".to_owned())),
    };
    Ok(Some(Message {
        event,
        extra: members,
    }))
}

/// The figures of an event: work, 0 or more, and time, above 0.
fn figures(members: &mut Map<String, Value>) -> Result<(f64, f64), String> {
    let ops = number(members, "ops")?;
    let seconds = number(members, "seconds")?;
    if ops < 0.0 {
        return Err(format!("\"ops\" is {ops}, below 0"));
    }
    if seconds <= 0.0 {
        return Err(format!("\"seconds\" is {seconds}, not above 0"));
    }
    Ok((ops, seconds))
}

fn number(members: &mut Map<String, Value>, name: &str) -> Result<f64, String> {
    match members.remove(name) {
        None => Err(format!("{name:?} is missing")),
        Some(value) => value
            .as_f64()
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("{name:?} is {}, not a number", excerpt(&value.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn why(line: &str) -> String {
        match parse_message(line) {
            Err(WorkloadError::BadLine { line: named, why }) => {
                assert!(line.contains(named.trim_end_matches('…')), "{named}");
                why
            }
            other => panic!("{line} gave {other:?}"),
        }
    }

    #[test]
    fn every_event_is_read() {
        assert_eq!(
            parse_line(r#"{"plimsoll":1,"event":"warm"}"#),
            Ok(Some(Event::Warm))
        );
        assert_eq!(
            parse_line(r#"{"plimsoll":1,"event":"sample","ops":12,"seconds":0.05}"#),
            Ok(Some(Event::Sample {
                ops: 12.0,
                seconds: 0.05
            }))
        );
        assert_eq!(
            parse_line(r#"{"plimsoll":1,"event":"done","ops":0,"seconds":1e0}"#),
            Ok(Some(Event::Done {
                ops: 0.0,
                seconds: 1.0
            }))
        );
    }

    #[test]
    fn member_order_and_white_space_do_not_matter() {
        let line = "  { \"seconds\" : 2, \"ops\" : 3, \"plimsoll\" : 1, \"event\" : \"done\" }\r\n";
        let done = Event::Done {
            ops: 3.0,
            seconds: 2.0,
        };
        assert_eq!(parse_line(line), Ok(Some(done)));
    }

    #[test]
    fn extra_members_are_kept() {
        let line = r#"{"plimsoll":1,"event":"warm","unit":"steps","p":{"q":[1]}}"#;
        let extra = parse_message(line).unwrap().unwrap().extra;
        assert_eq!(
            Value::Object(extra),
            json!({"unit": "steps", "p": {"q": [1]}})
        );
    }

    #[test]
    fn lines_that_are_not_ours_are_none() {
        for line in [
            "",
            "{",
            "{}",
            "plimsoll",
            "{\"event\":\"done\"}",
            "{\"plimsolls\":1}",
            "[{\"plimsoll\":1}]",
            "x {\"plimsoll\":1,\"event\":\"warm\"}",
            "{\"a\":{\"plimsoll\":1}}",
            "{\"a\":,\"plimsoll\":1}",
        ] {
            assert_eq!(parse_message(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn our_lines_that_cannot_be_used_say_why() {
        let cases = [
            (r#"{"plimsoll""#, "it is not JSON"),
            (
                r#"{ "plimsoll":1,"event":"done","ops":NaN,"seconds":1}"#,
                "it is not JSON",
            ),
            (r#"{"plimsoll":2,"event":"warm"}"#, "\"plimsoll\" is 2"),
            (
                r#"{"plimsoll":"1","event":"warm"}"#,
                "\"plimsoll\" is \"1\"",
            ),
            (r#"{"plimsoll":1}"#, "\"event\" is missing"),
            (r#"{"plimsoll":1,"event":"end"}"#, "\"event\" is \"end\""),
            (
                r#"{"plimsoll":1,"event":"sample","seconds":1}"#,
                "\"ops\" is missing",
            ),
            (
                r#"{"plimsoll":1,"event":"done","ops":1}"#,
                "\"seconds\" is missing",
            ),
            (
                r#"{"plimsoll":1,"event":"done","ops":null,"seconds":1}"#,
                "\"ops\" is null, not a number",
            ),
            (
                r#"{"plimsoll":1,"event":"done","ops":-1,"seconds":1}"#,
                "\"ops\" is -1, below 0",
            ),
            (
                r#"{"plimsoll":1,"event":"done","ops":1,"seconds":0}"#,
                "\"seconds\" is 0, not above 0",
            ),
            (
                r#"{"plimsoll":1,"event":"done","ops":1e999,"seconds":1}"#,
                "it is not JSON",
            ),
        ];
        for (line, expected) in cases {
            let why = why(line);
            assert!(why.starts_with(expected), "{line}: {why}");
        }
    }

    #[test]
    fn a_long_bad_line_is_shortened() {
        let line = format!("{{\"plimsoll\":1,\"event\":\"{}\"}}", "é".repeat(10_000));
        let error = parse_line(&line).unwrap_err().to_string();
        assert!(error.chars().count() < 600, "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".*") {
            let _ = parse_message(&text);
        }

        #[test]
        fn text_that_begins_as_ours_is_read_or_refused(rest in "[\\[\\]{}\",:a-z0-9eE.+-]*") {
            let parsed = parse_message(&format!("{{\"plimsoll\"{rest}"));
            prop_assert!(!matches!(parsed, Ok(None)));
        }

        #[test]
        fn any_figures_come_back_as_they_were_written(
            ops in 0.0..1e300f64,
            seconds in f64::MIN_POSITIVE..1e300,
            done: bool,
        ) {
            let event = if done { "done" } else { "sample" };
            let line = json!({"plimsoll": 1, "event": event, "ops": ops, "seconds": seconds});
            let parsed = parse_line(&line.to_string()).unwrap().unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b;
            let came_back = match parsed {
                Event::Sample { ops: o, seconds: s } => !done && close(o, ops) && close(s, seconds),
                Event::Done { ops: o, seconds: s } => done && close(o, ops) && close(s, seconds),
                Event::Warm => false,
            };
            prop_assert!(came_back);
        }
    }
}
