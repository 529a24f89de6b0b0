//! Proposes a knowledge entry; a suspicious one is quarantined.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::find;
use super::scan::{self, Said};
use super::shown::{PROPOSED, ShownKnowledge, statement, with};
use crate::actor::resource::{ACTOR, TEAM};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::actors::Status;
use store::content::events::ContentKept;
use store::knowledge::Knowledge;
use store::knowledge::events::{KnowledgeProposed, KnowledgeQuarantined};
use types::actor::{ActorKind, Role};
use types::field::Label;
use types::id::{ActorId, Id, Kind};
use types::knowledge::{KnowledgeKind, KnowledgeStatus, Origin, SourceKind};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::visible::{has_control, is_blank};

/// The maximum characters of a statement; below, of its reference, and of a topic.
const LONGEST: usize = 2_000;
const LONGEST_REFERENCE: usize = 500;
const LONGEST_TOPIC: usize = 40;
/// The maximum number of topics per entry.
pub(super) const MOST_TOPICS: usize = 10;
/// How many accepted entries a new one is compared with, newest first.
const COMPARED: usize = 500;
/// The maximum number of undecided entries per proposer: more would only keep stewards busy.
const MOST_OPEN: usize = 100;
/// The maximum number of people notified of a proposal.
const MOST_NOTIFIED: usize = 20;

/// What somebody has learnt.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewKnowledge {
    /// The statement, which must stand alone: 1 to 2000 characters. It can be erased.
    #[schemars(length(min = 1, max = 2000), extend("x-erasable" = true))]
    #[arg(value_name = "STATEMENT")]
    pub statement: String,
    /// The kind of knowledge: `fact` unless given.
    #[serde(default = "fact")]
    #[arg(long, default_value = "fact")]
    pub kind: KnowledgeKind,
    /// Topics by which it is recalled: at most 10, of lower-case letters, digits and `-`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    #[arg(long = "topic", value_name = "TOPIC")]
    pub topics: Vec<String>,
    /// The team or person that it is limited to. The whole company unless given.
    #[arg(long, value_name = "ID")]
    pub scope: Option<ActorId>,
    /// The source: `own` unless given. Entries from the web, mail or a webhook are quarantined.
    #[serde(default = "own")]
    #[arg(long, default_value = "own")]
    pub source: SourceKind,
    /// The exact source, such as an address, a document or a name: at most 500 characters. It can be erased.
    #[serde(default)]
    #[schemars(length(max = 500), extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reference: String,
    /// The proposer's confidence, in percent.
    #[schemars(range(min = 0, max = 100))]
    #[arg(long, value_name = "PERCENT")]
    pub confidence: Option<i64>,
    /// The accepted entry that it is to supersede.
    #[arg(long, value_name = "KNOWLEDGE")]
    pub supersedes: Option<String>,
    /// When it expires.
    #[arg(long = "expires", value_name = "TIME")]
    pub expires_at: Option<Time>,
}

const fn fact() -> KnowledgeKind {
    KnowledgeKind::Fact
}

const fn own() -> SourceKind {
    SourceKind::Own
}

/// Propose knowledge.
pub enum Propose {}

