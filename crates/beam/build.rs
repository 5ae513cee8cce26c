//! Compiles the agent: `agent/plimsoll_agent.erl` to a beam file that the library embeds.

use std::process::Command;
use std::{env, io};

fn main() {
    println!("cargo::rerun-if-changed=agent/plimsoll_agent.erl");
    println!("cargo::rerun-if-env-changed=PATH");
    let Ok(out) = env::var("OUT_DIR") else {
        println!("cargo::error=OUT_DIR is not set; run this through cargo");
        return;
    };
    let output = Command::new("erlc")
        // Without the source's path in it, the same source gives the same bytes everywhere.
        .args(["+deterministic", "-Werror", "-o", &out])
        .arg("agent/plimsoll_agent.erl")
        // The VM that compiles must not take flags, nor an agent, from a session around the build.
        .env_remove("ERL_FLAGS")
        .env_remove("ERL_AFLAGS")
        .env_remove("ERL_ZFLAGS")
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            println!("cargo::error=erlc cannot compile agent/plimsoll_agent.erl:");
            let text = [output.stdout, output.stderr].concat();
            for line in String::from_utf8_lossy(&text).lines() {
                println!("cargo::error={line}");
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => println!(
            "cargo::error=no `erlc` on PATH; install Erlang/OTP 25 or later (on Debian: apt install erlang-base)"
        ),
        Err(error) => println!("cargo::error=cannot run erlc: {error}"),
    }
}
