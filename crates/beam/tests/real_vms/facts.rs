//! What the agent says is what the VM says of itself, and only the intended VM says it.

use std::io::Write;
use std::process::Stdio;

use crate::support::{command, facts_where, observe, until};
use plimsoll_beam::Session;
use plimsoll_schema::BindType;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const PRINT_BINDINGS: &str = "io:format(\"~p ~w\", [erlang:system_info(scheduler_bind_type), \
     tuple_to_list(erlang:system_info(scheduler_bindings))])";

#[test]
fn the_reported_binding_is_the_vms_own() {
    for (flags, expected) in [
        (["+sbt", "ts"], BindType::Ts),
        (["+sbt", "u"], BindType::U),
        // `db` is a name for today's default; the VM answers with what it stands for.
        (["+sbt", "db"], BindType::Tnnps),
    ] {
        let session = Session::new().unwrap();
        // The arm's flag must win over the command line's.
        let mut vm = command(&["erl", "+sbt", "s", "-noshell", "-eval"]);
        vm.arg(format!("{PRINT_BINDINGS}, halt()"));
        observe(&mut vm, &session, &flags);
        let output = vm.output().unwrap();
        let facts = session.facts().unwrap().unwrap();
        let bindings: Vec<String> = facts
            .bindings
            .iter()
            .map(|cpu| cpu.map_or_else(|| "unbound".to_owned(), |cpu| cpu.to_string()))
            .collect();
        assert_eq!(facts.bind_type, Some(expected));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{} [{}]", expected.atom(), bindings.join(","))
        );
    }
}

#[test]
fn a_binding_that_the_vm_does_not_honour_reads_unbound() {
    // More schedulers than CPUs: the surplus stays unbound, whatever was asked for.
    let cpus = std::thread::available_parallelism().unwrap().get();
    let session = Session::new().unwrap();
    let mut vm = command(&["erl", "-noshell", "-eval", "halt()"]);
    let schedulers = format!("{0}:{0}", cpus + 2);
    observe(&mut vm, &session, &["+S", &schedulers, "+sbt", "ts"]);
    assert!(vm.status().unwrap().success());
    let facts = session.facts().unwrap().unwrap();
    assert_eq!(facts.bind_type, Some(BindType::Ts));
    assert_eq!(facts.bindings.len(), cpus + 2);
    assert_eq!(facts.bindings[cpus..], [None, None]);
}

#[test]
fn a_binding_that_is_ignored_in_silence_is_told() {
    // A mount namespace of its own, where the kernel's topology is hidden from the VM.
    const HIDE: &str = "for d in cpu node; do \
         if [ -d /sys/devices/system/$d ]; then mount -t tmpfs none /sys/devices/system/$d; fi; done";
    let hidden =
        |words: &str| command(&["unshare", "-rm", "sh", "-c", &format!("{HIDE} && {words}")]);
    if !hidden("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("no mount namespaces here: not tested");
        return;
    }
    let session = Session::new().unwrap();
    let mut vm = hidden("exec erl -noshell -eval 'halt()'");
    observe(&mut vm, &session, &["+stbt", "ts"]);
    assert!(vm.status().unwrap().success());
    let facts = session.facts().unwrap().unwrap();
    assert_eq!(facts.bind_type, Some(BindType::U));
    assert!(facts.bindings.iter().all(Option::is_none), "{facts:?}");
}

#[test]
fn a_binding_that_the_program_takes_back_is_reported_as_it_is_now() {
    let session = Session::new().unwrap();
    let mut vm = command(&[
        "erl",
        "-noshell",
        "-eval",
        "erlang:system_flag(scheduler_bind_type, unbound), receive after infinity -> ok end",
    ]);
    observe(&mut vm, &session, &["+sbt", "ts"]);
    let mut vm = vm.spawn().unwrap();
    let facts = facts_where(&session, "unbound at run time", |facts| {
        facts.bind_type == Some(BindType::U)
    });
    vm.kill().unwrap();
    vm.wait().unwrap();
    assert!(facts.bindings.iter().all(Option::is_none), "{facts:?}");
}

#[test]
fn a_vm_that_is_killed_leaves_its_last_facts() {
    let session = Session::new().unwrap();
    let mut vm = command(&[
        "erl",
        "-noshell",
        "-eval",
        "receive after infinity -> ok end",
    ]);
    observe(&mut vm, &session, &["+S", "1:1"]);
    let mut vm = vm.spawn().unwrap();
    facts_where(&session, "means", |facts| facts.run_queue_mean.is_some());
    vm.kill().unwrap();
    vm.wait().unwrap();
    let facts = session.facts().unwrap().expect("the facts outlive the VM");
    assert_eq!(facts.schedulers, 1);
    assert!(facts.scheduler_utilisation.is_some());
}

#[test]
fn a_vm_inside_the_vm_stays_silent() {
    let inner = "ERL_FLAGS='+S 1:1' erl -noshell -eval 'timer:sleep(900), \
         io:format(\"~p\", [erlang:statistics(scheduler_wall_time)]), halt()'";
    let session = Session::new().unwrap();
    let mut vm = command(&["erl", "-noshell", "-eval"]);
    vm.arg(format!("io:put_chars(os:cmd({inner:?})), halt()"));
    observe(&mut vm, &session, &["+S", "3:3"]);
    let output = vm.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "undefined",
        "no agent in the inner one"
    );
    assert_eq!(session.facts().unwrap().unwrap().schedulers, 3);
}

