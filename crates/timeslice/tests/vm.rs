//! The crate inside a real VM: the template project and a library of misbehaving computations
//! are built, loaded and called (tests/vm/cases.erl).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A folder with both libraries and the compiled Erlang modules.
fn prepared() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let room = Path::new(env!("CARGO_MANIFEST_DIR"));
        // The test runs from TARGET/PROFILE/deps.
        let exe = std::env::current_exe().expect("the test has a path");
        let profile = exe.ancestors().nth(2).expect("the test lies in deps");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--examples", "-p", "plimsoll-timeslice"]);
        cargo
            .arg("--target-dir")
            .arg(profile.parent().expect("a target folder"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(
            cargo
                .current_dir(room)
                .status()
                .expect("cargo runs")
                .success()
        );

        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("vm");
        std::fs::create_dir_all(&folder).expect("a folder for the VM's files");
        for (built, name) in [("template", "my_nif"), ("troublemaker", "troublemaker")] {
            let library = profile.join(format!("examples/lib{built}.so"));
            std::fs::copy(&library, folder.join(format!("{name}.so")))
                .expect("the library is built");
        }
        let erlc = Command::new("erlc")
            .arg("-o")
            .arg(&folder)
            .args([
                "template/my_nif.erl",
                "tests/vm/troublemaker.erl",
                "tests/vm/cases.erl",
            ])
            .current_dir(room)
            .status();
        assert!(erlc.expect("erlc is installed: ./x setup").success());
        folder
    })
}

fn case(name: &str) {
    let output = Command::new("erl")
        .args(["-noinput", "-boot", "start_clean", "-eval"])
        .arg(format!("cases:{name}(), halt(0)."))
        .current_dir(prepared())
        .output()
        .expect("erl is installed: ./x setup");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{name}: {out}{err}");
}

macro_rules! cases {
    ($($name:ident)*) => { $(#[test] fn $name() { case(stringify!($name)); })* };
}

cases! {
    the_template_counts_the_same_primes_four_ways
    a_panic_is_an_error_with_its_message
    an_error_is_raised
    a_type_that_was_never_registered_is_named
    a_large_binary_is_held_while_its_owner_forgets_it
    a_killed_caller_leaves_nothing_behind
    others_run_while_it_yields
    a_long_automatic_call_leaves_the_normal_scheduler
    tracing_and_collecting_in_the_middle_changes_nothing
}
