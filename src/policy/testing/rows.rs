//! The rows of a test file: who and what there is in its small company.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use types::actor::{ActorKind, Role, Trust};
use types::delegation::Authority;
use types::field::Label;
use types::id::ActorId;
use types::run::RunFacts;
use types::time::Time;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    pub id: ActorId,
    pub lead: Option<ActorId>,
    /// The team above it.
    pub team: Option<ActorId>,
}

/// A person or an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub id: ActorId,
    #[serde(default = "person")]
    pub kind: ActorKind,
    pub role: Option<Role>,
    pub team: Option<ActorId>,
    pub owner: Option<ActorId>,
    /// Of an agent: `standard` unless given.
    pub trust: Option<Trust>,
    #[serde(default)]
    pub offboarded: bool,
}

impl Member {
    /// How far it is trusted: only agents less than all the way.
    pub fn trust(&self) -> Trust {
        let usual = if self.kind.is_agent() { Trust::Standard } else { Trust::Autonomous };
        self.trust.unwrap_or(usual)
    }
}

const fn person() -> ActorKind {
    ActorKind::Person
}

/// A map that says nothing twice.
pub(super) struct Strict(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Strict, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Strict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strict, A::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if fields.contains_key(&name) {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                    fields.insert(name, value);
                }
                Ok(Strict(fields))
            }
        }
        from.deserialize_map(Once)
    }
}

/// A thing of any other kind, as a file writes it. The implementation of [`Stage`](super::Stage) knows which fields it
/// has.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The list that it stands in, such as `tokens`.
    pub list: String,
    /// As a case names it: where it is a number in the file, `event:<number>`.
    pub id: String,
    pub fields: Map<String, Value>,
}

impl Row {
    pub fn new(list: &str, id: impl Into<String>) -> Row {
        Row { list: list.to_owned(), id: id.into(), fields: Map::new() }
    }

    #[must_use]
    pub fn with(mut self, field: &str, value: impl Serialize) -> Row {
        // Plain values alone come here, and they are JSON.
        self.fields.insert(field.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    #[must_use]
    pub fn without(mut self, field: &str) -> Row {
        self.fields.shift_remove(field);
        self
    }

    /// Reads what stands in a list.
    pub(super) fn of(list: &str, mut fields: Map<String, Value>) -> Result<Row, String> {
        let id = match fields.shift_remove("id") {
            Some(Value::String(id)) => id,
            Some(Value::Number(number)) if number.is_i64() => format!("event:{number}"),
            Some(_) => return Err(format!("{list}: `id` must be a text")),
            None => return Err(format!("{list}: missing field `id`")),
        };
        Ok(Row { list: list.to_owned(), id, fields })
    }

    /// Everybody that it could name.
    pub fn names(&self) -> impl Iterator<Item = ActorId> {
        let texts = self.fields.values().flat_map(|value| match value {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => Vec::from_iter(one.as_str()),
        });
        texts.filter_map(|text| text.parse().ok())
    }
}

/// What somebody lets another do on their behalf.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub id: String,
    pub from: ActorId,
    pub to: ActorId,
    /// Everything unless given.
    pub scope: Option<BTreeSet<String>>,
    /// `act` unless given.
    pub authority: Option<Authority>,
    #[serde(default)]
    pub tools: BTreeSet<String>,
    /// The delegation that its giver acted under: a row before this one.
    pub parent: Option<String>,
    /// Its budget is used up.
    #[serde(default)]
    pub exhausted: bool,
    /// Its end: never unless given.
    pub expires_at: Option<Time>,
}

/// The company that a file's questions are about.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The current time of cases that set none: 2026-01-01 by default.
    pub now: Time,
    pub teams: Vec<Team>,
    pub actors: Vec<Member>,
    pub delegations: Vec<Delegation>,
    /// Whatever else there is.
    pub rows: Vec<Row>,
}

