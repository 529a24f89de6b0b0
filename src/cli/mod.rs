//! The command line. A command builds an operation's input, hands it to the gate and shows the answer; it decides
//! nothing itself. What works on the file alone (`backup`, `audit`, `doctor`) opens it for reading only. A noun's
//! commands are in its folder, `src/nouns/<noun>/cli`.

mod backup;
mod call;
mod ci;
mod client;
mod column;
mod command;
mod completions;
mod declared;
mod demo;
mod doctor;
mod exit;
mod file;
mod foreseen;
mod global;
mod help;
mod init;
mod models;
mod operation;
#[cfg(feature = "pdf")]
mod pdf;
pub mod reference;
mod remote;
mod replay;
mod save;
mod serve;
mod settings;
pub mod show;
mod socket;
mod systems;

// The nouns' commands.
#[path = "../nouns/actor/cli.rs"]
mod actor;
#[path = "../nouns/approval/cli.rs"]
mod approval;
#[path = "../nouns/audit/cli.rs"]
mod audit;
#[path = "../nouns/blueprint/cli.rs"]
mod blueprint;
#[path = "../nouns/brain/cli/mod.rs"]
mod brain;
#[path = "../nouns/break_glass/cli.rs"]
mod break_glass;
#[path = "../nouns/change/cli.rs"]
mod change;
#[path = "../nouns/company/cli.rs"]
mod company;
#[path = "../nouns/context/cli.rs"]
mod context;
#[path = "../nouns/definition/cli.rs"]
mod definition;
#[path = "../nouns/delegation/cli.rs"]
mod delegation;
#[path = "../nouns/directory/cli.rs"]
mod directory;
#[path = "../nouns/entity/cli.rs"]
mod entity;
#[path = "../nouns/event/cli/mod.rs"]
mod event;
#[path = "../nouns/run/cli/follow.rs"]
mod follow;
#[path = "../nouns/inbox/cli.rs"]
mod inbox;
#[path = "../nouns/kill/cli.rs"]
mod kill;
#[path = "../nouns/knowledge/cli.rs"]
mod knowledge;
#[path = "../nouns/event/cli/log.rs"]
mod log;
#[path = "../nouns/policy/cli/mod.rs"]
pub mod policy;
#[path = "../nouns/run/cli/mod.rs"]
mod run;
#[path = "../nouns/brain/cli/schema.rs"]
mod schema;
#[path = "../nouns/run/cli/steps.rs"]
pub mod steps;
#[path = "../nouns/task/cli.rs"]
mod task;
#[path = "../nouns/tick/cli.rs"]
mod tick;
#[path = "../nouns/token/cli.rs"]
mod token;
#[path = "../nouns/view/cli.rs"]
mod view;
#[path = "../nouns/webhook/cli.rs"]
mod webhook;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};
use zeroize::Zeroizing;

use crate::background::mail::Mail;
use crate::background::models::Models;
use crate::background::models::Setup;
use crate::background::tools::{Elsewhere, Means};
use crate::background::web::Web;
use crate::config;
use crate::nouns::run::{ECHOES, MAIL, WEB};
use crate::types::egress::Egress;
use command::{Command, Commands, Needs};
use exit::{Exit, Failure};
use global::Global;
use show::Format;

/// The gate that everything in an AI-run company passes.
///
/// Commands work on a state file, in `./.ok` unless told otherwise, or on the server that has it.
#[derive(Parser)]
#[command(name = "ok", version, after_help = EXAMPLES, disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
}

const EXAMPLES: &str = "\
Examples:
  ok init --admin ana           make a company; prints the first token
  ok demo                       make a company to look around in
  ok serve                      serve its API
  ok --as ana token issue       a token for ana
  ok log --follow               what happens, as it happens
  ok audit verify               check the whole log
  ok help actor set             explain a command, with the options that every command takes";

