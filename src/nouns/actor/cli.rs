//! `ok actor`: commands for people, agents and teams.

use std::path::PathBuf;

use super::column::{Column, Columns, columns};
use super::command::{Commands, group};
use super::definition::text_of;
use super::exit::Failure;
use super::operation::{change, query};
use super::show;
use crate::config;
use crate::nouns;
use crate::nouns::actor::hire::{Hire, Hired, Hiring};
use crate::nouns::actor::joining::NewActor;
use crate::nouns::actor::offboard::{Left, Offboard};
use crate::nouns::actor::standing::{Update, Updated};
use crate::nouns::actor::{Add, List, SetTrust, Show, ShownActor};
use crate::nouns::definition::Written;
use crate::store::actors::Actor;
use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::definition::MAX_BYTES;
use crate::types::id::ActorId;
use crate::types::near::nearest;

pub const COMMANDS: Commands = &[&group(
    "actor",
    "List, show, add and trust people, agents and teams",
    &[
        &query::<List>()
            .command("list")
            .help("List people, agents and teams, newest first")
            .table("nobody", columns!(Actor; id, kind, name, role, team, trust, status)),
        &query::<Show>().command("show").help("Show an actor and everything that depends on it").fields(columns!(
            ShownActor;
            actor.id, actor.kind, actor.name, actor.role, actor.team, actor.lead, actor.owner, actor.skills,
            actor.trust, actor.status, actor.created_at, members, leads, agents, stopped_by, definition
        )).sparing(|shown| of_other_kinds(&shown.actor)),
        &change::<Add>().command("add-human").help("Add a person").given::<NewHuman>().fields(FIELDS).sparing(of_other_kinds),
        &change::<Add>()
            .command("add-team")
            .help("Add a team; its id begins with `team:`")
            .given::<NewTeam>()
            .fields(FIELDS).sparing(of_other_kinds),
        &change::<Add>().command("add-agent").help("Add an agent").given::<NewAgent>().fields(FIELDS).sparing(of_other_kinds),
        &change::<Hire>()
            .command("hire")
            .help("Hire an agent by its definition")
            .example("ok actor hire agents/invoice-clerk.yaml")
            .given::<DefinitionFile>()
            .print(hired),
        &change::<Update>()
            .command("set")
            .help("Change a person's role, anybody's team or name, or a team's lead")
            .example("ok actor set max --role lead --team team:ops")
            .fields(SET).sparing(|updated| of_other_kinds(&updated.actor)),
        &change::<SetTrust>().command("trust").help("Set an agent's trust tier").fields(FIELDS).sparing(of_other_kinds),
        &change::<Offboard>()
            .command("offboard")
            .help("Offboard an actor: end their tokens and requests, hand over their agents and teams; or remove an empty team")
            .example("ok actor offboard max --successor lea")
            .fields(columns!(
                Left;
                tokens_revoked, issued_revoked, approvals_cancelled, delegations_revoked, successor, agents_handed_on, agents_stopped,
                teams_handed_on, teams_without_lead, tasks_reassigned, tasks_left, webhooks_handed_on, webhooks_disabled
            )),
    ],
)];

const SET: Columns<Updated> = columns!(
    Updated; actor.id, actor.kind, actor.name, actor.role, actor.team, actor.lead, actor.owner, actor.skills, actor.trust,
    actor.status, actor.created_at, issued_revoked, still_leads
);

const FIELDS: Columns<Actor> =
    columns!(Actor; id, kind, name, role, team, lead, owner, skills, trust, status, created_at);

/// Returns the columns that do not apply to this kind of actor: only agents have a trust tier, and a team has no role.
fn of_other_kinds(actor: &Actor) -> &'static [Column] {
    match actor.kind {
        ActorKind::Team => columns!(Actor; role, trust).list,
        ActorKind::Person => columns!(Actor; trust).list,
        _ => &[],
    }
}

#[derive(clap::Args)]
struct NewHuman {
    /// The id; it cannot be changed
    id: ActorId,
    /// What the person may do by default
    #[arg(long, value_parser = Role::of_people())]
    role: Role,
    /// The display name [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// The team to join
    #[arg(long)]
    team: Option<ActorId>,
    /// The person's skills, one word each
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    skills: Vec<String>,
}

