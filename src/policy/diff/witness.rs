//! A witness: one question that the two sides answer differently, with everything that is needed to ask it again.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Decision, Shift};
use crate::own::{Properties, Said};
use crate::testing::{Around, Case, Delegation, Fixture, Member, Row, Step, Team, Way};
use types::id::ActorId;
use types::scope::listed;

/// A question, and both answers to it. It was asked of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// `looser`, `tighter`, or `mixed` where only the kinds of approval are others.
    pub change: Shift,
    pub actor: String,
    pub operation: String,
    /// What it is about; the company or the actor itself if none.
    pub target: Option<String>,
    /// What is the case beside: the values of a record, approvals given, kill switches, the time.
    pub given: Vec<String>,
    pub before: Answer,
    pub after: Answer,
    /// The same as a file of `tests/`, with all who are concerned: it passes with the candidate.
    pub test: String,
}

/// The list of a test file that holds records, and what each of them has.
const RECORDS: &str = "brain";
const EVERY_RECORD: [&str; 4] = ["collection", "created_by", "updated_by", "version"];

/// The kind of an actor: a person's role, `agent`, `outside_agent`, `visitor` or `server`.
pub(super) fn kind_of(fixture: &Fixture, actor: &str) -> String {
    let row = fixture.actors.iter().find(|row| row.id.as_str() == actor);
    row.map_or(actor, |row| match (row.kind, row.role) {
        (kind, _) if kind.is_agent() => kind.name(),
        (_, Some(role)) => role.name(),
        (_, None) => "member",
    })
    .to_owned()
}

impl Witness {
    pub(super) fn new(fixture: &Fixture, case: &Case, before: Answer, after: Answer) -> Witness {
        Witness {
            change: Shift::between(&before, &after),
            actor: case.actor.clone(),
            operation: case.op.clone(),
            target: case.target.clone(),
            given: about(fixture, case).into_iter().chain(given(&case.around)).collect(),
            test: test_file(fixture, &[(case, &after)]),
            before,
            after,
        }
    }
}

