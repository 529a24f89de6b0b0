//! The three answers: allow, needs approval, deny.

use super::{Ask, ask, ids, killed, snapshot};
use ok::policy::{Ruling, Snapshot};

const POLICIES: &str = r#"
@id("staff-may-change")
permit (principal in Ok::Team::"core", action in Ok::Action::"change", resource);

@id("admins-may")
permit (principal in Ok::Role::"admin", action, resource);

@id("offboard-by-lead")
@reason("offboarding by a lead needs an admin's approval")
forbid (principal, action == Ok::Action::"actor.offboard", resource) when { !principal.admin }
unless { context.approvals.contains(Ok::ApprovalKind::"admin") };

@id("offboard-admins")
@reason("offboarding an admin needs security and finance")
forbid (principal, action == Ok::Action::"actor.offboard", resource) when { resource.admin }
unless { context.approvals.contains(Ok::ApprovalKind::"security") && context.approvals.contains(Ok::ApprovalKind::"finance") };

@id("kill-switch")
@reason("the kill switch is engaged")
forbid (principal, action in Ok::Action::"change", resource) when { context.kill.global };

@id("only-admins-offboard-leads")
@reason("leads are offboarded by admins")
forbid (principal, action == Ok::Action::"actor.offboard", resource in Ok::Role::"lead")
unless { principal.admin && context.approvals.contains(Ok::ApprovalKind::"lead") };
"#;

fn policies() -> Snapshot {
    snapshot(POLICIES)
}

fn kinds(ruling: &Ruling) -> Vec<&str> {
    match ruling {
        Ruling::NeedsApproval { kinds, .. } => kinds.iter().map(String::as_str).collect(),
        other => panic!("not needs_approval: {other:?}"),
    }
}

fn denied(ruling: &Ruling) -> &str {
    match ruling {
        Ruling::Deny { fault: None, .. } => ruling.reason(),
        other => panic!("not a plain denial: {other:?}"),
    }
}

#[test]
fn what_a_policy_permits_is_allowed() {
    let ruling = ask("mia", "token.issue", "mia").of(&policies());
    assert!(ruling.is_allowed());
    assert_eq!(ids(&ruling), ["staff-may-change"]);
}

#[test]
fn what_no_policy_permits_is_denied_and_nothing_offered() {
    let ruling = ask("bob", "token.issue", "mia").of(&policies());
    assert_eq!(denied(&ruling), "no policy permits it");
    assert!(ids(&ruling).is_empty());
}

#[test]
fn a_forbid_that_names_no_kind_is_final() {
    let ruling = Ask { facts: killed(true), ..ask("mia", "token.issue", "mia") }.of(&policies());
    assert_eq!(denied(&ruling), "the kill switch is engaged");
}

#[test]
fn one_kind_is_asked_for() {
    let ruling = ask("lea", "actor.offboard", "bob").of(&policies());
    assert_eq!(kinds(&ruling), ["admin"]);
    assert_eq!(ruling.reason(), "offboarding by a lead needs an admin's approval");
    assert_eq!(ruling.because()[0].line, 8);
    assert_eq!(ruling.because()[0].file, "base/test.cedar");
}

#[test]
fn all_kinds_are_asked_for_together() {
    let ruling = ask("lea", "actor.offboard", "anna").of(&policies());
    assert_eq!(kinds(&ruling), ["admin", "finance", "security"]);
    assert_eq!(ids(&ruling), ["offboard-admins", "offboard-by-lead"]);
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let partly = |approvals| Ask { approvals, ..ask("lea", "actor.offboard", "anna") }.of(&policies());
    assert_eq!(kinds(&partly(&["admin"])), ["finance", "security"]);
    assert_eq!(kinds(&partly(&["admin", "finance"])), ["security"]);
    assert!(partly(&["admin", "finance", "security"]).is_allowed());
    assert_eq!(kinds(&partly(&["lead"])), ["admin", "finance", "security"]);
    // A kind that was given under earlier policies, and that these do not know, releases nothing.
    assert_eq!(kinds(&partly(&["forgotten", "admin"])), ["finance", "security"]);
}

#[test]
fn a_final_forbid_wins_beside_an_approvable_one() {
    let ruling = Ask { facts: killed(true), ..ask("lea", "actor.offboard", "bob") }.of(&policies());
    denied(&ruling);
    assert_eq!(ids(&ruling), ["kill-switch", "offboard-by-lead"]);
}

#[test]
fn nothing_is_offered_where_no_permit_would_match() {
    let ruling = ask("bob", "actor.offboard", "mia").of(&policies());
    assert_eq!(denied(&ruling), "no policy permits it");
}

#[test]
fn nothing_is_offered_where_the_approval_would_not_release() {
    let ruling = ask("lea", "actor.offboard", "lea").of(&policies());
    denied(&ruling);
    assert_eq!(ids(&ruling), ["offboard-by-lead", "only-admins-offboard-leads"]);
    assert_eq!(kinds(&ask("anna", "actor.offboard", "lea").of(&policies())), ["lead"]);
}

#[test]
fn a_policy_on_an_action_group_holds_for_its_members_and_equality_does_not() {
    let on = |scope: &str| {
        let text = format!("@id(\"a\") permit (principal, action {scope} Ok::Action::\"change\", resource);");
        let bundle = ok::policy::Bundle::new([("a.cedar", text)]);
        Snapshot::load(super::SCHEMA, &bundle).map(|loaded| ask("bob", "token.issue", "bob").of(&loaded).is_allowed())
    };
    assert_eq!(on("in"), Ok(true));
    assert_ne!(on("=="), Ok(true));
}

#[test]
fn a_bundle_without_policies_denies() {
    assert_eq!(denied(&ask("anna", "actor.show", "bob").of(&snapshot(""))), "no policy permits it");
}

#[test]
fn a_snapshot_tells_what_it_is() {
    let snapshot = policies();
    assert_eq!(snapshot.hash().len(), 64);
    assert_eq!(snapshot.kinds().collect::<Vec<_>>(), ["admin", "finance", "lead", "security"]);
    let first = snapshot.policies().next().expect("a policy");
    assert_eq!((first.id.as_str(), first.line), ("admins-may", 5));
    assert!(first.text.ends_with("permit (principal in Ok::Role::\"admin\", action, resource);"));
    for entity in super::company() {
        snapshot.conforms(&entity).expect("as the schema says");
    }
    let wrong = ok::policy::Closed::new(&super::actor_uid("eve"), [], &ok::policy::Record::new());
    snapshot.conforms(&wrong).expect_err("without attributes");
}
