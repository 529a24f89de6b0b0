//! An explained decision: the policies behind it, what would change it, and who could approve it.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::narrowed::Narrowed;
use super::shown::ShownPolicy;
use crate::approval::open_request;
use gate::admit::rate::Left;
use gate::explain::inquiry::{BreakGlass, Link};
use gate::{Alteration, Inquiry, Reader};
use policy::Ruling;
use types::actor::KillScope;
use types::id::{ActorId, Id};
use types::impact::Decision;
use types::refusal::Stop;
use types::time::Time;

/// The gate's answer, and why.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// `allow`, `needs_approval` or `deny`.
    pub decision: Decision,
    pub operation: String,
    pub actor: ActorId,
    #[schemars(extend("x-names" = "reference"))]
    pub target: String,
    /// On whose behalf, the nearest first, with the answer for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<ExplainedLink>,
    /// The reason: that of the first policy in the way.
    pub reason: String,
    /// The policies that determined the answer.
    pub because: Vec<ShownPolicy>,
    /// Where no policy permits it: the permits that came nearest, at most five.
    #[schemars(length(max = 5))]
    pub near_misses: Vec<ShownPolicy>,
    /// Required input fields that policies read and that the question omits: this is the answer with each of them
    /// empty; a real call may get another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_given: Vec<String>,
    /// If the operation returns a collection's records: which of them the policies allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrowed: Option<Narrowed>,
    /// The kinds of approval that would turn the answer to `allow`; all are required.
    pub approvals: Vec<NeededApproval>,
    /// The effect of a break-glass grant; shown to those who may see the actor's grants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_glass: Option<ShownBreakGlass>,
    /// The engaged kill switches that touch the actor.
    pub kill: Vec<KillScope>,
    /// The rate limits that apply.
    pub limits: Vec<RateLimit>,
    /// The smallest sets of changes that would turn the answer to `allow`, at most five: each was tried, and none of its
    /// changes can be left out. The search is bounded: there may be others.
    #[schemars(length(max = 5))]
    pub what_would_change: Vec<Vec<ShownChange>>,
    pub policy: PolicyVersion,
    /// The moment for which this is the answer.
    pub at: Time,
}

/// The answer to a question about the company's own types, and why.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct EvaluationExplained {
    /// `allow`, `needs_approval` or `deny`; for another program, anything but `allow` is a denial.
    pub decision: Decision,
    /// The action.
    pub operation: String,
    /// The subject: its type and id.
    pub actor: String,
    /// The resource: its type and id.
    pub target: String,
    /// The reason: that of the first policy in the way.
    pub reason: String,
    /// The policies that determined the answer.
    pub because: Vec<ShownPolicy>,
    /// Where no policy permits it: the permits that came nearest, at most five.
    #[schemars(length(max = 5))]
    pub near_misses: Vec<ShownPolicy>,
    /// The kinds of approval that would turn the answer to `allow`; all are required.
    pub approvals: Vec<NeededKind>,
    pub policy: PolicyVersion,
    /// The moment for which this is the answer.
    pub at: Time,
}

/// A kind of approval that is needed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NeededKind {
    pub kind: String,
    /// How many people must agree.
    pub threshold: u32,
}

/// Somebody on whose behalf a call would be made: it is allowed only if they may do it, and if they have handed it on.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ExplainedLink {
    pub delegation: String,
    pub from: ActorId,
    /// `allow`, `needs_approval` or `deny`.
    pub decision: Decision,
    /// Why not, if it is not `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Returns the links to everybody on whose behalf the call would be made.
pub(super) fn links(inquiry: &Inquiry<'_>) -> Vec<ExplainedLink> {
    let link = |(link, ruling): (Link, Ruling)| ExplainedLink {
        delegation: link.delegation,
        from: link.from,
        decision: ruling.decision(),
        reason: (!ruling.is_allowed()).then(|| ruling.reason().to_owned()),
    };
    inquiry.links().into_iter().map(link).collect()
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PolicyVersion {
    pub version: i64,
    pub hash: String,
}

/// One kind of approval that is needed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NeededApproval {
    pub kind: String,
    /// Who may give it, as far as the asker may see them.
    pub who_may_decide: Vec<ActorId>,
    /// How many people must agree.
    pub threshold: u32,
    /// Who has agreed already, to an open request of the actor for the same.
    pub held: Vec<ActorId>,
    /// That request, where there is one that the asker may see.
    pub request: Option<String>,
}

/// A rate limit that a call counts against.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RateLimit {
    pub id: String,
    /// Calls that it admits in one window.
    pub most: u32,
    /// The window, in seconds.
    pub seconds: u32,
    /// Calls left in the current window.
    pub left: u32,
}

impl From<Left> for RateLimit {
    fn from(limit: Left) -> RateLimit {
        let Left { id, most, seconds, left } = limit;
        RateLimit { id, most, seconds, left }
    }
}

/// The state of break-glass for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Active,
    /// The actor could open a grant.
    Possible,
}

/// A break-glass grant of the actor's for this call.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownBreakGlass {
    /// `active`: there is one; `possible`: there is none, but the actor could open one.
    #[schemars(with = "String", extend("enum" = ["active", "possible"]))]
    pub state: Standing,
    pub id: Option<Id>,
    pub expires_at: Option<Time>,
    /// The answer with it: `allow`, `needs_approval` or `deny`.
    pub decision: Decision,
    /// Why not, if it is not `allow`.
    pub reason: Option<String>,
}

