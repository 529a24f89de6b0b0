//! `ok actor`: people, agents and teams.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::definition::text_of;
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::actor::{ActorKind, Role, Trust};
use crate::types::definition::MAX_BYTES;
use crate::types::id::ActorId;

/// List, show, add and trust people, agents and teams
#[derive(Subcommand)]
pub enum Actor {
    /// List people, agents and teams, newest first
    List {
        /// Only this kind
        #[arg(long, value_parser = PossibleValuesParser::new(ActorKind::ALL.iter().map(|kind| kind.name())))]
        kind: Option<String>,
        /// Only members of this team
        #[arg(long, value_name = "TEAM")]
        team: Option<ActorId>,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Show one, with what hangs on it
    Show {
        /// The person's, agent's or team's id
        id: ActorId,
    },
    /// Add a person
    AddHuman(NewHuman),
    /// Add a team; its id begins with `team:`
    AddTeam(NewTeam),
    /// Add an agent
    AddAgent(NewAgent),
    /// Hire an agent by its definition
    ///
    /// Example: `ok actor hire agents/invoice-clerk.yaml`
    Hire {
        /// The definition's file, YAML or JSON, of at most 64 KiB; `ok schemas` shows what it may hold
        file: PathBuf,
    },
    /// Change a person's role, anybody's team or name, or a team's lead
    ///
    /// Example: `ok actor set max --role lead --team team:ops`
    Set {
        /// The person's, agent's or team's id
        id: ActorId,
        #[command(flatten)]
        new: NewStanding,
    },
    /// Set how far an agent is trusted
    Trust {
        /// The agent's id
        id: ActorId,
        /// How far, from proposing only to acting alone
        #[arg(value_parser = PossibleValuesParser::new(Trust::ALL.iter().map(|tier| tier.name())))]
        tier: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "set on the command line")]
        reason: String,
    },
    /// End an actor's tokens and requests, and hand on their agents and teams; or remove an empty team
    ///
    /// Example: `ok actor offboard max --successor lea`
    Offboard {
        /// Who leaves, or the team that nobody is in any more
        id: ActorId,
        /// Who takes over [default: the lead of the team]
        #[arg(long, value_name = "ID")]
        successor: Option<ActorId>,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
    },
}

#[derive(clap::Args)]
pub struct NewHuman {
    /// The id for good
    id: ActorId,
    /// What the person may do by default
    #[arg(long, value_parser = PossibleValuesParser::new(human_roles()))]
    role: String,
    /// A name to read [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// The team to join
    #[arg(long)]
    team: Option<ActorId>,
    /// What the person can do, in a word each
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    skills: Vec<String>,
}

#[derive(clap::Args)]
pub struct NewTeam {
    /// The id for good, such as team:ops
    id: ActorId,
    /// The person who leads it
    #[arg(long, value_name = "ID")]
    lead: Option<ActorId>,
    /// A name to read [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// The team above it
    #[arg(long, value_name = "TEAM")]
    parent: Option<ActorId>,
}

#[derive(clap::Args)]
pub struct NewAgent {
    /// The id for good
    id: ActorId,
    /// The team to join
    #[arg(long)]
    team: Option<ActorId>,
    /// The person who answers for it [default: the acting actor]
    #[arg(long, value_name = "ID")]
    owner: Option<ActorId>,
    /// What it can do, in a word each
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    skills: Vec<String>,
    /// A name to read [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// It runs elsewhere, and reaches itself alone
    #[arg(long)]
    outside: bool,
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
pub struct NewStanding {
    /// What the person may do by default
    #[arg(long, value_parser = PossibleValuesParser::new(human_roles()))]
    role: Option<String>,
    /// The team to be in
    #[arg(long)]
    team: Option<ActorId>,
    /// In no team any more
    #[arg(long, conflicts_with = "team")]
    no_team: bool,
    /// A name to read
    #[arg(long)]
    name: Option<String>,
    /// The person who leads the team
    #[arg(long, value_name = "ID")]
    lead: Option<ActorId>,
    /// Nobody leads the team any more
    #[arg(long, conflicts_with = "lead")]
    no_lead: bool,
}

/// What people read of an actor.
const FIELDS: [&str; 16] = [
    "id",
    "kind",
    "name",
    "role",
    "team",
    "lead",
    "owner",
    "skills",
    "trust",
    "status",
    "created_at",
    "members",
    "leads",
    "agents",
    "stopped_by",
    "definition",
];

fn human_roles() -> impl Iterator<Item = &'static str> {
    Role::ALL.iter().filter(|role| role.is_for(ActorKind::Person)).map(|role| role.name())
}

