//! `ok demo`: a company to look around in, and the server that shows it.

mod place;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::place::Place;
use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::policy::export;
use super::{Context, client, models, serve, show};
use crate::background::mail::Mail;
use crate::background::models::{Setup, Usual};
use crate::config;
use crate::demo::{self, CannotTell, DemoSummary, Fakes, Mailbox, SENDER, SignIn, warehouse};
use crate::gate::state::open::Company;
use crate::types::mail::Address;
use crate::types::time::{Clock as _, SystemClock};

pub const COMMANDS: Commands = &[&own::<Demo>("demo")];

/// Create a demo company
///
/// Three teams, a dozen people, six agents, their policies and some weeks of their work. Everything in it was done through
/// the gate, so its log verifies. `ok demo serve` shows it.
#[derive(clap::Args)]
pub struct Demo {
    /// The folder to create it in [default: demo]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Replace an existing demo
    #[arg(long)]
    force: bool,
    #[command(subcommand)]
    below: Option<Below>,
}

#[derive(Subcommand)]
enum Below {
    Serve(Serve),
}

/// Serve the demo, with a sign-in token for everybody in it
///
/// Prints a token for each of its people, valid for 7 days; those printed by an earlier start are revoked. Webhook messages and outgoing mail are delivered to this machine and printed.
#[derive(clap::Args)]
struct Serve {
    /// The folder of the demo [default: demo]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The address to listen on; OK_BIND is for `ok serve` alone
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    bind: String,
    /// Development: as OK_DEV_AUTH=1
    #[arg(long)]
    dev_auth: bool,
}

const FOLDER: &str = "demo";

/// How a command names a folder.
fn named(dir: &Path) -> String {
    if dir == Path::new(FOLDER) { String::new() } else { format!(" --dir {}", word(&dir.display().to_string())) }
}

/// A text as one word of a shell: POSIX.1-2024, Shell Command Language, 2.2.2.
fn word(text: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./".contains(sign);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl Run for Demo {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Demo { dir, force, below } = self;
        match below {
            Some(Below::Serve(_)) if force => {
                Err(Failure::Usage("--force makes a demo; `serve` does not accept it".into()))
            }
            Some(Below::Serve(serve)) => {
                let dir = serve.dir.clone().or(dir).unwrap_or_else(|| FOLDER.into());
                serve.run(&dir, context).await
            }
            None => make(&dir.unwrap_or_else(|| FOLDER.into()), force, context).await,
        }
    }
}

/// The company of a folder, as commands work with it.
fn inside(folder: &Path, context: &Context) -> Context {
    let own = folder.join(warehouse::SYSTEMS);
    let systems = context.systems.clone().or_else(|| own.exists().then_some(own));
    Context { state: folder.join("state.db"), named: true, loopback: true, systems, ..context.clone() }
}

/// The same with the demo's own mail box, wherever that listens.
fn with_mail(context: Context, at: Option<SocketAddr>) -> Result<Context, Failure> {
    let mail = Address::try_from(SENDER.to_owned()).and_then(|from| Mail::read(&Mailbox::url(at), from));
    Ok(Context { mail: Some(mail.map_err(Failure::new)?), ..context })
}

async fn make(dir: &Path, force: bool, context: &Context) -> Result<Exit, Failure> {
    let place = Place::prepare(dir, force)?;
    let failed = |error: CannotTell| Failure::new(error.to_string());
    warehouse::make(place.building(), SystemClock.now()).map_err(failed)?;
    // The story names the demo's own system.
    let context = &Context { systems: None, ..context.clone() };
    let within = with_mail(Context { actor: "ana".into(), ..inside(place.building(), context) }, None)?;
    let policies = place.building().join("policies");
    let mut progress = |chapter: &str| show::note(&format!("  {chapter}"));
    show::note(&format!("Making a demo company in {}:", dir.display()));
    let options = client::options(&within)?;
    let summary = demo::tell(&options, models::client(context.models())?, policies.clone(), &mut progress).await;
    let summary = summary.map_err(failed)?;
    export::write_to(&policies, &within).await?;
    demo::commit_rest(&policies, &*options.clock);
    place.finish()?;
    let made = Made::of(dir, &summary);
    context.show(&serde_json::to_value(&made)?, || made.print())
}

/// What was made.
#[derive(Serialize)]
struct Made {
    dir: String,
    people: usize,
    agents: usize,
    teams: usize,
    events: i64,
    git: bool,
}