impl ShownBreakGlass {
    pub(super) fn of(break_glass: BreakGlass, without: &Ruling) -> ShownBreakGlass {
        match break_glass {
            BreakGlass::Possible => {
                let decision = Decision::Allow;
                ShownBreakGlass { state: Standing::Possible, id: None, expires_at: None, decision, reason: None }
            }
            BreakGlass::Held { id, until, ruling } => ShownBreakGlass {
                state: Standing::Active,
                id: Some(id),
                expires_at: Some(until),
                // If the grant does not help, the call still waits for approval.
                decision: if ruling.is_allowed() { Decision::Allow } else { without.decision() },
                reason: (!ruling.is_allowed()).then(|| ruling.reason().to_owned()),
            },
        }
    }
}

/// One change of the company, or of the call.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownChange {
    /// `approval`, `channel`, `kill`, `time`, `input`, `trust`, `owner`, `lead`, `team` or `role`.
    #[schemars(extend("enum" = ["approval", "channel", "kill", "time", "input", "trust", "owner", "lead", "team", "role"]))]
    pub change: Cow<'static, str>,
    /// Of what; none if the call itself changes.
    #[schemars(extend("x-names" = "reference"))]
    pub of: Option<String>,
    /// The current value, as far as the asker may see it.
    pub from: Value,
    pub to: Value,
    /// The change as a sentence.
    #[schemars(extend("x-names" = "text"))]
    pub text: String,
}

impl ShownChange {
    pub(super) fn of(change: &Alteration, inquiry: &Inquiry<'_>) -> ShownChange {
        let seen = |id: &Option<ActorId>| id.clone().filter(|id| inquiry.sees(id));
        let row = |id: &ActorId| inquiry.actor(id);
        let made = |change: &'static str, of: &ActorId, from: Value, to: Value, text: String| ShownChange {
            change: change.into(),
            of: Some(of.to_string()),
            from,
            to,
            text,
        };
        let call = |change: &'static str, from: Value, to: Value, text: String| ShownChange {
            change: change.into(),
            of: None,
            from,
            to,
            text,
        };
        match change {
            Alteration::Approval(kind) => {
                call("approval", Value::Null, json!(kind), format!("there is an approval of the kind `{kind}`"))
            }
            Alteration::Channel(to) => {
                call("channel", json!(inquiry.caller().channel), json!(to), format!("the call comes by {to}"))
            }
            Alteration::Release(scope) => {
                let text = format!("the kill switch {scope} is released");
                ShownChange { of: Some(scope.to_string()), ..call("kill", json!("engaged"), json!("released"), text) }
            }
            Alteration::At(to) => {
                let text = if *to > inquiry.now() {
                    format!("the call comes at {to}")
                } else {
                    format!("the call had come before {}", to.plus_ms(1))
                };
                call("time", json!(inquiry.now()), json!(to), text)
            }
            Alteration::Input(path, to) => {
                let from = inquiry.given(path).cloned().unwrap_or_default();
                let field = path.join(".");
                match to.as_ref().map(policy::Scalar::json) {
                    Some(to) => call("input", from, to.clone(), format!("`{field}` is {to}")),
                    None => call("input", from, Value::Null, format!("`{field}` is not given")),
                }
            }
            Alteration::Trust(id, to) => {
                let from = json!(row(id).map(|row| row.trust));
                made("trust", id, from, json!(to), format!("the trust of {id} is {to}"))
            }
            Alteration::Owner(id, to) => {
                let from = json!(row(id).and_then(|row| seen(&row.owner)));
                made("owner", id, from, json!(to), format!("the owner of {id} is {to}"))
            }
            Alteration::Lead(id, to) => {
                let from = json!(row(id).and_then(|row| seen(&row.lead)));
                made("lead", id, from, json!(to), format!("{to} leads {id}"))
            }
            Alteration::Team(id, to) => {
                let from = json!(row(id).and_then(|row| seen(&row.team)));
                let none = if id.is_team() { "no other team" } else { "no team" };
                let text = format!("{id} is in {}", to.as_ref().map_or(none, ActorId::as_str));
                made("team", id, from, json!(to), text)
            }
            Alteration::Role(id, to) => {
                let from = json!(row(id).map(|row| row.role));
                made("role", id, from, json!(to), format!("the role of {id} is {to}"))
            }
        }
    }
}

/// Returns the missing kinds of approval, and who could give them.
pub(super) fn needed(
    kinds: &[String],
    inquiry: &Inquiry<'_>,
    input: Option<&Value>,
    read: &Reader<'_>,
) -> Result<Vec<NeededApproval>, Stop> {
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    // Requests open now say nothing about a question about the past.
    let request = if inquiry.is_past() { None } else { open_request(inquiry, input, read)? };
    let seen = |ids: Vec<ActorId>| ids.into_iter().filter(|id| inquiry.sees(id)).collect::<Vec<_>>();
    let may_decide = |kind: &String| match &request {
        Some(request) => request.approvers(kind, read),
        None => inquiry.approvers(kind).into_iter().collect(),
    };
    let one = |kind: &String| NeededApproval {
        kind: kind.clone(),
        who_may_decide: seen(may_decide(kind)),
        threshold: inquiry.threshold(kind),
        held: request.as_ref().map(|request| seen(request.held(kind, read))).unwrap_or_default(),
        request: request.as_ref().map(|request| request.id().to_owned()),
    };
    Ok(kinds.iter().map(one).collect())
}