impl Actor {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Actor::List { kind, team, limit } => list(context, kind, team, limit).await,
            Actor::Show { id } => one(context, "actor.read", json!({ "id": id })).await,
            Actor::AddHuman(new) => one(context, "actor.add", new.input()).await,
            Actor::AddTeam(new) => one(context, "actor.add", new.input()).await,
            Actor::AddAgent(new) => one(context, "actor.add", new.input()).await,
            Actor::Hire { file } => {
                let answer =
                    client::call(context, "actor.hire", json!({ "definition": text_of(&file, MAX_BYTES)? })).await?;
                context.show(&answer, || {
                    show::fields(&FIELDS, &answer)?;
                    if let Some(tier) = answer.get("trust_asked") {
                        let (id, tier) = (show::cell(answer.get("id")), show::cell(Some(tier)));
                        show::note(&format!("\nIt asks for more trust. Somebody who is not its owner may give it: `ok actor trust {id} {tier}`."));
                    }
                    Ok(())
                })
            }
            Actor::Offboard { id, successor, reason } => {
                let input = json!({ "id": id, "successor": successor, "reason": reason });
                let answer = client::call(context, "actor.offboard", input).await?;
                let fields = [
                    "tokens_revoked",
                    "approvals_cancelled",
                    "successor",
                    "agents_handed_on",
                    "agents_stopped",
                    "teams_handed_on",
                ];
                context.show(&answer, || show::fields(&fields, &answer))
            }
            Actor::Set { id, new } => one(context, "actor.update", new.input(&id)).await,
            Actor::Trust { id, tier, reason } => {
                one(context, "actor.trust", json!({ "id": id, "tier": tier, "reason": reason })).await
            }
        }
    }
}

impl NewHuman {
    fn input(self) -> Value {
        let NewHuman { id, role, name, team, skills } = self;
        json!({ "id": id, "kind": ActorKind::Person, "role": role, "name": name, "team": team, "skills": skills })
    }
}

impl NewTeam {
    fn input(self) -> Value {
        let NewTeam { id, lead, name, parent } = self;
        json!({ "id": id, "kind": ActorKind::Team, "lead": lead, "name": name, "team": parent })
    }
}

impl NewStanding {
    /// Only what is given: the rest stays as it is.
    fn input(self, id: &ActorId) -> Value {
        let NewStanding { role, team, no_team, name, lead, no_lead } = self;
        let given = [
            ("role", role.map(Value::from)),
            ("team", team.map(|team| json!(team))),
            ("no_team", no_team.then_some(json!(true))),
            ("name", name.map(Value::from)),
            ("lead", lead.map(|lead| json!(lead))),
            ("no_lead", no_lead.then_some(json!(true))),
        ];
        let given = given.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
        given.chain([("id".to_owned(), json!(id))]).collect::<serde_json::Map<_, _>>().into()
    }
}

impl NewAgent {
    fn input(self) -> Value {
        let NewAgent { id, team, owner, skills, name, outside } = self;
        let kind = if outside { ActorKind::OutsideAgent } else { ActorKind::Agent };
        json!({ "id": id, "kind": kind, "team": team, "owner": owner, "skills": skills, "name": name })
    }
}

async fn list(
    context: &Context,
    kind: Option<String>,
    team: Option<ActorId>,
    limit: Option<u32>,
) -> Result<Exit, Failure> {
    let rows = client::list(context, "actor.list", json!({ "kind": kind, "team": team }), limit).await?;
    let columns = ["id", "kind", "name", "role", "team", "trust", "status"];
    context.show(&rows.clone().into(), || show::list("nobody", &columns, &rows))
}

async fn one(context: &Context, op: &str, input: Value) -> Result<Exit, Failure> {
    let answer = client::call(context, op, input).await?;
    context.show(&answer, || show::fields(&FIELDS, &answer))
}
