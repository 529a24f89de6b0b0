//! The log as shown to readers: only events that the caller may see.

mod only;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::may_read_all;
use crate::change::uncounted;
use crate::company::COMPANY;
use crate::policy::{PolicyVersion, may_export};
use crate::run::inputs;
use crate::token::SeenTokens;
use gate::reader::veil;
use gate::{Directory, Entry, FactSpec, Noun, Permit, Query, Reader, Resource, Spec, Staged, Target, Thing, get};
use log::read::{Filter, Logged, Order};
use log::record::Decision;
use policy::testing::{Cast, Row, Sample};
use store::event::EventKind;
use types::id::ActorId;
use types::page::PageQuery;
use types::refusal::{Fault, Refusal, Stop};
use types::scope::Reach;
use types::target::Fact;
use types::time::Time;

pub use only::Only;
use only::log_of;
pub use stream::Stream;

pub const ALL: &[Entry] = &[Entry::query::<List>(), Entry::query::<Stream>()];

/// Which events.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Which {
    /// Only events after this number, oldest first.
    #[schemars(range(min = 0))]
    pub since: Option<i64>,
    /// The maximum number of results: 1 to 1000, 200 unless given. Without `since`, the newest.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    #[serde(flatten)]
    pub only: Only,
}

/// Which events a stream shows: all of them, however many.
#[derive(Deserialize, JsonSchema)]
pub struct Followed {
    /// Only events after this number; by default only new ones.
    #[schemars(range(min = 0))]
    pub since: Option<i64>,
    #[serde(flatten)]
    pub only: Only,
}

