//! Every way in which people start a VM: the agent gets in, and nobody sees it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{command, observe, same_output_with_agent};
use plimsoll_beam::Session;
use plimsoll_schema::VmFacts;

fn erl(expression: &str) -> Command {
    command(&["erl", "-noshell", "-eval", expression])
}

fn assert_real(facts: &VmFacts) {
    assert!(facts.otp_release.parse::<u32>().unwrap() >= 25, "{facts:?}");
    assert!(facts.schedulers >= facts.schedulers_online && facts.schedulers_online >= 1);
    assert_eq!(facts.bindings.len(), facts.schedulers, "{facts:?}");
    assert!(facts.dirty_io >= 1, "{facts:?}");
    assert!(
        ["jit", "emu"].contains(&facts.emulator_flavour.as_str()),
        "{facts:?}"
    );
}

#[test]
fn a_main_that_blocks() {
    let (stdout, facts) =
        same_output_with_agent(|| erl("receive after 1200 -> io:put_chars(\"done\"), halt() end"));
    assert_eq!(stdout, "done");
    assert_real(&facts);
    assert!(
        facts.run_queue_mean.is_some(),
        "it ran for several samples: {facts:?}"
    );
    assert!(facts.scheduler_utilisation.is_some(), "{facts:?}");
}

#[test]
fn a_main_that_is_busy_and_never_returns_to_the_boot_sequence() {
    let (stdout, facts) = same_output_with_agent(|| {
        erl("End = erlang:monotonic_time(millisecond) + 1200,
             F = fun F() -> erlang:monotonic_time(millisecond) < End andalso F() end,
             F(), io:put_chars(\"done\"), halt()")
    });
    assert_eq!(stdout, "done");
    assert_real(&facts);
}

#[test]
fn a_vm_that_halts_at_once_leaves_its_facts() {
    let (_, facts) = same_output_with_agent(|| erl("halt()"));
    assert_real(&facts);
}

#[test]
fn a_vm_that_stops_in_order_is_not_held_up() {
    let (_, facts) = same_output_with_agent(|| erl("io:put_chars(\"bye\"), init:stop(0)"));
    assert_real(&facts);
}

#[test]
fn a_failing_program_fails_as_before() {
    let run = |session: Option<&Session>| {
        let mut command = erl("io:put_chars(\"x\"), halt(7)");
        if let Some(session) = session {
            observe(&mut command, session, &[]);
        }
        command.output().unwrap()
    };
    let session = Session::new().unwrap();
    let (plain, observed) = (run(None), run(Some(&session)));
    assert_eq!(observed.status.code(), Some(7));
    assert_eq!(observed.stdout, plain.stdout);
}

#[test]
fn arguments_of_the_program_stay_its_own() {
    let (stdout, _) = same_output_with_agent(|| {
        command(&[
            "erl",
            "plain",
            "one",
            "-noshell",
            "-x",
            "y",
            "z",
            "-eval",
            "io:format(\"~p ~p\", [init:get_plain_arguments(), init:get_arguments()]), halt()",
            "-extra",
            "-eval",
            "two",
        ])
    });
    assert!(
        stdout.starts_with("[\"plain\",\"one\",\"-eval\",\"two\"]"),
        "{stdout}"
    );
}

#[test]
fn an_interactive_shell_that_reads_its_commands() {
    let (stdout, facts) = same_output_with_agent(|| {
        // The shell starts before any `-eval`: one that halts at once would leave no facts.
        let script = "echo '1 + 1. timer:sleep(700), halt().' | erl";
        let mut command = command(&["sh", "-c", script]);
        command.env("TERM", "dumb");
        command
    });
    assert!(stdout.contains('2'), "{stdout}");
    assert_real(&facts);
}

#[test]
fn an_escript() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("hello world");
    fs::write(
        &script,
        "#!/usr/bin/env escript\nmain(Args) -> io:format(\"~p~n\", [Args]), timer:sleep(700).\n",
    )
    .unwrap();
    let (stdout, facts) =
        same_output_with_agent(|| command(&["escript", script.to_str().unwrap(), "a b", "-c"]));
    assert_eq!(stdout, "[\"a b\",\"-c\"]\n");
    assert_real(&facts);
}

#[test]
fn elixir_with_an_expression() {
    let (stdout, facts) = same_output_with_agent(|| {
        command(&[
            "elixir",
            "-e",
            "IO.inspect(System.argv()); Process.sleep(700)",
            "a b",
            "--c",
        ])
    });
    assert_eq!(stdout, "[\"a b\", \"--c\"]\n");
    assert_real(&facts);
}

fn mix_project(directory: &Path) {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "mix.exs",
        "defmodule Demo.MixProject do
           use Mix.Project
           def project, do: [app: :demo, version: \"0.1.0\"]
           def application, do: [extra_applications: [:logger], mod: {Demo, []}]
         end\n",
    );
    write(
        "lib/demo.ex",
        "defmodule Demo do
           use Application
           def start(_, _) do
             if System.get_env(\"RELEASE_NAME\"), do: spawn(&run/0)
             Supervisor.start_link([], strategy: :one_for_one)
           end
           def run do
             Process.sleep(700)
             IO.puts(\"mode #{:code.get_mode()}\")
             System.stop(0)
           end
         end\n",
    );
}

fn mix(directory: &Path, words: &[&str]) -> Command {
    let mut command = command(&[&["mix"], words].concat());
    command.current_dir(directory).env("MIX_ENV", "prod");
    command
}

#[test]
fn mix_run_and_a_release_in_embedded_mode() {
    let directory = tempfile::tempdir().unwrap();
    mix_project(directory.path());
    let built = mix(directory.path(), &["release", "--quiet"])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );

    let (stdout, facts) = same_output_with_agent(|| {
        mix(
            directory.path(),
            &["run", "-e", "Process.sleep(700); IO.puts(:ran)"],
        )
    });
    assert_eq!(stdout, "ran\n");
    assert_real(&facts);

    let release = directory.path().join("_build/prod/rel/demo/bin/demo");
    let (stdout, facts) = same_output_with_agent(|| {
        let mut command = command(&[release.to_str().unwrap(), "start"]);
        // Without a node name nothing listens and no port mapper is started.
        command.env("RELEASE_DISTRIBUTION", "none");
        command
    });
    assert_eq!(stdout, "mode embedded\n");
    assert_real(&facts);
}

#[test]
fn rebar3_shell() {
    if Command::new("rebar3").arg("version").output().is_err() {
        eprintln!("rebar3 is not installed: not tested here");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("rebar.config"), "{erl_opts, []}.\n").unwrap();
    let session = Session::new().unwrap();
    let mut command = command(&["rebar3", "shell", "--eval", "halt()."]);
    observe(&mut command, &session, &[]);
    command.current_dir(directory.path()).output().unwrap();
    assert_real(&session.facts().unwrap().expect("a VM claimed the session"));
}