impl Fixture {
    /// What in it cannot be, with the list and the id that it is about.
    pub(super) fn problem(&self) -> Option<(&str, &str, String)> {
        let teams: BTreeSet<&ActorId> = self.teams.iter().map(|team| &team.id).collect();
        let members: BTreeSet<&ActorId> = self.actors.iter().map(|member| &member.id).collect();
        let ids = self.teams.iter().map(|team| &team.id).chain(self.actors.iter().map(|member| &member.id));
        let mut seen = BTreeSet::new();
        for id in ids {
            if !seen.insert(id) {
                return Some(("actors", id.as_str(), format!("`{id}` appears twice")));
            }
        }
        for team in &self.teams {
            let missing =
                team.lead.iter().find(|id| !members.contains(*id)).or(team.team.iter().find(|id| !teams.contains(*id)));
            if !team.id.is_team() {
                return Some((
                    "teams",
                    team.id.as_str(),
                    format!("`{}` is not a team's id: write team:<name>", team.id),
                ));
            }
            if let Some(missing) = missing {
                return Some(("teams", team.id.as_str(), format!("`{}` names `{missing}`, who is unknown", team.id)));
            }
        }
        for member in &self.actors {
            let missing = member
                .team
                .iter()
                .find(|id| !teams.contains(*id))
                .or(member.owner.iter().find(|id| !members.contains(*id)));
            if member.id.is_team()
                || member.kind == ActorKind::Team
                || ["server", "visitor"].contains(&member.id.as_str())
            {
                return Some(("actors", member.id.as_str(), format!("`{}` cannot be a person or an agent", member.id)));
            }
            if let Some(missing) = missing {
                return Some((
                    "actors",
                    member.id.as_str(),
                    format!("`{}` names `{missing}`, who is unknown", member.id),
                ));
            }
        }
        let chained =
            Delegation::problem(&self.delegations, &members).map(|(id, problem)| ("delegations", id, problem));
        chained.or_else(|| {
            self.rows.iter().find_map(|row| {
                let problem = row.stranger(&members, &teams)?;
                Some((row.list.as_str(), row.id.as_str(), problem))
            })
        })
    }
}

impl Row {
    /// Whose, or for whom, it is who is not there.
    fn stranger(&self, members: &BTreeSet<&ActorId>, teams: &BTreeSet<&ActorId>) -> Option<String> {
        // A view for nobody would be one for everybody here. A record's fields are called as its collection likes.
        let named: &[&str] = if self.list == "views" { &["person", "team"] } else { &["holder", "owner"] };
        named.iter().find_map(|field| {
            let id: ActorId = self.fields.get(*field)?.as_str()?.parse().ok()?;
            let known = if id.is_team() { teams } else { members };
            (!known.contains(&id)).then(|| format!("`{}` names `{id}`, who is unknown", self.id))
        })
    }
}

impl Delegation {
    /// What in these cannot be, with the id that it is about: a row rests on rows before it.
    pub(super) fn problem<'a>(rows: &'a [Delegation], members: &BTreeSet<&ActorId>) -> Option<(&'a str, String)> {
        let mut before = BTreeSet::new();
        for row in rows {
            let missing = [&row.from, &row.to].into_iter().find(|id| !members.contains(id)).map(ActorId::to_string);
            let missing = missing.or_else(|| row.parent.clone().filter(|parent| !before.contains(parent)));
            if let Some(missing) = missing {
                return Some((&row.id, format!("`{}` names `{missing}`, which is not listed before it", row.id)));
            }
            before.insert(row.id.clone());
        }
        None
    }

    /// Of everything, in one's own right, without an end.
    pub fn whole(id: String, from: ActorId, to: ActorId) -> Delegation {
        let (scope, authority, tools) = (None, None, BTreeSet::new());
        Delegation { id, from, to, scope, authority, tools, parent: None, exhausted: false, expires_at: None }
    }
}

/// The run that a call is a step of, as far as policies see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Who asked for it.
    pub asker: ActorId,
    /// All who requested what it is a part of. Default: the asker alone.
    #[serde(default)]
    pub askers: Vec<ActorId>,
    #[serde(default)]
    pub depth: u32,
    #[serde(default)]
    pub steps: u32,
    #[serde(default)]
    pub calls: u32,
    #[serde(default)]
    pub cost_cents: u32,
    /// The labels of what it has read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<Label>,
}

impl From<&RunFacts> for Step {
    fn from(run: &RunFacts) -> Step {
        let RunFacts { asker, askers, depth, steps, calls, cost_cents, labels, .. } = run.clone();
        let cost_cents = u32::try_from(cost_cents).unwrap_or(u32::MAX);
        Step { asker, askers, depth, steps, calls, cost_cents, labels }
    }
}