impl Which {
    fn filter(&self) -> Result<Filter, Refusal> {
        let kind = |name: &String| {
            let unknown = || Refusal::bad_request(format!("type: there is no event type `{name}`"));
            EventKind::named(name).map(|kind| kind.name).ok_or_else(unknown)
        };
        let Only { r#type, run, thread, task, actor, token_id } = &self.only;
        let refs = [token_id, run, thread, task].into_iter().flatten().cloned().collect();
        Ok(Filter { kinds: r#type.iter().map(kind).collect::<Result<_, _>>()?, actor: actor.clone(), refs })
    }

    fn order(&self) -> Result<Order, Refusal> {
        match self.since {
            Some(since) if since < 0 => Err(Refusal::bad_request("since: must be an event number, 0 or more")),
            Some(since) => Ok(Order::After(since)),
            None => Ok(Order::Newest),
        }
    }
}

/// One event.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct EventRecord {
    /// The event number.
    pub seq: i64,
    pub at: Time,
    /// Who did it; `ok` is the server itself.
    #[schemars(extend("x-names" = "reference"))]
    pub actor: String,
    /// The token that made the call, or that started its run, for those who may see it; none for the state file's
    /// holder, the server and visitors, and once erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// On whose behalf, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-names" = "reference"))]
    pub on_behalf_of: Vec<String>,
    /// `allow`, `deny`, `needs_approval` or `system`.
    #[schemars(with = "String", extend("enum" = ["allow", "deny", "needs_approval", "system"]))]
    pub decision: Decision,
    /// The policy version that decided it; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVersion>,
    /// The ids of the policies that determined it, for whoever may export them; none once erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// The event with its `type`; `erased` where its content was erased.
    pub event: Value,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Events {
    /// Oldest first.
    pub events: Vec<EventRecord>,
    /// The log's newest event number; in a partial answer to `since`, the last one examined: continue after it.
    pub last_seq: i64,
    /// Only part of the log was searched: there may be more.
    #[serde(default, rename = "partial", skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// When filtering by token: entries before this time may not name it and are not found, as an earlier version wrote
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unnamed_before: Option<Time>,
}

/// Returns an event as shown to readers, without internal fields.
fn shown(mut logged: Logged) -> EventRecord {
    let event = match logged.event.take() {
        None => json!({ "type": logged.kind, "erased": true }),
        Some(mut event) => {
            if let (Some(fields), Some(kind)) = (event.as_object_mut(), EventKind::named(&logged.kind)) {
                kind.content.reduce(fields);
            }
            event
        }
    };
    let Logged { seq, at, actor, decision, token_id, on_behalf_of, policy, policies, .. } = logged;
    let policy = (policy.seq > 0).then_some(PolicyVersion { version: policy.seq, hash: policy.hash });
    EventRecord { seq, at, actor, token_id, on_behalf_of, decision, policy, policies: Some(policies), event }
}

/// Decides which events the caller sees. Events with the same type, actor and subjects read the same to every policy,
/// so each such group is asked about once.
struct Sight<'a> {
    read: &'a Reader<'a>,
    known: BTreeMap<(String, String, BTreeSet<ActorId>), bool>,
}

impl Sight<'_> {
    fn sees(&mut self, logged: &Logged) -> Result<bool, Fault> {
        let subjects: BTreeSet<ActorId> = logged.refs.iter().filter_map(|id| id.parse().ok()).collect();
        if self.may(logged, subjects.clone()) {
            return Ok(true);
        }
        let me = self.read.caller().actor();
        if !tells(logged, self.read)? {
            return Ok(false);
        }
        Ok(self.may(logged, subjects.into_iter().chain([me]).collect()))
    }

    fn may(&mut self, logged: &Logged, subjects: BTreeSet<ActorId>) -> bool {
        let read = self.read;
        let group = (logged.kind.clone(), logged.actor.clone(), subjects);
        *self.known.entry(group).or_insert_with_key(|(kind, actor, subjects)| {
            read.may("event.list", &target((logged.seq, kind, actor), subjects, read))
        })
    }
}

/// Checks whether an event concerns the caller's inbox, so that the inbox can be kept up to date from the stream.
fn tells(logged: &Logged, read: &Reader<'_>) -> Result<bool, Fault> {
    let kind = EventKind::named(&logged.kind);
    // A call made with a token is not thereby an event about the token.
    let subjects: Vec<String> =
        logged.refs.iter().filter(|id| Some(*id) != logged.token_id.as_ref()).cloned().collect();
    Ok(kind.is_some_and(|kind| kind.shows) && read.inbox_tells(&subjects, logged.at)?)
}

/// Returns an event as a target of the gate for the caller of `read`.
pub(super) fn as_target(logged: &Logged, read: &Reader<'_>) -> Result<Target, Fault> {
    let mut subjects: BTreeSet<ActorId> = logged.refs.iter().filter_map(|id| id.parse().ok()).collect();
    if tells(logged, read)? {
        subjects.insert(read.caller().actor());
    }
    Ok(target((logged.seq, &logged.kind, &logged.actor), &subjects, read))
}

fn target((seq, kind, actor): (i64, &str, &str), subjects: &BTreeSet<ActorId>, read: &Reader<'_>) -> Target {
    let thing = Thing::new("Event", format!("event:{seq}")).text("kind", kind);
    let thing = thing.maybe("actor", actor.parse().ok().as_ref()).actors("subjects", subjects.iter().cloned());
    complete(thing, read).into()
}

pub static EVENT: Resource = Resource {
    noun: Noun {
        name: "Event",
        doc: "An entry of the log.",
        sight: Some("event.list"),
        own: None,
        facts: &[
            FactSpec::text("kind", ""),
            FactSpec::actor("actor", "").optional().linked(),
            FactSpec::actors("subjects", "").linked(),
            FactSpec::actors("leads", "who leads the teams of all these actors").linked().derived(),
        ],
        staged: Staged::Rows { list: "events", complete, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state: |_, _| Ok(Value::Null),
};

/// Returns sample events of each type that policies name: by somebody about themselves and about others, and by nobody.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    const OF: [(&str, &[&str]); 5] =
        [("max", &["max"]), ("ana", &["pia"]), ("bot", &["bot"]), ("lea", &["max"]), ("", &[])];
    let event = |(number, (kind, (actor, subjects))): (usize, (&str, (&str, &[&str])))| {
        let row = Row::new("events", format!("event:{}", number + 1)).with("kind", kind);
        let row = if actor.is_empty() { row } else { row.with("actor", actor) };
        let sample = Sample::new(row.with("subjects", subjects));
        if number < OF.len() { sample.model() } else { sample }
    };
    let kinds = ["token_issued"].into_iter().chain(cast.texts(|_| true));
    kinds.flat_map(|kind| OF.map(|of| (kind, of))).enumerate().map(event).collect()
}

/// Adds the leads of the teams concerned; of teams among the subjects, only the leads count.
fn complete(thing: Thing, company: &dyn Directory) -> Thing {
    let Some(Fact::Actors(named)) = thing.fact("subjects").cloned() else { return thing };
    let (teams, subjects): (Vec<ActorId>, Vec<ActorId>) =
        named.into_iter().filter(|id| company.card(id).is_some()).partition(ActorId::is_team);
    let actor = match thing.fact("actor") {
        Some(Fact::Actor(id)) => Some(id.clone()),
        _ => None,
    };
    let concerned = actor.iter().chain(&subjects).filter_map(|id| company.card(id));
    let teams = concerned.flat_map(|card| company.teams(card)).chain(&teams).filter_map(|team| company.card(team));
    let leads: BTreeSet<ActorId> =
        teams.filter_map(|team| team.actor.lead.clone()).filter(|lead| company.card(lead).is_some()).collect();
    thing.actors("subjects", subjects).actors("leads", leads)
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let Ok(seq) = id.strip_prefix("event:").unwrap_or(id).parse() else { return Ok(None) };
    let found = read.event(seq)?.filter(|event| event.at <= read.now());
    Ok(found.map(|event| as_target(&event, read)).transpose()?)
}

/// List events.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "event.list",
        doc: "List the events of the log that the caller may see.",
        scope: Reach::READ,
        route: get("/events").listed().partial(),
        about: &[&COMPANY, &EVENT],
        events: &[],
    };
    type Input = Which;
    type Output = Events;