#[derive(clap::Args)]
struct NewTeam {
    /// The id, such as team:ops; it cannot be changed
    id: ActorId,
    /// The person who leads it
    #[arg(long, value_name = "ID")]
    lead: Option<ActorId>,
    /// The display name [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// The team above it
    #[arg(long, value_name = "TEAM")]
    parent: Option<ActorId>,
}

#[derive(clap::Args)]
struct NewAgent {
    /// The id; it cannot be changed
    id: ActorId,
    /// The team to join
    #[arg(long)]
    team: Option<ActorId>,
    /// The person responsible for it [default: the acting actor]
    #[arg(long, value_name = "ID")]
    owner: Option<ActorId>,
    /// Its skills, one word each
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    skills: Vec<String>,
    /// The trust tier; more than `observe` requires permission to set trust [default: observe]
    #[arg(long, value_name = "TIER")]
    trust: Option<Trust>,
    /// The display name [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// It runs elsewhere: its tokens reach only the gateway for outside agents
    #[arg(long)]
    outside: bool,
}

impl From<NewHuman> for NewActor {
    fn from(NewHuman { id, role, name, team, skills }: NewHuman) -> NewActor {
        NewActor {
            id,
            kind: ActorKind::Person,
            name,
            role: Some(role),
            team,
            lead: None,
            owner: None,
            skills,
            trust: None,
        }
    }
}

impl From<NewTeam> for NewActor {
    fn from(NewTeam { id, lead, name, parent }: NewTeam) -> NewActor {
        let (kind, skills) = (ActorKind::Team, Vec::new());
        NewActor { id, kind, name, role: None, team: parent, lead, owner: None, skills, trust: None }
    }
}

impl From<NewAgent> for NewActor {
    fn from(NewAgent { id, team, owner, skills, trust, name, outside }: NewAgent) -> NewActor {
        let kind = if outside { ActorKind::OutsideAgent } else { ActorKind::Agent };
        NewActor { id, kind, name, role: None, team, lead: None, owner, skills, trust }
    }
}

#[derive(clap::Args)]
struct DefinitionFile {
    /// The definition's file, YAML or JSON, of at most 64 KiB; `ok schemas` shows what it may hold
    file: PathBuf,
}

impl TryFrom<DefinitionFile> for Hiring {
    type Error = Failure;

    fn try_from(DefinitionFile { file }: DefinitionFile) -> Result<Hiring, Failure> {
        Ok(Hiring { definition: Written::new(text_of(&file, MAX_BYTES)?.into()) })
    }
}

/// Explains why no run on this server can call a tool.
fn why_missing(tool: &str) -> String {
    let mut names = nouns::OPERATIONS.iter().map(|entry| entry.spec.name);
    if !names.any(|name| name == tool) {
        let near = nearest(tool, nouns::OPERATIONS.iter().map(|entry| entry.spec.name));
        return format!(
            "which does not exist{}",
            near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
        );
    }
    let setting = match tool.split('.').next() {
        Some("web") => &config::WEB_READ,
        Some("mail") => &config::SMTP_URL,
        Some("echo") => &config::DEV_ECHO_TOOLS,
        _ => return "which is for people: no run calls it".into(),
    };
    format!("which this server does not have: {} turns it on", setting.variable)
}

fn hired(answer: &Hired) -> Result<(), Failure> {
    let fields = columns!(
        Hired;
        actor.id, actor.kind, actor.name, actor.role, actor.team, actor.lead, actor.owner, actor.skills,
        actor.trust, actor.status, actor.created_at, definition
    );
    show::one(fields, answer)?;
    if let (Some(tier), id) = (answer.trust_asked, &answer.actor.id) {
        show::note(&format!(
            "\nIt asks for more trust. Somebody who is not its owner may give it: `ok actor trust {id} {tier}`."
        ));
    }
    for tool in &answer.tools_missing {
        show::note(&format!("\nIt asks for the tool `{tool}`, {}", why_missing(tool)));
    }
    for model in &answer.models_missing {
        show::note(&format!(
            "\nIt prefers the model `{model}`, which this server does not have: its runs ask another one"
        ));
    }
    Ok(())
}
