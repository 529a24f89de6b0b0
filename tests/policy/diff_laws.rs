//! What holds of every comparison, whatever the two sides are.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use ok::gate::declare::schema::schema;
use ok::gate::explain::fixture;
use ok::policy::diff::{Answer, Decision, MOST, Outcome, Semantic, Shift, Side, Sides, Tally, compare};
use ok::policy::{Bundle, Snapshot};
use ok::types::impact::{Matrix, Row};
use proptest::prelude::*;

use super::check;
use crate::harness::prove::{law, proves};

/// Policies that somebody could add.
const MORE: [&str; 9] = [
    r#"@id("m0") @reason("r") forbid (principal in Ok::Role::"lead", action == Ok::Action::"actor.offboard", resource);"#,
    r#"@id("m1") @reason("r") forbid (principal is Ok::Actor, action == Ok::Action::"actor.offboard", resource) unless { principal in Ok::Role::"admin" || context.approvals.contains(Ok::ApprovalKind::"security") };"#,
    r#"@id("m2") permit (principal in Ok::Role::"steward", action == Ok::Action::"company.update", resource);"#,
    r#"@id("m3") permit (principal == Ok::Actor::"zoe", action == Ok::Action::"actor.trust", resource is Ok::Actor) when { resource.kind == "agent" && resource.trust < 2 };"#,
    r#"@id("m4") @reason("r") forbid (principal is Ok::Actor, action == Ok::Action::"company.update", resource) when { context.now < datetime("2026-06-01") };"#,
    r#"@id("m5") @reason("r") forbid (principal in Ok::Team::"team:far", action == Ok::Action::"me.read", resource) when { context.token.scoped };"#,
    r#"@id("m6") permit (principal is Ok::Actor, action == Ok::Action::"event.list", resource is Ok::Event) when { resource.kind == "denied" && principal.kind == "agent" && principal.trust > 3 };"#,
    r#"@id("m7") permit (principal is Ok::Visitor, action == Ok::Action::"health.read", resource) when { context.channel == "cli" };"#,
    r#"@id("m8") permit (principal is Ok::Actor, action == Ok::Action::"approval.decide", resource is Ok::Approval) when { resource.operation == "company.update" };"#,
];

/// The default pack with some of these, and without some of its files.
fn bundles() -> impl Strategy<Value = Bundle> {
    let more = prop::sample::subsequence((0..MORE.len()).collect::<Vec<_>>(), 0..=3);
    let less = prop::sample::subsequence(vec!["base/trust.cedar", "base/kill.cedar", "base/approvals.cedar"], 0..=1);
    (more, less).prop_map(|(more, less)| {
        let mut bundle = Bundle::built_in();
        bundle.files.retain(|path, _| !less.contains(&path.as_str()));
        bundle
            .files
            .insert("more.cedar".into(), more.into_iter().map(|number| format!("{}\n", MORE[number])).collect());
        bundle
    })
}