impl Made {
    fn of(dir: &Path, summary: &DemoSummary) -> Made {
        let DemoSummary { people, agents, teams, events, git } = *summary;
        Made { dir: dir.display().to_string(), people, agents, teams, events, git }
    }

    fn print(&self) -> Result<(), Failure> {
        let Made { dir, people, agents, teams, events, git } = self;
        show::text(&format!("{people} people, {agents} agents, {teams} teams, {events} events in {dir}"))?;
        let kept = if *git { "a git repository" } else { "no repository, because git is not installed" };
        let at = named(Path::new(dir));
        show::note(&format!(
            "Its policies are in {dir}/policies ({kept}).\nNext: `ok demo serve{at}`, or `ok --state {} audit verify`.",
            word(&format!("{dir}/state.db"))
        ));
        Ok(())
    }
}

impl Serve {
    async fn run(self, dir: &Path, context: &Context) -> Result<Exit, Failure> {
        if !dir.join("state.db").exists() {
            let (at, dir) = (named(dir), dir.display());
            return Err(Failure::new(format!("there is no demo in {dir}: `ok demo{at}` makes one")));
        }
        let within = inside(dir, context);
        let own_models = context.models().catalog.models.is_empty() && context.models().catalog.problem.is_none();
        let fakes = Fakes::listen(own_models).await;
        let fakes = fakes.map_err(|error| Failure::new(format!("cannot listen for the demo's fakes: {error}")))?;
        if context.mail.is_some() {
            let variable = config::SMTP_URL.variable;
            show::remark(&format!("the demo's mail goes to its own mail box: {variable} has no effect"));
        }
        let within = Context { dev_auth: self.dev_auth || context.dev_auth, ..within };
        let within = with_model(with_mail(within, Some(fakes.mailbox.address))?, &fakes)?;
        serve::run(&self.bind, &within, async |company: &Company, address: SocketAddr, stop: &CancellationToken| {
            begin(company, address, (stop, fakes), context).await
        })
        .await
    }
}

/// The same with the demo's own model, where no other can be asked.
fn with_model(context: Context, fakes: &Fakes) -> Result<Context, Failure> {
    let Some(model) = &fakes.model else { return Ok(context) };
    let setup = Setup::of_file(&model.config(), &Usual::default(), &|_| None).map_err(Failure::new)?;
    Ok(Context { models: setup.into(), ..context })
}

/// Signs everybody in, and starts what the demo tells outside.
async fn begin(
    company: &Company,
    address: SocketAddr,
    (stop, fakes): (&CancellationToken, Fakes),
    context: &Context,
) -> Result<(), Failure> {
    let people = demo::sign_in(&company.gate).await.map_err(Failure::new)?;
    if people.is_empty() {
        return Err(Failure::new("this company has none of the demo's people: `ok serve` serves it"));
    }
    let list = fakes.list();
    if let Err(why) = demo::point_here(&company.gate, &fakes.receiver.url()).await {
        show::remark(&format!("the demo's webhook does not lead to its receiver: {why}"));
    }
    let models =
        if fakes.model.is_some() { "the model follows plans" } else { "the models are those of your settings" };
    fakes.serve(show::remark, stop);
    let people: Vec<Link> = people.into_iter().map(|person| Link::of(person, address)).collect();
    let fakes: Vec<_> = list.iter().map(|(name, url)| json!({ "name": name, "url": url })).collect();
    let answer = json!({ "people": people, "fakes": fakes });
    let listed: Vec<String> = list.iter().map(|(name, url)| format!("a {name} at {url}")).collect();
    context.show(&answer, || {
        let people: String = people.iter().map(Link::describe).collect();
        show::whole(&format!(
            "Open one of these links; each tab of the browser is one person. They are valid for 7 days.\n\n{people}\
             Local fakes: {}. What arrives is printed here; {models}. The collection `shipments` is read from the warehouse's \
             own table in {}.\n",
            listed.join(", "),
            warehouse::FILE
        ))
    })?;
    Ok(())
}

/// A person to sign in as.
#[derive(Serialize)]
struct Link {
    #[serde(flatten)]
    person: SignIn,
    link: String,
}

impl Link {
    fn of(person: SignIn, address: SocketAddr) -> Link {
        let link = format!("http://{address}/#token={}", person.token);
        Link { person, link }
    }

    fn describe(&self) -> String {
        let SignIn { name, id, good_for, .. } = &self.person;
        format!("{name} ({id}): {good_for}.\n  {}\n\n", self.link)
    }
}