/// The commands, noun by noun, in the order in which they are listed.
const NOUNS: &[Commands] = &[
    init::COMMANDS,
    demo::COMMANDS,
    serve::COMMANDS,
    backup::COMMANDS,
    doctor::COMMANDS,
    definition::COMMANDS,
    blueprint::COMMANDS,
    company::COMMANDS,
    actor::COMMANDS,
    directory::COMMANDS,
    token::COMMANDS,
    inbox::COMMANDS,
    run::COMMANDS,
    task::COMMANDS,
    brain::COMMANDS,
    schema::COMMANDS,
    view::COMMANDS,
    approval::COMMANDS,
    delegation::COMMANDS,
    break_glass::COMMANDS,
    webhook::COMMANDS,
    tick::COMMANDS,
    kill::COMMANDS,
    log::COMMANDS,
    replay::COMMANDS,
    audit::COMMANDS,
    context::COMMANDS,
    entity::COMMANDS,
    policy::COMMANDS,
    ci::COMMANDS,
    change::COMMANDS,
    completions::COMMANDS,
    help::COMMANDS,
];

/// The command line as it is understood.
pub fn declared() -> clap::Command {
    let commands = NOUNS.iter().flat_map(|commands| commands.iter()).map(|command| command.declared());
    Cli::command().subcommands(commands).subcommand_required(true).arg_required_else_help(true)
}

/// What was asked for: a command, with what it was given.
struct CommandLine {
    global: Global,
    command: &'static dyn Command,
    given: ArgMatches,
}

impl CommandLine {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
        let given = declared().try_get_matches_from(args)?;
        let global = Cli::from_arg_matches(&given)?.global;
        let unknown = || declared().error(ErrorKind::MissingSubcommand, "a command is required");
        let (command, given) = command::chosen(NOUNS, given).ok_or_else(unknown)?;
        Ok(CommandLine { global, command, given })
    }
}

