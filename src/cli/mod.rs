//! The command line. A command builds an operation's input, hands it to the gate and shows the answer; it decides
//! nothing itself. What works on the file alone (`backup`, `audit`, `doctor`) opens it for reading only. A file per noun.

mod actor;
mod approval;
mod audit;
mod backup;
mod blueprint;
mod call;
mod changes;
mod ci;
mod client;
mod company;
mod completions;
mod context;
mod definition;
mod delegation;
mod directory;
mod doctor;
mod event;
mod exit;
mod file;
mod help;
mod inbox;
mod init;
mod kill;
mod log;
mod policy;
pub mod reference;
mod remote;
mod replay;
mod save;
mod serve;
mod show;
mod socket;
mod subscription;
#[cfg(test)]
mod tests;
mod tick;
mod token;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use zeroize::Zeroizing;

use crate::config;
use crate::gate::keys;
use exit::{Exit, Failure};
use show::Format;

/// The gate that everything in an AI-run company passes.
///
/// Commands work on a state file, in `./.ok` unless told otherwise, or on the server that has it.
#[derive(Parser)]
#[command(name = "ok", version, after_help = EXAMPLES, disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ok init --admin ana           make a company; prints the first token
  ok serve                      serve its API
  ok --as ana token issue       a token for ana
  ok log --follow               what happens, as it happens
  ok audit verify               check the whole log
  ok help actor set             explain a command, with the options that every command takes";

/// What every command takes.
#[derive(clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true, help = told_of(&config::STATE))]
    state: Option<PathBuf>,
    #[arg(long = "as", global = true, value_name = "ID", hide_short_help = true, help = told_of(&config::AS))]
    acting: Option<String>,
    #[arg(long, global = true, value_name = "DELEGATION", hide_short_help = true, help = told_of(&config::DELEGATION))]
    delegation: Option<String>,
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true, help = told_of(&config::TENANT))]
    tenant: Option<String>,
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true, help = told_of(&config::TENANTS_DIR))]
    tenants_dir: Option<PathBuf>,
    #[arg(long, global = true, hide_short_help = true, help = told_of(&config::DEV_ECHO_TOOLS))]
    dev_echo_tools: bool,
    /// How answers are printed
    #[arg(long, global = true, hide_short_help = true, value_parser = show::common(), default_value = "human")]
    format: Format,
}

fn told_of(setting: &config::Setting) -> String {
    format!("{} [env: {}] [default: {}]", setting.doc, setting.variable, setting.default)
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Serve(serve::Serve),
    Backup(backup::Backup),
    Doctor(doctor::Doctor),
    Schemas(definition::Schemas),
    #[command(subcommand)]
    Blueprint(blueprint::Blueprint),
    #[command(subcommand)]
    Company(company::Company),
    #[command(subcommand)]
    Actor(actor::Actor),
    #[command(subcommand)]
    Directory(directory::Directory),
    #[command(subcommand)]
    Token(token::Token),
    Inbox(inbox::Inbox),
    Approve(approval::Approve),
    #[command(subcommand)]
    Approval(approval::Approval),
    Delegate(delegation::Delegate),
    #[command(subcommand)]
    Delegation(delegation::Delegation),
    #[command(subcommand)]
    BreakGlass(policy::break_glass::Grants),
    #[command(subcommand)]
    Subscription(subscription::Subscription),
    Tick(tick::Tick),
    Kill(kill::Kill),
    Log(log::Log),
    Replay(replay::Replay),
    #[command(subcommand)]
    Audit(audit::Audit),
    #[command(subcommand)]
    Context(context::Captured),
    Policy(policy::Policy),
    Ci(ci::Ci),
    #[command(subcommand)]
    Changes(changes::Changes),
    Completions(completions::Completions),
    Help(help::Help),
}

/// What a command works with.
pub struct Context {
    state: PathBuf,
    /// Whether the state file was named; else it is the one that commands use by default.
    named: bool,
    /// Empty where nobody is known and nobody need be.
    actor: String,
    /// Whether that is the login name: nobody was named.
    by_login: bool,
    /// The delegation to act under.
    delegation: Option<String>,
    format: Format,
    dev_auth: bool,
    /// The ports that webhooks may be at.
    ports: Vec<u16>,
    /// MiB that must be free on the disk.
    low_water: Option<u64>,
    /// The key that secrets are made from, where it is not in a file beside the state.
    secrets: Option<Zeroizing<[u8; 32]>>,
    /// A server on the network to ask instead.
    server: Option<String>,
}

