use plimsoll_schema::{BindType, VmFacts};
use serde::Deserialize;

/// The compiled agent, for every OTP from 25 up.
pub(crate) const BEAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plimsoll_agent.beam"));

/// File names inside a session's directory; `agent/plimsoll_agent.erl` writes the last ones.
pub(crate) const BEAM_FILE: &str = "plimsoll_agent.beam";
pub(crate) const WINDOW_FILE: &str = "window";
pub(crate) const STATE_FILE: &str = "state.json";

/// The expression that a VM evaluates before the program's own code.
///
/// The directory stands in it byte by byte, so no quoting and no file name encoding comes between.
/// Releases run in embedded mode, where nothing is loaded by itself: hence `load_binary`. Whatever
/// fails is swallowed: a program must never end because it was observed.
pub(crate) fn expression(directory: &[u8]) -> String {
    let bytes: Vec<String> = directory.iter().map(u8::to_string).collect();
    format!(
        "catch(begin D = <<{}>>,{{ok,B}}=file:read_file(<<D/binary,\"/{BEAM_FILE}\">>),\
         {{module,M}}=code:load_binary(plimsoll_agent,\"{BEAM_FILE}\",B),M:start(D)end)",
        bytes.join(",")
    )
}

/// The state as the agent writes it: everything as the VM says it.
#[derive(Deserialize)]
struct State {
    otp_release: String,
    erts: String,
    emulator_flavour: String,
    schedulers: usize,
    schedulers_online: usize,
    dirty_cpu: usize,
    dirty_cpu_online: usize,
    dirty_io: usize,
    bind_type: String,
    bindings: Vec<Option<u32>>,
    run_queue_mean: Option<f64>,
    scheduler_utilisation: Option<f64>,
    dirty_cpu_utilisation: Option<f64>,
}

/// Reads a state as the agent writes it.
pub(crate) fn parse_state(json: &[u8]) -> Result<VmFacts, serde_json::Error> {
    let state: State = serde_json::from_slice(json)?;
    Ok(VmFacts {
        otp_release: state.otp_release,
        erts: state.erts,
        emulator_flavour: state.emulator_flavour,
        schedulers: state.schedulers,
        schedulers_online: state.schedulers_online,
        dirty_cpu: state.dirty_cpu,
        dirty_cpu_online: state.dirty_cpu_online,
        dirty_io: state.dirty_io,
        bind_type: BindType::ALL
            .into_iter()
            .find(|bind_type| bind_type.atom() == state.bind_type),
        bindings: state.bindings,
        masks: Vec::new(),
        run_queue_mean: state.run_queue_mean,
        scheduler_utilisation: state.scheduler_utilisation,
        dirty_cpu_utilisation: state.dirty_cpu_utilisation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_crash_the_reader_of_states(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_state(&bytes);
        }
    }

    #[test]
    fn the_agent_uses_no_instruction_newer_than_otp_25() {
        // The code chunk's header: id, size, header size, instruction set, highest opcode.
        let at = BEAM
            .windows(4)
            .position(|id| id == b"Code")
            .expect("a code chunk");
        let highest = u32::from_be_bytes(BEAM[at + 16..at + 20].try_into().unwrap());
        // 180 is `badrecord`, the last one in OTP 25's genop.tab; the VM refuses a higher one.
        assert!((1..=180).contains(&highest), "highest opcode {highest}");
    }
}