    fn target(input: &Which, read: &Reader<'_>) -> Result<Target, Stop> {
        log_of(&input.only, read)
    }

    fn run(_: Permit<Self>, mut input: Which, read: &Reader<'_>) -> Result<Events, Stop> {
        // An actor who may not be seen has no events, like one who does not exist.
        input.only.actor = input.only.actor.map(|id| if read.hides(&id) { String::new() } else { id });
        let mut tokens = SeenTokens::of(read);
        let mut sight = Sight { read, known: BTreeMap::new() };
        let scan: Scan<'_> = &|order, filter, each| read.scan(order, filter, each);
        let me = read.caller().actor();
        let mut found = collect(&input, read.last_seq()?, (scan, &me), |logged| sight.sees(logged))?;
        found.unnamed_before = input.only.token_id.as_deref().map(|id| read.unnamed_before(id)).transpose()?.flatten();
        let (exports, reads_all) = (may_export(read), may_read_all(read));
        for EventRecord { event, policies, token_id, .. } in &mut found.events {
            *policies = policies.take().filter(|_| exports);
            if let Some(id) = token_id
                && !tokens.sees(id)?
            {
                *token_id = None;
            }
            veil::of_event().apply(event, read);
            veil_input(event, read);
            if !reads_all {
                withhold(event);
            }
        }
        Ok(found)
    }

    fn is_partial(output: &Events) -> bool {
        output.is_partial
    }
}

/// Removes from a pending call's input what the reader may not see: what may be there, the operation knows.
fn veil_input(event: &mut Value, read: &Reader<'_>) {
    let of = |event: &Value| {
        let name = event.get("operation")?.as_str()?;
        crate::OPERATIONS.iter().find(|entry| entry.spec.name == name)
    };
    if let Some((entry, input)) = of(event).zip(event.get_mut("input")) {
        inputs::veil(entry, input, read);
    }
}

/// Removes what is for readers of the whole log: how many decisions would differ, and which records were written.
fn withhold(event: &mut Value) {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some(kind) = EventKind::named(name) else { return };
    if kind.content.counts {
        uncounted(event);
    }
    if let Some(fields) = event.as_object_mut() {
        kind.content.withhold(fields);
    }
}

/// A callback per entry when reading the log.
type Each<'a> = &'a mut dyn FnMut(Logged) -> Result<ControlFlow<()>, Fault>;
pub type Scan<'a> = &'a dyn Fn(Order, &Filter, Each<'_>) -> Result<(), Fault>;

/// The maximum number of entries examined per answer, so that whoever sees little of a long log does not wait longer. For the
/// newest events, the caller's own and those about them are found by index, among as many; after a number, reading continues
/// where the last answer ended.
const LOOKED_AT: usize = 20_000;

/// Collects matching events of a log with `last_seq` entries, filtered by `sees`.
pub fn collect(
    input: &Which,
    last_seq: i64,
    (scan, me): (Scan<'_>, &ActorId),
    mut sees: impl FnMut(&Logged) -> Result<bool, Fault>,
) -> Result<Events, Stop> {
    let limit = PageQuery { limit: input.limit, cursor: None }.limit()?;
    let (filter, order) = (input.filter()?, input.order()?);
    let is_newest = matches!(order, Order::Newest);
    let mut events: BTreeMap<i64, EventRecord> = BTreeMap::new();
    let mut end = last_seq;
    let mut look = |filter: &Filter| {
        let (mut found, mut looked) = (0, 0);
        scan(order, filter, &mut |logged| {
            (looked, end) = (looked + 1, logged.seq);
            // What was appended after `last_seq` was read belongs to the next request.
            if logged.seq <= last_seq && sees(&logged)? {
                found += 1;
                events.insert(logged.seq, shown(logged));
            }
            Ok(if found < limit && looked < LOOKED_AT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok::<bool, Fault>(found < limit && looked >= LOOKED_AT)
    };
    let is_partial = look(&filter)?;
    if is_partial && !is_newest {
        return Ok(Events {
            events: events.into_values().collect(),
            last_seq: end.min(last_seq),
            is_partial,
            unnamed_before: None,
        });
    }
    if is_partial {
        let refs = [me.to_string()].into_iter().chain(filter.refs.clone()).collect();
        look(&Filter { refs, ..filter.clone() })?;
        if filter.actor.is_none() {
            look(&Filter { actor: Some(me.to_string()), ..filter })?;
        }
    }
    let beyond = if is_newest { events.len().saturating_sub(limit) } else { 0 };
    Ok(Events { events: events.into_values().skip(beyond).collect(), last_seq, is_partial, unnamed_before: None })
}