impl Context {
    /// Shows an answer: as it is, or as people read it.
    fn show(&self, answer: &serde_json::Value, human: impl FnOnce() -> Result<(), Failure>) -> Result<Exit, Failure> {
        match self.format {
            Format::Json => show::json(answer)?,
            _ => human()?,
        }
        Ok(Exit::Done)
    }
}

impl Global {
    /// Whether a state file is named, as a file or as a tenant's.
    fn names_a_file(&self) -> bool {
        self.state.is_some() || self.tenant.is_some()
    }

    /// `anybody`: whether it matters who acts.
    fn context(self, anybody: bool) -> Result<Context, Failure> {
        let named = self.names_a_file() || config::STATE.path().is_some() || config::TENANT.value().is_some();
        let said = self.acting.or_else(|| config::AS.value());
        let by_login = said.is_none();
        let known = said.or_else(config::login_name);
        let nobody = || Failure::Usage(format!("the login name is not known: give --as or {}", config::AS.variable));
        Ok(Context {
            actor: known.or_else(|| anybody.then(String::new)).ok_or_else(nobody)?,
            by_login,
            delegation: self.delegation.or_else(|| config::DELEGATION.value()),
            named,
            state: state(self.state, self.tenant, self.tenants_dir)?,
            format: self.format,
            dev_auth: config::DEV_AUTH.is_on(),
            ports: ports()?,
            low_water: low_water()?,
            secrets: secrets()?,
            server: None,
        })
    }
}

/// The ports that webhooks may be at.
fn ports() -> Result<Vec<u16>, Failure> {
    let text = config::EGRESS_PORTS.value().unwrap_or_else(|| config::EGRESS_PORTS.default.into());
    let read = |port: &str| port.trim().parse::<u16>().ok().filter(|port| *port != 0);
    let ports: Option<std::collections::BTreeSet<u16>> = text.split(',').map(read).collect();
    let wrong = || {
        let name = config::EGRESS_PORTS.variable;
        Failure::Usage(format!("{name} must hold ports, separated by commas, such as 443,8443; not `{text}`"))
    };
    ports.map(Vec::from_iter).ok_or_else(wrong)
}

/// MiB that must be free on the disk.
fn low_water() -> Result<Option<u64>, Failure> {
    let Some(text) = config::DISK_LOW_WATER.value() else { return Ok(None) };
    let wrong = |_| {
        let name = config::DISK_LOW_WATER.variable;
        Failure::Usage(format!("{name} must hold a whole number of MiB, such as 256, or 0; not `{text}`"))
    };
    text.trim().parse().map(Some).map_err(wrong)
}

/// The key that secrets are made from. What is wrong with it is told without showing it.
fn secrets() -> Result<Option<Zeroizing<[u8; 32]>>, Failure> {
    let Some(text) = config::SECRETS_KEY.value().map(Zeroizing::new) else { return Ok(None) };
    let wrong = || {
        Failure::Usage(format!(
            "{} must hold 32 bytes: 64 hex digits, or 43 characters of base64 (A-Z, a-z, 0-9, + and /), with or without a = behind them; `openssl rand -base64 32` makes some",
            config::SECRETS_KEY.variable
        ))
    };
    keys::parse(&text).map(Some).ok_or_else(wrong)
}

/// The state file: named, a tenant's, or the default. What a flag says wins over the environment.
fn state(named: Option<PathBuf>, tenant: Option<String>, folder: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let (named, tenant, folder) = match (named, tenant, folder) {
        (Some(named), None, None) => return Ok(named),
        (None, None, None) => (config::STATE.path(), config::TENANT.value(), config::TENANTS_DIR.path()),
        (named, tenant, folder) => {
            (named, tenant.or_else(|| config::TENANT.value()), folder.or_else(|| config::TENANTS_DIR.path()))
        }
    };
    match (named, tenant, folder) {
        (named, None, None) => Ok(named.unwrap_or_else(|| config::STATE.default.into())),
        (None, Some(tenant), Some(folder)) if is_tenant(&tenant) => Ok(folder.join(tenant).join("state.db")),
        (None, Some(tenant), Some(_)) => Err(Failure::Usage(format!(
            "`{tenant}` is not an organization's name: use a-z, 0-9 and `-`, at most 63 characters, beginning with a letter or digit"
        ))),
        (Some(_), ..) => Err(Failure::Usage("give either --state or --tenant and --tenants-dir".into())),
        (None, ..) => Err(Failure::Usage("--tenant and --tenants-dir go together".into())),
    }
}