/// The last of these are kept: many tests compare one bundle with many.
fn loaded(bundle: &Bundle) -> Arc<Snapshot> {
    static LAST: Mutex<VecDeque<Arc<Snapshot>>> = Mutex::new(VecDeque::new());
    let (hash, last) = (bundle.hash(), || LAST.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(known) = last().iter().find(|known| known.hash() == hash.as_str()) {
        return Arc::clone(known);
    }
    let made = Arc::new(Snapshot::load(&schema(&ok::nouns::OPERATIONS), bundle).expect("it loads").apart());
    let mut last = last();
    last.truncate(15);
    last.push_front(Arc::clone(&made));
    made
}

/// Compares two bundles.
fn asked(before: &Bundle, after: &Bundle) -> Semantic {
    asked_at_most(before, after, if proves() { MOST } else { MOST / 6 })
}

pub fn asked_at_most(before: &Bundle, after: &Bundle, most: usize) -> Semantic {
    let (old, new) = (loaded(before), loaded(after));
    let before = Side { bundle: before, snapshot: &old };
    let sides = Sides { before, after: Side { bundle: after, snapshot: &new } };
    assert_eq!(sides.is_same(), compare(&sides).is_empty());
    fixture::differences(&ok::nouns::OPERATIONS, &sides, most)
}

/// What comes of a test alone: how many of its cases were asked, could not be, and failed.
pub fn alone(bundle: &Bundle, test: &str) -> (usize, usize, usize) {
    let mut bundle = bundle.clone();
    bundle.files.retain(|path, _| !path.starts_with("tests/"));
    bundle.files.insert("tests/witness.yaml".into(), test.into());
    let run = check(&bundle).run;
    (run.asked.len(), run.invalid.len(), run.failed.len())
}

fn mirrored(shift: Shift) -> Shift {
    match shift {
        Shift::Looser => Shift::Tighter,
        Shift::Tighter => Shift::Looser,
        Shift::Mixed | Shift::Same => shift,
    }
}

/// The default pack, against itself with one more policy.
fn with(number: usize) -> Semantic {
    let mut after = Bundle::built_in();
    after.files.insert("more.cedar".into(), MORE[number].into());
    asked(&Bundle::built_in(), &after)
}

fn outcomes(semantic: &Semantic) -> Vec<String> {
    let changed = semantic.changed();
    changed.map(|pair| format!("{} {} {:?}", pair.operation, pair.actor_kind, pair.change)).collect()
}

#[test]
fn made_up_questions_find_what_one_policy_changes() {
    let found = [
        vec!["actor.offboard lead Tighter"],
        // One more kind for the lead; those who may not anyway still may not.
        vec!["actor.offboard lead Tighter"],
        vec![],
        // Somebody named: whatever role they have.
        vec![
            "actor.trust agent Looser",
            "actor.trust auditor Looser",
            "actor.trust lead Looser",
            "actor.trust member Looser",
            "actor.trust steward Looser",
        ],
        vec!["company.update admin Tighter"],
        vec![
            "me.read admin Tighter",
            "me.read agent Tighter",
            "me.read auditor Tighter",
            "me.read lead Tighter",
            "me.read member Tighter",
            "me.read outside_agent Tighter",
            "me.read steward Tighter",
        ],
        vec!["event.list agent Looser"],
    ];
    for (number, expected) in found.iter().enumerate() {
        let semantic = with(number);
        assert_eq!(outcomes(&semantic), *expected, "{}", MORE[number]);
        assert!(semantic.questions > 50, "{}", semantic.questions);
    }
    assert!(with(2).summary.starts_with("no difference found in "));
}

/// A noun that nothing is made up for would be compared without a question.
#[test]
fn every_operation_is_asked_about_everything_that_it_can_be_about() {
    let open = "@id(\"open\") permit (principal, action, resource);\n";
    let before = Bundle::new([("a.cedar", open)]);
    let kinds: BTreeSet<&str> =
        ok::nouns::OPERATIONS.iter().flat_map(|entry| entry.spec.about).map(|noun| noun.name).collect();
    assert!(kinds.len() > 10, "{kinds:?}");
    for kind in kinds {
        let closed = format!("{open}@id(\"no\") @reason(\"r\") forbid (principal, action, resource is Ok::{kind});\n");
        // The plainest questions, which are asked first, are enough.
        let found = asked_at_most(&before, &Bundle::new([("a.cedar", closed.as_str())]), 1);
        let tighter =
            |name: &str| found.pairs.iter().any(|pair| pair.operation == name && pair.change == Shift::Tighter);
        for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.about.iter().any(|noun| noun.name == kind))
        {
            assert!(tighter(entry.spec.name), "{} is asked about no {kind}", entry.spec.name);
        }
    }
}