impl Change for Propose {
    const SPEC: Spec = Spec {
        name: "knowledge.propose",
        doc: "Propose a knowledge entry. It can be recalled once somebody else has accepted it. Entries that come \
              from outside, look like an attack or contradict accepted ones are quarantined until somebody decides.",
        scope: Reach::Full,
        route: post("/knowledge").created().slow(),
        about: &[&COMPANY, &ACTOR, &TEAM],
        events: &[KnowledgeProposed::KIND, KnowledgeQuarantined::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "proposes knowledge[ for {scope}]";
    type Input = NewKnowledge;
    type Output = ShownKnowledge;

    fn target(input: &NewKnowledge, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(whom(input.scope.as_ref(), read))
    }

    fn prepare(input: &NewKnowledge, read: &Reader<'_>) -> Result<(), Stop> {
        is_entry(input)?;
        check(input, read.now(), read)?;
        read.build_cache().put(&key(input, read)?, looked_at(input, read)?);
        Ok(())
    }

    fn run(permit: Permit<Self>, input: NewKnowledge, draft: &mut Draft<'_>) -> Result<ShownKnowledge, Stop> {
        is_entry(&input)?;
        let by = (permit.actor(), permit.now());
        is_admitted(&by, &input, draft.read())?;
        let reading = draft.read();
        let looked = match reading.build_cache().get::<LookedAt>(&key(&input, reading)?) {
            Some(prepared) => LookedAt::clone(&prepared),
            None => looked_at(&input, reading)?,
        };
        recorded(by, input, looked, draft)
    }
}

fn is_entry(input: &NewKnowledge) -> Result<(), Stop> {
    if input.kind == KnowledgeKind::Document {
        return Err(Refusal::field("kind", "documents are uploaded: `POST /api/knowledge/documents`").into());
    }
    Ok(())
}

impl NewKnowledge {
    fn topics(&self) -> Vec<String> {
        self.topics.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the team or the person that it is about.
    pub(super) fn whom(&self) -> (Option<ActorId>, Option<ActorId>) {
        match self.scope.clone() {
            Some(id) if id.is_team() => (Some(id), None),
            other => (None, other),
        }
    }
}

/// The assessment of a proposal against accepted entries, which takes a while.
#[derive(Clone)]
pub(super) struct LookedAt {
    origin: Origin,
    /// Why it is quarantined.
    reasons: Vec<String>,
}

impl LookedAt {
    /// Adds what was found in the text of a document.
    pub(super) fn and(mut self, found: Vec<String>) -> LookedAt {
        let new = found.into_iter().filter(|reason| !self.reasons.contains(reason)).collect::<Vec<_>>();
        self.reasons.extend(new);
        self
    }
}

pub(super) fn looked_at(input: &NewKnowledge, read: &Reader<'_>) -> Result<LookedAt, Stop> {
    let (origin, (team, person)) = (origin(input.source, read), input.whom());
    // A document's name makes no statement that could be contradicted.
    let is_document = input.kind == KnowledgeKind::Document;
    let alike = if is_document { Vec::new() } else { alike(&input.topics(), (&team, &person), read)? };
    let reasons = reasons((&input.statement, &input.reference), origin, input.supersedes.as_deref(), &alike, read)?;
    Ok(LookedAt { origin, reasons })
}

/// Returns the cache key of exactly this proposal by exactly this caller.
fn key(input: &NewKnowledge, read: &Reader<'_>) -> Result<String, Stop> {
    let caller = read.caller();
    let run = caller.run.as_ref().map(|run| (run.run.to_string(), &run.labels));
    Ok(format!("knowledge {} {:?} {run:?} {}", caller.actor(), caller.under, serde_json::to_string(input)?))
}

/// Returns whom an entry is about: a person, a team, or else the company.
pub(super) fn whom(scope: Option<&ActorId>, read: &Reader<'_>) -> Target {
    let known = scope.filter(|scope| read.knows(scope));
    known.map_or(Target::Company, |scope| Target::Actor(scope.clone()))
}

/// Checks that a proposal is valid, and that its proposer may have one more.
pub(super) fn is_admitted((by, now): &(ActorId, Time), input: &NewKnowledge, read: &Reader<'_>) -> Result<(), Stop> {
    check(input, *now, read)?;
    is_not_too_many(by, read)
}

/// Records a proposal.
pub(super) fn recorded(
    (proposer, now): (ActorId, Time),
    input: NewKnowledge,
    LookedAt { origin, reasons }: LookedAt,
    draft: &mut Draft<'_>,
) -> Result<ShownKnowledge, Stop> {
    let topics = input.topics();
    let (team, person) = input.whom();
    let NewKnowledge { statement: said, kind, source, reference, confidence, supersedes, expires_at, .. } = input;
    let confidence = confidence.and_then(|percent| u8::try_from(percent).ok());
    let id = draft.new_id(Kind::Knowledge);
    let run = draft.read().caller().run.as_ref();
    let labels = run.map(|run| run.labels.iter().copied().collect()).unwrap_or_default();
    let run = run.map(|run| run.run.clone());
    let notified = stewards(&proposer, draft.read());
    let is_held = !reasons.is_empty();
    let event = KnowledgeProposed {
        id: id.clone(),
        kind,
        topics,
        team,
        person,
        origin,
        source,
        labels,
        confidence,
        proposer: proposer.clone(),
        run,
        supersedes: supersedes.as_deref().map(Id::stored),
        expires_at,
        notified: if is_held { Vec::new() } else { notified.clone() },
    };
    let entry = entry(&event, reasons.clone(), now);
    draft.record(event)?;
    if is_held {
        draft.record(KnowledgeQuarantined { id: id.clone(), proposer, reasons, notified })?;
    }
    let reference = (!reference.is_empty()).then_some(reference);
    let mut kept = Map::from_iter([("statement".to_owned(), Value::from(said.clone()))]);
    kept.extend(reference.clone().map(|text| ("reference".to_owned(), Value::from(text))));
    draft.record(ContentKept { id, part: PROPOSED.into(), kept })?;
    Ok(with(entry, Some(said), reference))
}

/// Returns the entry that a proposal creates.
fn entry(event: &KnowledgeProposed, reasons: Vec<String>, now: Time) -> Knowledge {
    let KnowledgeProposed { id, kind, topics, team, person, origin, source, labels, confidence, .. } = event.clone();
    Knowledge {
        id: id.to_string(),
        kind,
        topics,
        team,
        person,
        status: if reasons.is_empty() { KnowledgeStatus::Proposed } else { KnowledgeStatus::Quarantined },
        origin,
        source,
        reasons,
        labels,
        edited: false,
        confidence,
        proposer: event.proposer.clone(),
        run: event.run.as_ref().map(Id::to_string),
        supersedes: event.supersedes.as_ref().map(Id::to_string),
        superseded_by: None,
        decided_by: None,
        expires_at: event.expires_at,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

/// Returns what is wrong with a statement.
pub(super) fn wrong_statement(text: &str) -> Option<String> {
    if is_blank(text) || text.chars().count() > LONGEST {
        return Some(format!("must have 1 to {LONGEST} characters"));
    }
    has_control(text).then(|| "must not contain control characters".to_owned())
}

fn check(input: &NewKnowledge, now: Time, read: &Reader<'_>) -> Result<(), Stop> {
    let mut problems = Vec::new();
    problems.extend(wrong_statement(&input.statement).map(|wrong| format!("statement: {wrong}")));
    if input.reference.chars().count() > LONGEST_REFERENCE {
        problems.push(format!("reference: must have at most {LONGEST_REFERENCE} characters"));
    }
    problems.extend(wrong_topics(&input.topics));
    if input.confidence.is_some_and(|percent| !(0..=100).contains(&percent)) {
        problems.push("confidence: must be 0 to 100".into());
    }
    if input.expires_at.is_some_and(|at| at <= now) {
        problems.push("expires_at: must be in the future".into());
    }
    if let Some(scope) = &input.scope
        && !read.card(scope).is_some_and(|card| read.knows(scope) && card.actor.status == Status::Active)
    {
        problems.push(format!("scope: there is no actor or team {scope}"));
    }
    if let Some(id) = &input.supersedes {
        problems.extend(not_superseded(id, read).map(|why| format!("supersedes: {why}")));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::invalid(problems).into()) }
}

/// Returns what is wrong with topics.
pub(super) fn wrong_topics(topics: &[String]) -> Vec<String> {
    let is_topic = |topic: &String| {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (1..=LONGEST_TOPIC).contains(&topic.len()) && topic.chars().all(letter)
    };
    let mut problems = Vec::new();
    if topics.len() > MOST_TOPICS {
        problems.push(format!("topics: must be at most {MOST_TOPICS}"));
    } else if let Some(number) = topics.iter().position(|topic| !is_topic(topic)) {
        let form = format!("must have 1 to {LONGEST_TOPIC} lower-case letters, digits or `-`");
        problems.push(format!("topics.{number}: {form}"));
    }
    problems
}

/// Explains why an entry cannot be superseded. One that the caller may not see counts as missing.
fn not_superseded(id: &str, read: &Reader<'_>) -> Option<String> {
    let seen = |entry: &Knowledge| read.may("knowledge.read", &read.knowledge_target(entry));
    let short: String = id.chars().take(80).collect();
    match find(id, read).ok().filter(seen) {
        None => Some(format!("there is no entry {short}")),
        Some(entry) if entry.status != KnowledgeStatus::Accepted => Some(format!("{short} is {}", entry.status)),
        Some(_) => None,
    }
}

/// Returns the origin: untrusted for outside agents, outside sources, and runs that have read untrusted data.
fn origin(source: SourceKind, read: &Reader<'_>) -> Origin {
    let caller = read.caller();
    let is_outside = read.card(&caller.actor()).is_some_and(|card| card.actor.kind == ActorKind::OutsideAgent);
    let has_read = caller.run.as_ref().is_some_and(|run| run.labels.contains(&Label::Untrusted));
    if source.is_outside() || is_outside || has_read { Origin::Untrusted } else { Origin::Trusted }
}

/// Returns accepted entries with the same scope and common topics, with their words.
fn alike(topics: &[String], scope: (&Option<ActorId>, &Option<ActorId>), read: &Reader<'_>) -> Result<Vec<Said>, Stop> {
    let mut all = read.accepted_knowledge(topics, COMPARED)?;
    all.retain(|entry| (&entry.team, &entry.person) == scope && entry.kind != KnowledgeKind::Document);
    let mut said = Vec::with_capacity(all.len());
    for entry in all {
        let (text, _) = statement(&entry, read)?;
        said.extend(text.map(|text| (entry, scan::words(&text))));
    }
    Ok(said)
}

pub(super) fn is_not_too_many(proposer: &ActorId, read: &Reader<'_>) -> Result<(), Stop> {
    if read.open_knowledge_of(proposer, MOST_OPEN)? < MOST_OPEN {
        return Ok(());
    }
    let message =
        format!("{MOST_OPEN} of your entries are undecided, which is the limit: wait for a decision, or withdraw some");
    Err(Refusal::conflict(message).into())
}

/// Returns the reasons for quarantine. A statement accepted already in the same words is refused.
fn reasons(
    (said, reference): (&str, &str),
    origin: Origin,
    supersedes: Option<&str>,
    alike: &[Said],
    read: &Reader<'_>,
) -> Result<Vec<String>, Stop> {
    if let Some(known) = scan::said_by(said, alike)
        && read.may("knowledge.read", &read.knowledge_target(known))
    {
        return Err(Refusal::conflict(format!("{} says so already", known.id)).into());
    }
    let outside = (origin == Origin::Untrusted).then(|| "it comes from outside".to_owned());
    let found = scan::of_text(said).into_iter().chain(scan::of_text(reference));
    let labels = read.caller().run.iter().flat_map(|run| &run.labels).filter(|label| **label != Label::Untrusted);
    let learnt = labels.map(|label| format!("its run has read data labelled {label}"));
    let mut reasons: Vec<String> = outside.into_iter().chain(learnt).chain(found).collect();
    reasons.extend(scan::contradicted(said, alike, supersedes));
    reasons.dedup();
    Ok(reasons)
}

/// Returns who decides about it: stewards, or admins if there are none.
fn stewards(proposer: &ActorId, read: &Reader<'_>) -> Vec<ActorId> {
    let those = |role: Role| -> Vec<ActorId> {
        read.people(role).filter(|id| *id != proposer).take(MOST_NOTIFIED).cloned().collect()
    };
    let stewards = those(Role::Steward);
    if stewards.is_empty() { those(Role::Admin) } else { stewards }
}
