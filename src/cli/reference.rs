//! `docs/reference/cli.md`, written from the commands as they are declared.

use std::fmt::Write as _;

use clap::{Arg, Command};

pub use super::client::LISTS;
use super::column::Column;
use super::command;
use super::exit::Exit;
use super::{NOUNS, declared};

/// The operation of each command that declares one, with the fields of its answer that people read; and each that lists
/// ids of which the beginning is enough, with the field that holds them.
pub fn columns() -> Vec<(&'static str, &'static [Column])> {
    fn below(commands: &[&'static dyn command::Command]) -> Vec<(&'static str, &'static [Column])> {
        let own = commands.iter().filter_map(|command| command.operation());
        let own = own.map(|operation| (operation.op(), operation.columns()));
        own.chain(commands.iter().flat_map(|command| below(command.below()))).collect()
    }
    NOUNS.iter().flat_map(|noun| below(noun)).chain(LISTS).collect()
}

/// How much of an id is enough.
const ABBREVIATED: &str = "## Ids\n\nWherever the id of a token, an approval, a change, a delegation, a grant, a task or a run is given, its beginning is \
                           enough: the prefix, such as `tsk_`, and at least four characters after it, if only one that you may see begins so. \
                           Over HTTP, ids are whole.\n\n";

/// Every command with its arguments, the exit codes, and what every command takes.
pub fn reference() -> String {
    let mut whole = declared();
    whole.build();
    let mut text = String::from(
        "# Commands\n\nGenerated from the declarations of the commands.\n\n## What every command takes\n\n",
    );
    arguments(&mut text, whole.get_arguments().filter(|arg| arg.is_global_set()));
    text.push_str(ABBREVIATED);
    text.push_str("## Exit codes\n\n| Code | Meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "| {} | {} |", *exit as u8, exit.meaning());
    }
    text.push('\n');
    whole.get_subcommands_mut().for_each(|command| describe(&mut text, command));
    format!("{}\n", text.trim_end())
}

fn describe(text: &mut String, command: &mut Command) {
    if !command.is_subcommand_required_set() {
        let usage = command.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ");
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, "## {}\n\n{about}\n\n    {usage}\n\n", command.get_bin_name().unwrap_or_default());
        arguments(text, command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help"));
    }
    command.get_subcommands_mut().for_each(|command| describe(text, command));
}

fn arguments<'a>(text: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let rows: String = args.map(|arg| format!("| `{}` | {} |\n", written(arg), meaning(arg))).collect();
    if !rows.is_empty() {
        let _ = write!(text, "| Argument | Meaning |\n|---|---|\n{rows}\n");
    }
}

/// `--ttl <SPAN>`, `<ID>`
fn written(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| format!("<{name}>"));
    let value = value.filter(|_| arg.get_action().takes_values());
    let flag = arg.get_long().map(|flag| format!("--{flag}"));
    flag.into_iter().chain(value).collect::<Vec<_>>().join(" ")
}

fn meaning(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let choice = if values.is_empty() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!(": {}", values.join(", "))
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    format!("{help}{choice}").replace('<', "\\<")
}
