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
