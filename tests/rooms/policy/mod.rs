//! Policies, without a server: a small copy of the product's schema, and a company of five.

mod ancestry;
mod answers;
mod brain;
mod built_in;
mod bundles;
mod expansion;
mod explain;
mod fail_closed;
mod findings;
mod format;
mod kinds;
mod lexer;
mod plan;
mod property;
mod record;
mod schema;
mod stack;
mod yaml;

use cedar_policy::EntityUid;

use ok::policy::{Bundle, Closed, Facts, Question, Record, Ruling, Slice, Snapshot};

pub(super) const SCHEMA: &str = r#"
namespace Ok {
  entity ApprovalKind enum ["admin", "lead", "security", "finance"];
  entity Role enum ["admin", "lead", "steward", "auditor", "member", "agent", "outside_agent"];
  entity Company;
  entity Visitor;
  entity Team in [Team] = { lead?: Actor };
  entity Actor in [Role, Team] = { kind: String, admin: Bool, active: Bool, trust: Long, team?: Team, owner?: Actor };
  entity Token = { owner: Actor };
  entity Event = { kind: String, actor?: Actor, subjects: Set<Actor> };
  entity KillSwitch = { engage: Bool, scope: String, actor?: Actor, team?: Team };
  type Kill = { engaged: Bool, global: Bool, actor: Bool, team: Bool };
  type Facts = { now: datetime, approvals: Set<ApprovalKind>, channel: String, kill: Kill, token: { scoped: Bool } };
  action "query"; action "change";
  action "token.issue" in ["change"] appliesTo { principal: [Actor], resource: [Actor], context: Facts };
  action "token.revoke" in ["change"] appliesTo { principal: [Actor], resource: [Token], context: Facts };
  action "actor.offboard" in ["change"] appliesTo { principal: [Actor], resource: [Actor], context: Facts };
  action "actor.show" in ["query"] appliesTo { principal: [Actor, Visitor], resource: [Actor], context: Facts };
  action "event.show" in ["query"] appliesTo { principal: [Actor], resource: [Event], context: Facts };
}
"#;

pub(super) fn uid(text: &str) -> EntityUid {
    text.parse().expect("a uid")
}

pub(super) fn actor_uid(name: &str) -> EntityUid {
    uid(&format!("Ok::Actor::\"{name}\""))
}

pub(super) fn action(name: &str) -> EntityUid {
    uid(&format!("Ok::Action::\"{name}\""))
}

pub(super) fn role(name: &str) -> EntityUid {
    uid(&format!("Ok::Role::\"{name}\""))
}

pub(super) fn team_uid(name: &str) -> EntityUid {
    uid(&format!("Ok::Team::\"{name}\""))
}

pub(super) fn facts() -> Facts {
    killed(false)
}

pub(super) fn killed(global: bool) -> Facts {
    let kill = Record::new().bool("engaged", global).bool("global", global).bool("actor", false).bool("team", false);
    Facts::new()
        .datetime("now", 1_700_000_000_000)
        .string("channel", "api")
        .record("kill", kill)
        .record("token", Record::new().bool("scoped", false))
}

/// An actor's attributes, without team and owner.
pub(super) fn person(admin: bool, trust: i64) -> Record {
    Record::new().string("kind", "human").bool("admin", admin).bool("active", true).long("trust", trust)
}

/// Anna is admin; Lea leads the team `core`, in which Mia is a member; Bob is nobody's.
pub(super) fn company() -> Vec<Closed> {
    let core = team_uid("core");
    let all = team_uid("all");
    let member = |name: &str, of: &str, admin: bool| {
        let ancestors = [role(of), core.clone(), all.clone()];
        Closed::new(&actor_uid(name), ancestors, &person(admin, 3).entity("team", &core))
    };
    vec![
        Closed::new(&actor_uid("anna"), [role("admin")], &person(true, 5)),
        member("lea", "lead", false),
        member("mia", "member", false),
        Closed::new(&actor_uid("bob"), [], &person(false, 0)),
        Closed::new(&core, [all.clone()], &Record::new().entity("lead", &actor_uid("lea"))),
        Closed::new(&all, [], &Record::new()),
    ]
}

pub(super) fn snapshot(policies: &str) -> Snapshot {
    Snapshot::load(SCHEMA, &Bundle::new([("base/test.cedar", policies)])).expect("no findings")
}

/// A question about one actor by another.
pub(super) struct Ask<'a> {
    pub who: &'a str,
    pub what: &'a str,
    pub whom: &'a str,
    pub approvals: &'a [&'a str],
    pub facts: Facts,
    pub entities: Vec<Closed>,
}

pub(super) fn ask<'a>(who: &'a str, what: &'a str, whom: &'a str) -> Ask<'a> {
    Ask { who, what, whom, approvals: &[], facts: facts(), entities: company() }
}

impl Ask<'_> {
    pub fn of(self, snapshot: &Snapshot) -> Ruling {
        self.with(snapshot, |snapshot, question| snapshot.decide(question))
    }

    pub fn with<T>(self, snapshot: &Snapshot, what: impl FnOnce(&Snapshot, &Question<'_>) -> T) -> T {
        let (principal, resource, action) = (actor_uid(self.who), actor_uid(self.whom), action(self.what));
        let slice = Slice::new(snapshot, &action, self.entities);
        let approvals: Vec<String> = self.approvals.iter().map(|kind| (*kind).to_owned()).collect();
        what(
            snapshot,
            &Question {
                principal: &principal,
                action: &action,
                resource: &resource,
                entities: &slice,
                facts: &self.facts,
                input: None,
                approvals: &approvals,
                supposed: None,
            },
        )
    }
}

/// The ids that a ruling names.
pub(super) fn ids(ruling: &Ruling) -> Vec<&str> {
    ruling.because().iter().map(|policy| policy.id.as_str()).collect()
}