/// Policies about the company's own data are compared on records of it, with the values that they name.
#[test]
fn a_rule_about_a_field_of_a_record_is_told_with_a_record_that_shows_it() {
    let collection = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: invoices}\nspec:\n  fields:\n    total: {type: money}\n    status: {type: choice, options: [new, paid]}\n";
    let rule = |condition: &str| {
        let text = format!(
            "@id(\"a\") permit (principal is Ok::Actor, action == Ok::Action::\"record.read\", resource is Brain::invoices) when {{ {condition} }};\n"
        );
        Bundle::new([("a.cedar", text.as_str()), ("collections/invoices.yaml", collection)])
    };
    for (before, after) in [
        (
            "resource has total && resource.total.lessThan(decimal(\"100.0\"))",
            "resource has total && resource.total.lessThan(decimal(\"100.5\"))",
        ),
        ("resource has status && resource.status == \"paid\"", "resource has status"),
        ("resource.created_by == principal", "resource.created_by == principal || resource.collection == \"invoices\""),
    ] {
        let found = asked(&rule(before), &rule(after));
        let looser = found.pairs.iter().any(|pair| pair.operation == "record.read" && pair.change == Shift::Looser);
        assert!(looser, "{before} to {after}: {}", found.summary);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4, ..law(1) })]

    #[test]
    fn swapped_sides_mirror_and_equal_sides_are_the_same(before in bundles(), after in bundles()) {
        let (forth, back) = (asked(&before, &after), asked(&after, &before));
        let pairs = |of: &Semantic, turn: fn(Shift) -> Shift| -> BTreeSet<(String, String, Shift)> {
            of.pairs.iter().map(|pair| (pair.operation.clone(), pair.actor_kind.clone(), turn(pair.change))).collect()
        };
        prop_assert_eq!(pairs(&forth, |shift| shift), pairs(&back, mirrored));
        prop_assert_eq!(forth.questions, back.questions);
        let same = asked(&after, &after);
        prop_assert!(same.pairs.is_empty() && same.questions == 0);
    }

    #[test]
    fn every_witness_answers_as_it_says(before in bundles(), after in bundles()) {
        let semantic = asked(&before, &after);
        for witness in semantic.changed().flat_map(|pair| &pair.witnesses).take(4) {
            prop_assert_ne!(Shift::between(&witness.before, &witness.after), Shift::Same);
            prop_assert_eq!(alone(&after, &witness.test), (1, 0, 0), "{}", witness.test);
            prop_assert_eq!(alone(&before, &witness.test), (1, 0, 1), "{}", witness.test);
        }
    }
}

fn answers() -> impl Strategy<Value = Answer> {
    let kinds = prop::sample::subsequence(vec!["admin".to_owned(), "lead".to_owned()], 1..=2);
    (0..3_u8, kinds).prop_map(|(which, kinds)| {
        let decision = [Decision::Allow, Decision::NeedsApproval, Decision::Deny][which as usize];
        let approvals = if decision == Decision::NeedsApproval { kinds } else { Vec::new() };
        Answer { decision, approvals, because: vec!["a".into()], not_found: false }
    })
}

proptest! {
    #![proptest_config(law(64))]

    #[test]
    fn swapped_sides_transpose_the_matrix(outcomes in prop::collection::vec((answers(), answers()), 0..60)) {
        let count = |swap: bool| {
            // In two halves, as two threads would.
            let mut halves = [Tally::default(), Tally::default()];
            for (number, (one, other)) in outcomes.iter().enumerate() {
                let (before, after) = if swap { (other, one) } else { (one, other) };
                let outcome = Outcome::of(before.clone(), after.clone(), &BTreeSet::new());
                halves[number % 2].count("tick", "ana", &outcome, before.decision);
            }
            let [mut first, second] = halves;
            first.merge(second);
            first.impact()
        };
        let (forth, back) = (count(false), count(true));
        prop_assert_eq!(forth.matrix, transposed(&back.matrix));
        prop_assert_eq!(forth.matrix.sum(), outcomes.len() as u64);
        prop_assert_eq!(forth.other_approvals, back.other_approvals);
        let beside = forth.matrix.allow.sum() + forth.matrix.needs_approval.sum() + forth.matrix.deny.sum()
            - forth.matrix.allow.allow - forth.matrix.needs_approval.needs_approval - forth.matrix.deny.deny;
        prop_assert_eq!(forth.newly.sum(), beside);
        prop_assert_eq!(forth.by_operation.rows.iter().map(|row| row.changed).sum::<u64>(), beside);
        prop_assert_eq!(forth.recorded_otherwise, 0);
    }
}

/// The same, seen from the other side.
fn transposed(matrix: &Matrix) -> Matrix {
    let column = |of: fn(Row) -> u64| Row {
        allow: of(matrix.allow),
        needs_approval: of(matrix.needs_approval),
        deny: of(matrix.deny),
    };
    Matrix {
        allow: column(|row| row.allow),
        needs_approval: column(|row| row.needs_approval),
        deny: column(|row| row.deny),
    }
}