/// What a command works with.
#[derive(Clone)]
pub struct Context {
    state: PathBuf,
    /// Whether the state file was named; else it is the one that commands use by default.
    named: bool,
    /// The name of the company, where one was chosen among several.
    tenant: Option<String>,
    /// Empty where nobody is known and nobody need be.
    actor: String,
    /// Whether that is the login name: nobody was named.
    by_login: bool,
    /// The delegation to act under.
    delegation: Option<String>,
    format: Format,
    dev_auth: bool,
    /// Agents are offered tools that echo.
    dev_echo: bool,
    /// Whether webhooks may be at loopback addresses all the same, as the demo's is.
    loopback: bool,
    /// The ports that webhooks may be at.
    ports: Vec<u16>,
    /// MiB that must be free on the disk.
    low_water: Option<u64>,
    /// The key that secrets are made from, where it is not in a file beside the state.
    secrets: Option<Zeroizing<[u8; 32]>>,
    /// A server on the network to ask instead.
    server: Option<String>,
    /// The file that says which other systems keep collections.
    systems: Option<PathBuf>,
    /// The server that agents' mail is given to.
    mail: Option<Mail>,
    /// Whether agents may read pages of the web.
    web: bool,
    /// The models that agents may ask; read when they are needed.
    models: OnceLock<Setup>,
    /// The abbreviated ids that were looked up.
    ids: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Context {
    /// The tools from elsewhere that agents may be offered.
    fn tools(&self) -> BTreeSet<String> {
        let echoes = self.dev_echo.then_some(ECHOES).into_iter().flatten();
        let own = [self.mail.is_some().then_some(MAIL), self.web.then_some(WEB)];
        echoes.chain(own.into_iter().flatten()).map(str::to_owned).collect()
    }

    /// Whether what leads to this machine may be gone to.
    fn loopback(&self) -> bool {
        self.loopback || self.dev_auth
    }

    /// Whoever runs need outside.
    fn means(&self, models: Arc<Models>) -> Result<Means, Failure> {
        let egress = Egress { loopback: self.loopback(), ports: self.ports.clone() };
        let web = self.web.then(|| Web::new(egress)).transpose().map_err(Failure::new)?;
        Ok(Means { models, tools: Arc::new(Elsewhere { mail: self.mail.clone(), web }) })
    }

    fn ids(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn models(&self) -> &Setup {
        self.models.get_or_init(models::setup)
    }

    /// Shows an answer: as it is, or as people read it.
    fn show(&self, answer: &serde_json::Value, human: impl FnOnce() -> Result<(), Failure>) -> Result<Exit, Failure> {
        let shown = if self.format == Format::Json { show::json(answer) } else { human() };
        shown.map(|()| Exit::Done)
    }
}

/// Runs the command line.
pub fn main() -> ExitCode {
    #[cfg(feature = "pdf")]
    if pdf::is_asked() {
        return pdf::read().into();
    }
    let exit = match CommandLine::parse(std::env::args_os()) {
        Ok(asked) => {
            let format = asked.global.format;
            run(asked).unwrap_or_else(|failure| report(&failure, format))
        }
        Err(error) if error.use_stderr() && asks_for_json() => {
            let message = error.render().to_string();
            // Up to the first blank line: usage and hints are for people.
            let lines = message.lines().map(str::trim).take_while(|line| !line.is_empty());
            let message = lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned();
            report(&Failure::Usage(message), Format::Json)
        }
        Err(error) => {
            show::clap(&error);
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    };
    exit.into()
}

fn run(CommandLine { global, command, given }: CommandLine) -> Result<Exit, Failure> {
    // (Where errors are JSON, nothing else stands beside them.)
    for (name, meant) in config::mistyped().into_iter().filter(|_| global.format != Format::Json) {
        show::note(&format!("{name} is no setting and has no effect; did you mean {meant}?"));
    }
    let (needs, names_a_file) = (command.needs(), global.names_a_file());
    let server = if needs.may_be_a_server() { server(&given, names_a_file)? } else { None };
    // A server knows its caller by the token.
    if let Some(server) = server.as_ref().filter(|_| global.acting.is_some()) {
        let (says, token) = (server.trim_end_matches('/'), config::TOKEN.variable);
        return Err(Failure::Usage(format!("--as is for a state file; at {says}, the token in {token} says who acts")));
    }
    let anybody = server.is_some() || matches!(needs, Needs::Nothing | Needs::Server | Needs::Either);
    let context = Context { server, ..global.context(anybody)? };
    tell_its_file(command, &context, names_a_file)?;
    let _tracing = show::trace()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let exit = runtime.block_on(command.run(&given, &context));
    // Nothing is waited for: what had to be finished was, unless a second signal said not to.
    runtime.shutdown_background();
    exit
}

/// The server that was named, unless a state file was; else the one that is set.
fn server(given: &ArgMatches, names_a_file: bool) -> Result<Option<String>, Failure> {
    let named = given.try_get_one::<String>(command::SERVER).ok().flatten();
    match named {
        Some(_) if names_a_file => Err(Failure::Usage("give either --server or a state file".into())),
        Some(address) => Ok(Some(address.clone())),
        None if names_a_file => Ok(None),
        None => Ok(config::SERVER.value()),
    }
}

/// Whoever has set OK_SERVER means that server, unless they hear otherwise; what stops a company must not guess.
fn tell_its_file(command: &dyn Command, context: &Context, names_a_file: bool) -> Result<(), Failure> {
    let elsewhere = context.server.is_none().then(|| config::SERVER.value()).flatten();
    let (Some(server), variable) = (elsewhere, config::SERVER.variable) else { return Ok(()) };
    let file = context.state.display();
    match command.needs() {
        Needs::Nothing | Needs::Server => {}
        Needs::NamedFile if !names_a_file => {
            let name = command.name();
            return Err(Failure::Usage(format!(
                "`ok {name}` works on a state file, and {variable} is set ({server}): give --state to stop the company in {file}"
            )));
        }
        Needs::NamedFile | Needs::File | Needs::FileOrServer | Needs::Either => {
            show::note(&format!("works on the state file {file}, not on {variable} ({server})"));
        }
    }
    Ok(())
}

/// Whether what was not understood asks for JSON all the same.
fn asks_for_json() -> bool {
    let args: Vec<String> = std::env::args().collect();
    args.iter().any(|arg| arg == "--format=json") || args.windows(2).any(|two| two == ["--format", "json"])
}

/// Says why a command did not end well.
fn report(failure: &Failure, format: Format) -> Exit {
    match (failure, format) {
        (Failure::NobodyReads, _) => {}
        (_, Format::Json) => show::json_error(&failure.json()),
        (Failure::Usage(message), _) => {
            show::clap(&declared().error(ErrorKind::ArgumentConflict, message));
        }
        (..) => show::error(&failure.sentence()),
    }
    failure.exit()
}