#[test]
fn a_helper_vm_of_a_start_script_gives_way_to_the_real_one() {
    let session = Session::new().unwrap();
    let mut script = command(&[
        "sh",
        "-c",
        "ERL_FLAGS='+S 1:1' erl -noshell -eval 'halt()'; exec erl -noshell -eval 'halt()'",
    ]);
    observe(&mut script, &session, &["+S", "3:3"]);
    assert!(script.status().unwrap().success());
    assert_eq!(session.facts().unwrap().unwrap().schedulers, 3);
}

#[test]
fn a_command_that_is_no_vm_has_no_facts() {
    let session = Session::new().unwrap();
    let mut command = command(&["true"]);
    observe(&mut command, &session, &["+S", "1"]);
    assert!(command.status().unwrap().success());
    assert_eq!(session.facts().unwrap(), None);
}

#[test]
fn means_follow_the_load_and_restart_with_the_window() {
    let session = Session::new().unwrap();
    let mut vm = command(&["erl", "-noshell", "-eval"]);
    vm.arg(
        "F = fun F() -> F() end,
         Spinning = [spawn(F) || _ <- lists:seq(1, 8)],
         io:get_line(''),
         [exit(P, kill) || P <- Spinning],
         receive after infinity -> ok end",
    );
    observe(&mut vm, &session, &["+S", "2:2"]);
    let mut vm = vm.stdin(Stdio::piped()).spawn().unwrap();
    // Eight processes on two schedulers: two run, six wait, three a queue.
    let busy = facts_where(&session, "a loaded VM", |facts| {
        facts.run_queue_mean.is_some_and(|mean| mean > 1.5)
    });
    assert!(busy.scheduler_utilisation.unwrap() > 0.5, "{busy:?}");
    assert!(busy.run_queue_mean.unwrap() < 4.5, "{busy:?}");
    assert!(busy.dirty_cpu_utilisation.unwrap() < 0.1, "{busy:?}");

    let mut stdin = vm.stdin.take().unwrap();
    stdin.write_all(b"\n").unwrap();
    session.begin_window().unwrap();
    // Without a new window the old samples would keep the mean above this for minutes.
    facts_where(&session, "an idle window", |facts| {
        facts.run_queue_mean.is_some_and(|mean| mean < 0.005)
            && facts.scheduler_utilisation.is_some_and(|busy| busy < 0.2)
    });
    vm.kill().unwrap();
    vm.wait().unwrap();
}

#[test]
fn dirty_work_is_told_apart_from_normal_work() {
    let session = Session::new().unwrap();
    let mut vm = command(&["erl", "-noshell", "-eval"]);
    vm.arg("F = fun F() -> erts_debug:dirty_cpu(wait, 300), F() end, F()");
    observe(&mut vm, &session, &["+S", "1:1"]);
    let mut vm = vm.spawn().unwrap();
    facts_where(&session, "dirty work only", |facts| {
        facts.dirty_cpu_utilisation.is_some_and(|busy| busy > 0.5)
            && facts.scheduler_utilisation.is_some_and(|busy| busy < 0.5)
    });
    vm.kill().unwrap();
    vm.wait().unwrap();
}

#[test]
fn the_agent_ends_with_the_session() {
    let session = Session::new().unwrap();
    let mut vm = command(&["erl", "-noshell", "-eval"]);
    vm.arg(
        "F = fun F(Seen) -> timer:sleep(20),
             case erlang:statistics(scheduler_wall_time) of
                 undefined when Seen -> halt(0);
                 undefined -> F(false);
                 _ -> F(true)
             end end, F(false)",
    );
    observe(&mut vm, &session, &[]);
    let mut vm = vm.spawn().unwrap();
    facts_where(&session, "means", |facts| facts.run_queue_mean.is_some());
    drop(session);
    let status = until("the VM sees the measurement switched off", || {
        vm.try_wait().unwrap()
    });
    assert!(status.success());
}

#[test]
fn a_directory_with_any_name_will_do() {
    let parent = tempfile::tempdir().unwrap();
    let parent = parent.path().join("a b'c\"d\\e # $HOME é");
    std::fs::create_dir(&parent).unwrap();
    let session = Session::new_in(&parent).unwrap();
    for locale in ["C", "C.UTF-8"] {
        let mut vm = command(&["erl", "-noshell", "-eval", "halt()"]);
        vm.env("LC_ALL", locale);
        observe(&mut vm, &session, &[]);
        assert!(vm.status().unwrap().success());
    }
    assert!(session.facts().unwrap().is_some());
}

#[test]
fn any_word_arrives_in_the_vm_as_it_was_given() {
    // One VM for many words: starting it is what takes the time.
    let words = prop::collection::vec(
        "[ -~\\n\\t]{0,12}".prop_filter("not a flag itself", |word| !word.starts_with(['-', '+'])),
        40,
    );
    TestRunner::new(Config {
        cases: 6,
        failure_persistence: None,
        ..Config::default()
    })
    .run(&words, |words| {
        let session = Session::new().unwrap();
        let flags: Vec<&str> = ["-words"]
            .into_iter()
            .chain(words.iter().map(String::as_str))
            .collect();
        let mut vm = command(&["erl", "-noshell", "-eval"]);
        vm.arg(
            "{ok, [Words]} = init:get_argument(words), \
                 [io:put_chars([Word, 0]) || Word <- Words], halt()",
        );
        observe(&mut vm, &session, &flags);
        let output = vm.output().unwrap();
        let expected: String = words
            .iter()
            .flat_map(|word| [word.as_str(), "\0"])
            .collect();
        prop_assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        Ok(())
    })
    .unwrap();
}
