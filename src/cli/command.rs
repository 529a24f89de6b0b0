//! What a command is, whatever it does: a value in its noun's `COMMANDS`. Most declare an operation
//! ([`operation`](super::operation)); the others have logic of their own ([`own`]) or commands below them ([`group`]).

use std::marker::PhantomData;
use std::pin::Pin;

use clap::ArgMatches;

use super::Context;
use super::exit::{Exit, Failure};

/// How it ends, once it has.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Exit, Failure>> + 'a>>;

/// A command, or a group of them.
pub trait Command: Sync {
    fn name(&self) -> &'static str;
    /// Its arguments and its help.
    fn declared(&self) -> clap::Command;
    fn below(&self) -> Commands {
        &[]
    }
    fn needs(&self) -> Needs {
        Needs::File
    }
    fn run<'a>(&'a self, given: &'a ArgMatches, context: &'a Context) -> Running<'a>;
    /// The operation that it declares, if it does one.
    fn operation(&self) -> Option<&dyn super::declared::Declared> {
        None
    }
}

pub type Commands = &'static [&'static dyn Command];

/// What a command works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Neither a company nor somebody who acts.
    Nothing,
    /// The same; a server that is named or set is asked too.
    Server,
    /// A state file.
    File,
    /// A state file that is named where a server is set too: what stops a company must not guess.
    NamedFile,
    /// A state file, or the server that is named or set.
    FileOrServer,
    /// The same; and nobody need act.
    Either,
}

impl Needs {
    pub const fn may_be_a_server(self) -> bool {
        matches!(self, Needs::Server | Needs::FileOrServer | Needs::Either)
    }
}

/// Commands below a word.
pub struct Group {
    name: &'static str,
    help: &'static str,
    below: Commands,
    /// Whether they take `--server`.
    names_a_server: bool,
}

pub const fn group(name: &'static str, help: &'static str, below: Commands) -> Group {
    Group { name, help, below, names_a_server: false }
}

impl Group {
    pub const fn with_server(self) -> Group {
        Group { names_a_server: true, ..self }
    }
}

pub const SERVER: &str = "server";

fn server() -> clap::Arg {
    let help = "The server to work on: https, or http to a loopback address [env: OK_SERVER]";
    clap::Arg::new(SERVER).long(SERVER).global(true).value_name("URL").help(help)
}

impl Command for Group {
    fn name(&self) -> &'static str {
        self.name
    }

    fn declared(&self) -> clap::Command {
        let below = self.below.iter().map(|command| command.declared());
        let command = helped(clap::Command::new(self.name), self.help, "").subcommands(below);
        let command = if self.names_a_server { command.arg(server()) } else { command };
        command.subcommand_required(true).arg_required_else_help(true)
    }

    fn below(&self) -> Commands {
        self.below
    }

    fn run<'a>(&'a self, _: &'a ArgMatches, _: &'a Context) -> Running<'a> {
        Box::pin(async { Err(Failure::Usage(format!("`{}` is not a command by itself", self.name))) })
    }
}

/// A command with its help, of which the first line is the short one.
pub(super) fn helped(command: clap::Command, help: &'static str, example: &'static str) -> clap::Command {
    let (short, more) = help.split_once("\n\n").unwrap_or((help, ""));
    let short = short.trim_end_matches('.');
    let example = if example.is_empty() { String::new() } else { format!("Example: `{example}`") };
    let parts: Vec<&str> = [short, more, &example].into_iter().filter(|part| !part.is_empty()).collect();
    let command = command.about(short);
    if parts.len() > 1 { command.long_about(parts.join("\n\n")) } else { command.long_about(None) }
}

/// A command with logic of its own: what it is given, and what it does with it. Its documentation is its help.
pub trait Run: clap::FromArgMatches {
    const NEEDS: Needs = Needs::File;
    async fn run(self, context: &Context) -> Result<Exit, Failure>;
}

pub struct Own<T> {
    name: &'static str,
    /// Another word that people try for it.
    alias: Option<&'static str>,
    /// Adds what it takes.
    augment: fn(clap::Command) -> clap::Command,
    of: PhantomData<fn() -> T>,
}

pub const fn own<T: Run + clap::Args>(name: &'static str) -> Own<T> {
    Own { name, alias: None, augment: T::augment_args, of: PhantomData }
}

/// Several that are told apart by a word.
pub const fn owns<T: Run + clap::Subcommand>(name: &'static str) -> Own<T> {
    let augment = |command| T::augment_subcommands(command).subcommand_required(true).arg_required_else_help(true);
    Own { name, alias: None, augment, of: PhantomData }
}

impl<T> Own<T> {
    pub const fn alias(self, alias: &'static str) -> Own<T> {
        Own { alias: Some(alias), ..self }
    }
}

impl<T: Run> Command for Own<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn declared(&self) -> clap::Command {
        let command = clap::Command::new(self.name);
        (self.augment)(self.alias.iter().fold(command, |command, alias| command.alias(*alias)))
    }

    fn needs(&self) -> Needs {
        T::NEEDS
    }

    fn run<'a>(&'a self, given: &'a ArgMatches, context: &'a Context) -> Running<'a> {
        Box::pin(async move { T::from_arg_matches(given)?.run(context).await })
    }
}

/// The command that was chosen, and what it was given.
pub fn chosen(nouns: &[Commands], mut given: ArgMatches) -> Option<(&'static dyn Command, ArgMatches)> {
    let mut among: Vec<&'static dyn Command> = nouns.iter().copied().flatten().copied().collect();
    loop {
        let (name, below) = given.remove_subcommand()?;
        let command = among.into_iter().find(|command| command.name() == name)?;
        given = below;
        if command.below().is_empty() {
            return Some((command, given));
        }
        among = command.below().to_vec();
    }
}
