//! Whether those who approve something may read what they approve: each entry of `approvals.yaml` is asked about, as somebody
//! who is in it and in nothing else.

use std::sync::Arc;

use crate::approvals::{Eligible, FILE, Whose};
use crate::engine::Effect;
use crate::finding::code;
use crate::testing::{Case, Fixture, Member, Row, Stage, Team, parse};
use crate::{Finding, Snapshot, yaml};
use types::actor::{ActorKind, Role};
use types::id::ActorId;
use types::impact::Decision;

/// A finding for each kind of approval and each read that is refused to somebody who may give it.
pub(super) fn findings(snapshot: &Arc<Snapshot>, stage: &dyn Stage, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for kind in snapshot.kinds() {
        let operations = asking(snapshot, kind);
        let about_changes = operations.iter().any(|operation| snapshot.resources_of(operation).contains("Ok::Change"));
        let rule = snapshot.approvals().rule(kind);
        let later = rule.escalate.iter().flat_map(|more| &more.to);
        for who in rule.eligible.iter().chain(later).filter(|_| !operations.is_empty()) {
            // Who may not decide either approves nothing.
            let decides = |fixture: &Fixture| !refuses(snapshot, stage, fixture, "approval.decide", "apr_1");
            let Some(fixture) = scene(who).filter(decides) else { continue };
            let reads = [("approval.read", "apr_1"), ("approval.explain", "apr_1"), ("change.read", "chg_1")];
            let reads = reads.iter().filter(|(read, _)| about_changes || !read.starts_with("change."));
            for (read, target) in reads {
                if refuses(snapshot, stage, &fixture, read, target) {
                    let what = if *target == "chg_1" { "the change" } else { "the request" };
                    let message = format!(
                        "those who approve `{kind}` because of {} may not read {what}: `{read}` is denied to them",
                        described(who)
                    );
                    let line = yaml::line_of(text, &["kinds", kind]);
                    findings.push(Finding::new(code::APPROVALS_BLIND, FILE, line, (0, 0), message));
                }
            }
        }
    }
    findings
}

/// The operations of which a policy asks for this kind of approval.
fn asking<'a>(snapshot: &'a Snapshot, kind: &str) -> Vec<&'a str> {
    let names =
        snapshot.policies().any(|policy| policy.effect == Effect::Forbid && policy.kinds.iter().any(|one| one == kind));
    let asks = |operation: &&str| names && snapshot.looks(operation).kinds.contains(kind);
    snapshot.action_names().into_iter().filter(asks).collect()
}

/// Somebody who fits an entry, a request that they may decide, and a change that it is about.
fn scene(who: &Eligible) -> Option<Fixture> {
    let id = |text: &str| text.parse::<ActorId>().ok();
    let (approver, author) = (id("approver")?, id("author")?);
    let mut fixture = parse("scene.yaml", "now: 2026-01-05T12:00:00Z\n", &|_| Ok(())).ok()?.fixture;
    let leads = who.lead == Some(Whose::Requester);
    let home = id("team:home")?;
    let team = who.team.clone();
    fixture.teams.push(Team { id: home.clone(), lead: leads.then(|| approver.clone()), team: None });
    fixture.teams.extend(team.iter().filter(|team| **team != home).map(|team| Team {
        id: team.clone(),
        lead: None,
        team: None,
    }));
    let member = |id: ActorId, role, team| {
        let (kind, owner, trust, offboarded) = (ActorKind::Person, None, None, false);
        Member { id, kind, role: Some(role), team, owner, trust, offboarded }
    };
    let usual = if leads { Role::Lead } else { Role::Member };
    fixture.actors.push(member(approver.clone(), who.role.unwrap_or(usual), team));
    fixture.actors.push(member(author.clone(), Role::Steward, Some(home)));
    let (request, change) = (Row::new("approvals", "apr_1"), Row::new("changes", "chg_1"));
    let request = request.with("requester", &author).with("operation", "change.promote");
    fixture.rows.push(request.with("approvers", [&approver]));
    let change = change.with("author", &author).with("reviewed", true).with("peers", 2);
    fixture.rows.push(change.with("approvers", [&approver]));
    Some(fixture)
}

fn refuses(snapshot: &Arc<Snapshot>, stage: &dyn Stage, fixture: &Fixture, read: &str, target: &str) -> bool {
    let case = Case {
        line: 0,
        actor: "approver".into(),
        op: read.to_owned(),
        target: Some(target.to_owned()),
        around: Arc::default(),
        expect: Decision::Allow,
        because: None,
        approvals: None,
    };
    let asked = stage.stage(snapshot, fixture).question(&case);
    // A read that these policies do not know cannot be refused.
    asked.is_ok_and(|asked| !asked.answer(snapshot).ruling.is_allowed())
}

/// `the team team:security`
fn described(who: &Eligible) -> String {
    let role = who.role.map(|role| format!("the role {role}"));
    let team = who.team.as_ref().map(|team| format!("the team {team}"));
    let lead = who.lead.map(|_| "leading the requester's team".to_owned());
    [role, team, lead].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
