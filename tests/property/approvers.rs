//! Who may decide a request is found by what its kind says, and not among everybody.

use std::sync::Arc;

use ok::gate::approve::approvers::{Requesting, approvers};
use ok::gate::decide::world::World;
use ok::gate::declare::schema::schema;
use ok::gate::explain::known::Known;
use ok::policy::testing::parse;
use ok::policy::{Bundle, Snapshot};
use ok::types::effort::Effort;
use ok::types::time::Time;

/// Who may decide `kind`, asked by mia, found with at most so much work.
fn found(world: &World, rules: &str, fuel: i64) -> Vec<String> {
    let rule = ok::policy::approvals::ApprovalRules::parse(rules).unwrap().rule("k");
    let mia = "mia".parse().unwrap();
    let people = Effort::new(fuel).within(|| approvers(world, &rule, Requesting::of(&mia), Time(0), Time(0)));
    people.iter().map(ToString::to_string).collect()
}

#[test]
fn who_may_decide_is_found_without_a_look_at_everybody() {
    let mut company = String::from("teams: [{id: 'team:ops', lead: lea}, {id: 'team:far'}]\nactors:\n");
    let many = (0..1_000).map(|number| (format!("p{number}"), "member", "far"));
    let few = [("ana", "admin", "far"), ("abe", "admin", "ops"), ("lea", "lead", "far"), ("mia", "member", "ops")];
    for (id, role, team) in few.map(|(id, role, team)| (id.to_owned(), role, team)).into_iter().chain(many) {
        company.push_str(&format!("  - id: {id}\n    role: {role}\n    team: 'team:{team}'\n"));
    }
    company.push_str("cases: []\n");
    let fixture = parse("company.yaml", &company, &|_| Ok(())).unwrap().fixture;
    let schema = schema(&ok::nouns::OPERATIONS);
    let snapshot = Arc::new(Snapshot::load(&schema, &Bundle::built_in()).unwrap());
    let world = Known::new(&ok::nouns::OPERATIONS).world(&snapshot, &fixture);
    let pools = |pools: &str| format!("kinds: {{k: {{eligible: [{pools}]}}}}");
    for (eligible, people) in [
        ("{role: admin}", vec!["abe", "ana"]),
        ("{team: 'team:ops'}", vec!["abe", "lea"]),
        ("{team: 'team:ops', role: admin}", vec!["abe"]),
        ("{lead: requester}", vec!["lea"]),
        ("{lead: requester, role: admin}", vec![]),
        ("{lead: requester, team: 'team:far'}, {role: admin}", vec!["abe", "ana", "lea"]),
    ] {
        assert_eq!(found(&world, &pools(eligible), 10), people, "{eligible}");
    }
    // A pool that is everybody holds everybody but the requester.
    assert_eq!(found(&world, &pools("{role: member}"), 1_100).len(), 1_000);
}