/// The values of the record that a case is about, without what every record has.
fn about(fixture: &Fixture, case: &Case) -> Vec<String> {
    let is_meant = |row: &&Row| row.list == RECORDS && Some(&row.id) == case.target.as_ref();
    let fields = fixture.rows.iter().find(is_meant).map(|row| row.fields.iter()).into_iter().flatten();
    let own = fields.filter(|(name, _)| !EVERY_RECORD.contains(&name.as_str()));
    own.map(|(name, value)| format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

/// The same about the company's own types, as either side's schema takes it.
pub(super) fn own_witness((then, said): (&Said, &Said), granted: &[String], before: Answer, after: Answer) -> Witness {
    let mut given: Vec<String> = granted.iter().map(|kind| format!("approved: {kind}")).collect();
    let (now, once) = (described(said), described(then));
    let only_then = once.iter().filter(|one| !now.contains(one)).map(|one| format!("before: {one}"));
    given.extend(now.iter().cloned().chain(only_then));
    Witness {
        change: Shift::between(&before, &after),
        actor: said.subject.name(),
        operation: said.action.clone(),
        target: Some(said.resource.name()),
        given,
        test: own_test_file(said, granted, &after),
        before,
        after,
    }
}

/// Everything that a question says of its ends and of what is the case.
fn described(said: &Said) -> Vec<String> {
    let ends = [
        ("subject", said.subject.properties.as_ref()),
        ("resource", said.resource.properties.as_ref()),
        ("context", Some(&said.context)),
    ];
    let of = |(end, properties): (&'static str, Option<&Properties>)| {
        let all: Vec<_> = properties.into_iter().flat_map(Properties::iter).collect();
        all.into_iter().map(move |(name, value)| format!("{end}.{name}: {}", written(value))).collect::<Vec<_>>()
    };
    ends.into_iter().flat_map(of).collect()
}

fn own_test_file(said: &Said, granted: &[String], after: &Answer) -> String {
    let mut text = String::from("records:\n");
    let mut ends = vec![&said.subject];
    ends.extend((said.resource != said.subject).then_some(&said.resource));
    for end in ends {
        let properties = end.properties.as_ref().map(|properties| format!(", properties: {}", written(properties)));
        let (kind, id) = (written(&end.kind), written(&end.id));
        text.push_str(&format!("  - {{type: {kind}, id: {id}{}}}\n", properties.unwrap_or_default()));
    }
    let (subject, resource) = (written(&said.subject.name()), written(&said.resource.name()));
    let mut row = format!("subject: {subject}, action: {}, resource: {resource}", written(&said.action));
    if said.context != Properties::default() {
        put(&mut row, "context", written(&said.context));
    }
    if !granted.is_empty() {
        put(&mut row, "granted", format!("[{}]", granted.join(", ")));
    }
    put(&mut row, "expect", after.decision.name());
    if after.decision == Decision::NeedsApproval {
        put(&mut row, "approvals", format!("[{}]", after.approvals.join(", ")));
    }
    format!("{text}evaluations:\n  - {{{row}}}\n")
}

/// As JSON, which is YAML too.
fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn given(around: &Around) -> Vec<String> {
    let mut parts: Vec<String> = around.granted.iter().map(|kind| format!("approved: {kind}")).collect();
    parts.extend(around.kill.iter().map(|scope| format!("kill switch engaged: {scope}")));
    parts.extend(around.release.then(|| "the switch would be released".to_owned()));
    parts.extend((!around.scopes.is_empty()).then(|| format!("with a token limited to {}", listed(&around.scopes))));
    parts.extend(around.channel.filter(|way| *way == Way::Cli).map(|_| "on the command line".to_owned()));
    parts.extend(around.now.map(|now| format!("at {now}")));
    parts.extend(around.under.iter().map(|id| format!("under the delegation {id}")));
    parts.extend(around.issuer.iter().map(|id| format!("with a token that {id} issued")));
    parts.extend(around.run.iter().map(in_a_run));
    parts.extend(around.hist.iter().map(|(operation, done)| format!("after {operation} {}", json!(done))));
    parts.extend(around.input.iter().map(|input| format!("given {input}")));
    parts
}

/// `in a run for ana of depth 2, after 40 calls`: what is not as at the first step of a run.
fn in_a_run(run: &Step) -> String {
    let askers: Vec<&str> = std::iter::once(&run.asker).chain(&run.askers).map(ActorId::as_str).collect();
    let numbers =
        [("depth", run.depth, 0), ("steps", run.steps, 1), ("calls", run.calls, 1), ("cost_cents", run.cost_cents, 0)];
    let unusual = numbers.into_iter().filter(|(_, number, usual)| number != usual);
    let mut parts: Vec<String> = unusual.map(|(what, number, _)| format!("{what} {number}")).collect();
    let labels: Vec<&str> = run.labels.iter().map(|label| label.name()).collect();
    parts.extend((!labels.is_empty()).then(|| format!("labels {}", labels.join(", "))));
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("in a run for {}{parts}", askers.join(" for "))
}

/// A test file with these cases and answers, and all who are concerned.
pub fn test_file(fixture: &Fixture, cases: &[(&Case, &Answer)]) -> String {
    let concerned: BTreeSet<ActorId> = cases.iter().flat_map(|(case, _)| concerned(fixture, case)).collect();
    let mut text = format!("now: {}\n", fixture.now);
    let list = |text: &mut String, name: &str, rows: Vec<String>| {
        if !rows.is_empty() {
            text.push_str(&format!("{name}:\n"));
            rows.iter().for_each(|row| text.push_str(&format!("  - {{{row}}}\n")));
        }
    };
    let known = |id: &ActorId| concerned.contains(id);
    list(&mut text, "teams", fixture.teams.iter().filter(|row| known(&row.id)).map(team).collect());
    list(&mut text, "actors", fixture.actors.iter().filter(|row| known(&row.id)).map(member).collect());
    let is_target = |id: &str| cases.iter().any(|(case, _)| case.target.as_deref() == Some(id));
    let mut lists: Vec<&str> = Vec::new();
    let rows = || fixture.rows.iter().filter(|row| is_target(&row.id));
    rows().for_each(|row| {
        if !lists.contains(&row.list.as_str()) {
            lists.push(&row.list);
        }
    });
    for name in lists {
        list(&mut text, name, rows().filter(|row| row.list == name).map(thing).collect());
    }
    let mut chained: Vec<&Delegation> = Vec::new();
    for row in cases.iter().flat_map(|(case, _)| chain(fixture, case)) {
        if !chained.iter().any(|known| known.id == row.id) {
            chained.push(row);
        }
    }
    list(&mut text, "delegations", chained.into_iter().map(delegation).collect());
    list(&mut text, "cases", cases.iter().map(|(case, answer)| line(case, answer)).collect());
    text
}

fn line(case: &Case, after: &Answer) -> String {
    let Around { granted, broken, kill, release, scopes, channel, now, under, input, issuer, run, hist } =
        &*case.around;
    let mut row = format!("actor: {}, op: {}", quoted(&case.actor), quoted(&case.op));
    let mut add = |name: &str, value: String| put(&mut row, name, value);
    case.target.iter().for_each(|target| add("target", quoted(target)));
    if !granted.is_empty() {
        add("granted", format!("[{}]", granted.join(", ")));
    }
    if *broken {
        add("broken", "true".into());
    }
    if !kill.is_empty() {
        add("kill", format!("[{}]", joined(kill)));
    }
    if *release {
        add("release", "true".into());
    }
    if !scopes.is_empty() {
        add("scopes", format!("[{}]", listed(scopes)));
    }
    channel.iter().for_each(|way| add("channel", if *way == Way::Cli { "cli" } else { "http" }.into()));
    now.iter().for_each(|now| add("now", now.to_string()));
    under.iter().for_each(|id| add("under", quoted(id)));
    issuer.iter().for_each(|id| add("issuer", quoted(id.as_str())));
    // JSON is YAML.
    run.iter().for_each(|run| add("run", json!(run).to_string()));
    if !hist.is_empty() {
        add("hist", json!(hist).to_string());
    }
    input.iter().for_each(|input| add("input", input.to_string()));
    add("expect", after.decision.name().into());
    if after.decision == Decision::NeedsApproval {
        add("approvals", format!("[{}]", after.approvals.join(", ")));
    }
    row
}

/// One more field of a row.
fn put(row: &mut String, name: &str, value: impl std::fmt::Display) {
    row.push_str(&format!(", {name}: {value}"));
}

fn thing(row: &Row) -> String {
    // An event is named by its number.
    let id = row.id.strip_prefix("event:").map_or_else(|| quoted(&row.id), str::to_owned);
    let mut fields = format!("id: {id}");
    row.fields.iter().for_each(|(name, value)| match value {
        Value::String(text) => put(&mut fields, name, quoted(text)),
        Value::Array(all) => {
            let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            put(&mut fields, name, format!("[{}]", joined(&all)));
        }
        other => put(&mut fields, name, other),
    });
    fields
}

fn team(row: &Team) -> String {
    let mut fields = format!("id: {}", quoted(row.id.as_str()));
    row.lead.iter().for_each(|lead| put(&mut fields, "lead", quoted(lead.as_str())));
    row.team.iter().for_each(|team| put(&mut fields, "team", quoted(team.as_str())));
    fields
}

fn member(row: &Member) -> String {
    let mut fields = format!("id: {}", quoted(row.id.as_str()));
    if row.kind.is_agent() {
        put(&mut fields, "kind", row.kind);
    }
    row.role.iter().for_each(|role| put(&mut fields, "role", role));
    row.team.iter().for_each(|team| put(&mut fields, "team", quoted(team.as_str())));
    row.owner.iter().for_each(|owner| put(&mut fields, "owner", quoted(owner.as_str())));
    row.trust.iter().for_each(|trust| put(&mut fields, "trust", trust));
    if row.offboarded {
        fields.push_str(", offboarded: true");
    }
    fields
}

/// The delegations that a question is asked under or about, with those that they rest on; the first first.
fn chain<'a>(fixture: &'a Fixture, case: &Case) -> Vec<&'a Delegation> {
    let mut wanted: BTreeSet<&str> =
        [&case.around.under, &case.target].into_iter().flatten().map(String::as_str).collect();
    let mut found: Vec<&Delegation> = Vec::new();
    // A row rests only on rows before it.
    for row in fixture.delegations.iter().rev() {
        if wanted.contains(row.id.as_str()) {
            wanted.extend(row.parent.as_deref());
            found.push(row);
        }
    }
    found.reverse();
    found
}

