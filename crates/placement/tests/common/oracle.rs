//! VMs that are asked for their own orders.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use plimsoll_placement::ErtsCpu;
use plimsoll_schema::BindType;

/// The orders of all bind types, as a VM gives them.
pub type Orders = BTreeMap<BindType, Option<Vec<u32>>>;

/// Prints the orders of the topology in force: one line, one field a bind type.
fn print_orders() -> String {
    let atoms: Vec<_> = BindType::ALL.iter().map(|b| b.atom()).collect();
    format!(
        "Print = fun() ->
           Show = fun(false) -> \"false\";
                     (T) -> lists:join(\",\", [integer_to_list(C) || C <- tuple_to_list(T)]) end,
           Ask = fun(B) -> Show(erts_debug:get_internal_state({{fake_scheduler_bindings, B}})) end,
           io:format(\"~s~n\", [lists:join(\";\", [Ask(B) || B <- [{}]])])
         end,
         erts_debug:set_internal_state(available_internal_state, true)",
        atoms.join(",")
    )
}

fn parse_orders(line: &str) -> Orders {
    let fields: Vec<_> = line.trim_end().split(';').collect();
    assert_eq!(fields.len(), BindType::ALL.len(), "the VM said: {line}");
    BindType::ALL
        .into_iter()
        .zip(fields)
        .map(|(bind, field)| {
            let cpus = (field != "false")
                .then(|| field.split(',').map(|cpu| cpu.parse().unwrap()).collect());
            (bind, cpus)
        })
        .collect()
}

/// An `erl` without console, home directory effects or other flags from the environment.
pub fn erl() -> Command {
    let mut command = Command::new("erl");
    without_flags(&mut command);
    command.args(["-noshell", "-kernel", "logger_level", "emergency"]);
    command
}

pub fn without_flags(command: &mut Command) {
    for name in ["ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS"] {
        command.env_remove(name);
    }
}

/// Runs a command to its end and returns what it printed.
pub fn output(command: &mut Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("erl must be installed: run the tests with ./x test");
    assert!(output.status.success(), "{command:?} failed: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The orders of a VM started with `+sct spec`.
pub fn orders_with_sct(spec: &str) -> Orders {
    let code = format!("{}, Print(), halt().", print_orders());
    parse_orders(&output(erl().args(["+sct", spec, "-eval", &code])))
}

/// One VM that takes topology after topology.
pub struct Oracle {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Oracle {
    pub fn start() -> Self {
        let code = format!(
            "{},
             Loop = fun Loop() ->
               case io:get_line('') of
                 eof -> halt();
                 Line ->
                   {{ok, Tokens, _}} = erl_scan:string(Line),
                   {{ok, Topology}} = erl_parse:parse_term(Tokens),
                   case catch erlang:system_flag(internal_cpu_topology, Topology) of
                     {{'EXIT', Reason}} -> io:format(\"refused ~w~n\", [Reason]);
                     _ -> Print()
                   end,
                   Loop()
               end
             end,
             Loop().",
            print_orders()
        );
        let mut child = erl()
            .args(["-eval", &code])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("erl must be installed: run the tests with ./x test");
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The VM's orders for CPUs given as the VM itself describes them; the VM checks them first.
    pub fn orders(&mut self, view: &[ErtsCpu]) -> Orders {
        let cpus: Vec<_> = view
            .iter()
            .map(|c| {
                format!(
                    "{{cpu,{},{},{},{},{},{}}}",
                    c.node, c.processor, c.processor_node, c.core, c.thread, c.logical
                )
            })
            .collect();
        writeln!(self.stdin.as_mut().unwrap(), "[{}].", cpus.join(",")).unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(!line.starts_with("refused"), "{line} {view:?}");
        parse_orders(&line)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // End of input is the VM's sign to halt.
        self.stdin = None;
        let _ = self.child.wait();
    }
}