fn is_tenant(name: &str) -> bool {
    let known = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=63).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(known)
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => {
            let format = cli.global.format;
            run(cli).unwrap_or_else(|failure| told(&failure, format))
        }
        Err(error) if error.use_stderr() && asks_for_json() => {
            let message = error.render().to_string();
            let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            told(&Failure::Usage(message), Format::Json)
        }
        Err(error) => {
            show::clap(&error);
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    };
    exit.into()
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let names_a_file = cli.global.names_a_file();
    let server = match &cli.command {
        Command::Ci(_) if !names_a_file => config::SERVER.value(),
        Command::Policy(policy) => policy.server(names_a_file)?,
        _ => None,
    };
    // Works on files, unless a server is named: no state file, no actor.
    let checks = matches!(&cli.command, Command::Policy(policy::Policy { command: policy::Command::Check(_), .. }));
    // A server knows its caller by the token, and most of `ok ci` is about files alone.
    let anybody =
        checks || server.is_some() || matches!(cli.command, Command::Ci(_) | Command::Schemas(_) | Command::Help(_));
    let context = Context { server, ..cli.global.context(anybody)? };
    cli.command.tells_its_file(&context, names_a_file)?;
    let _tracing = show::trace()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let exit = runtime.block_on(cli.command.run(&context));
    // Nothing is waited for: what had to be finished was, unless a second signal said not to.
    runtime.shutdown_background();
    exit
}

impl Command {
    /// Whoever has set OK_SERVER means that server, unless they hear otherwise; what stops a company must not guess.
    fn tells_its_file(&self, context: &Context, names_a_file: bool) -> Result<(), Failure> {
        let elsewhere = context.server.is_none().then(|| config::SERVER.value()).flatten();
        let (Some(server), variable) = (elsewhere, config::SERVER.variable) else { return Ok(()) };
        let file = context.state.display();
        match self {
            Command::Doctor(_) | Command::Schemas(_) | Command::Completions(_) | Command::Help(_) => Ok(()),
            Command::Policy(policy::Policy { command: policy::Command::Check(_), .. }) => Ok(()),
            Command::Kill(_) if !names_a_file => Err(Failure::Usage(format!(
                "`ok kill` works on a state file, and {variable} is set ({server}): give --state to stop the company in {file}"
            ))),
            _ => {
                show::note(&format!("works on the state file {file}, not on {variable} ({server})"));
                Ok(())
            }
        }
    }

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Command::Init(command) => command.run(context).await,
            Command::Serve(command) => command.run(context).await,
            Command::Backup(command) => command.run(context),
            Command::Doctor(command) => command.run(context),
            Command::Schemas(_) => definition::Schemas::run(),
            Command::Blueprint(command) => command.run(context).await,
            Command::Company(command) => command.run(context).await,
            Command::Actor(command) => command.run(context).await,
            Command::Directory(command) => command.run(context).await,
            Command::Token(command) => command.run(context).await,
            Command::Inbox(command) => command.run(context).await,
            Command::Approve(command) => command.run(context).await,
            Command::Approval(command) => command.run(context).await,
            Command::Delegate(command) => command.run(context).await,
            Command::Delegation(command) => command.run(context).await,
            Command::BreakGlass(command) => command.run(context).await,
            Command::Subscription(command) => command.run(context).await,
            Command::Tick(command) => command.run(context).await,
            Command::Kill(command) => command.run(context).await,
            Command::Log(command) => command.run(context).await,
            Command::Replay(command) => command.run(context).await,
            Command::Audit(command) => command.run(context),
            Command::Context(command) => command.run(context).await,
            Command::Policy(command) => command.run(context).await,
            Command::Ci(command) => command.run(context).await,
            Command::Changes(command) => command.run(context).await,
            Command::Completions(command) => command.run(),
            Command::Help(command) => command.run(),
        }
    }
}

/// Whether what was not understood asks for JSON all the same.
fn asks_for_json() -> bool {
    let args: Vec<String> = std::env::args().collect();
    args.iter().any(|arg| arg == "--format=json") || args.windows(2).any(|two| two == ["--format", "json"])
}

/// Says why a command did not end well.
fn told(failure: &Failure, format: Format) -> Exit {
    match (failure, format) {
        (Failure::NobodyReads, _) => {}
        (_, Format::Json) => show::json_error(&failure.json()),
        (Failure::Usage(message), _) => {
            show::clap(&Cli::command().error(ErrorKind::ArgumentConflict, message));
        }
        (..) => show::error(&failure.sentence()),
    }
    failure.exit()
}