fn delegation(row: &Delegation) -> String {
    let (from, to) = (quoted(row.from.as_str()), quoted(row.to.as_str()));
    let mut fields = format!("id: {}, from: {from}, to: {to}", quoted(&row.id));
    let names = |names: &BTreeSet<String>| format!("[{}]", joined(&names.iter().collect::<Vec<_>>()));
    row.scope.iter().for_each(|scope| put(&mut fields, "scope", names(scope)));
    row.authority.iter().for_each(|authority| put(&mut fields, "authority", authority));
    if !row.tools.is_empty() {
        put(&mut fields, "tools", names(&row.tools));
    }
    row.parent.iter().for_each(|parent| put(&mut fields, "parent", quoted(parent)));
    if row.exhausted {
        put(&mut fields, "exhausted", true);
    }
    row.expires_at.iter().for_each(|end| put(&mut fields, "expires_at", end));
    fields
}

/// Returns the actors that a case mentions: the asker, the target, and those in the rows that the case is about.
pub fn named_by(fixture: &Fixture, case: &Case) -> Vec<ActorId> {
    let mut next: Vec<ActorId> = Vec::new();
    let mut name = |text: &str| {
        let text = text.strip_prefix("actor:").unwrap_or(text);
        next.extend(text.parse::<ActorId>().ok());
    };
    name(&case.actor);
    case.target.iter().for_each(|target| name(target));
    case.around.kill.iter().for_each(|scope| name(&scope.to_string()));
    case.around.issuer.iter().for_each(|issuer| name(issuer.as_str()));
    case.around
        .run
        .iter()
        .flat_map(|run| std::iter::once(&run.asker).chain(&run.askers))
        .for_each(|id| name(id.as_str()));
    let is_target = |id: &str| case.target.as_deref() == Some(id);
    next.extend(fixture.rows.iter().filter(|row| is_target(&row.id)).flat_map(Row::names));
    next.extend(chain(fixture, case).into_iter().flat_map(|row| [row.from.clone(), row.to.clone()]));
    next
}

/// Everybody whom the question could touch: those whom it names, and those whom they hang on, near and far.
fn concerned(fixture: &Fixture, case: &Case) -> BTreeSet<ActorId> {
    let mut next = named_by(fixture, case);
    let mut found = BTreeSet::new();
    while let Some(id) = next.pop() {
        if found.insert(id.clone()) {
            let member = fixture.actors.iter().find(|row| row.id == id);
            next.extend(member.into_iter().flat_map(|row| row.team.iter().chain(&row.owner)).cloned());
            let team = fixture.teams.iter().find(|row| row.id == id);
            next.extend(team.into_iter().flat_map(|row| row.team.iter().chain(&row.lead)).cloned());
        }
    }
    found
}

fn joined(items: &[impl ToString]) -> String {
    items.iter().map(|item| quoted(&item.to_string())).collect::<Vec<_>>().join(", ")
}

/// A word as YAML takes it; JSON strings are YAML strings.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let word = text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain);
    let reserved = matches!(text, "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n");
    if word && !reserved { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
