//! Where more can be asked than is asked, some of everything is.

use ok::policy::Bundle;
use ok::policy::diff::{Pair, Shift};

use super::diff_laws::asked_at_most;

/// However much there is to ask about, whom a policy names and what a test says are not left out.
#[test]
fn a_rule_for_one_person_is_found_where_there_is_more_than_can_be_asked() {
    let mut before = Bundle::built_in();
    for name in ["customers", "invoices", "vendors"] {
        let fields = "total: {type: money}\n    status: {type: choice, options: [new, paid]}\n    due: {type: date}";
        let text = format!(
            "apiVersion: ok/v1\nkind: Collection\nmetadata: {{name: {name}}}\nspec:\n  fields:\n    {fields}\n"
        );
        before.files.insert(format!("collections/{name}.yaml"), text);
    }
    let after = |policy: &str, test: &str| {
        let mut after = before.clone();
        after.files.insert("quiet.cedar".into(), format!("@id(\"quiet\") permit ({policy};\n"));
        after.files.insert("tests/quiet.yaml".into(), test.into());
        after
    };
    let kai = "principal == Ok::Actor::\"kai\"";
    let records = after(&format!("{kai}, action in Ok::Action::\"record.*\", resource)"), "cases: []\n");
    // A test alone knows of this one: nobody is named.
    let tested = after(
        "principal is Ok::Actor, action in [Ok::Action::\"record.delete\", Ok::Action::\"record.write\"], resource) \
         when { context.hist[\"record.delete\"].day * context.hist[\"record.delete\"].hour == 391 }",
        "actors: [{id: zed}, {id: mia}]\ncollections: [{id: invoices}]\nbrain: [{id: rec_1, collection: invoices, created_by: mia, updated_by: mia}]\ncases:\n  - {actor: zed, op: record.delete, target: rec_1, \
         hist: {record.delete: {hour: 17, day: 23}}, expect: allow}\n",
    );
    for (after, operations) in [(records, vec!["record.delete", "record.write"]), (tested, vec!["record.delete"])] {
        let found = asked_at_most(&before, &after, 8_000);
        assert!(found.cut.iter().any(|cut| cut == "record.delete"), "all was asked: {}", found.summary);
        for operation in operations {
            let looser = |pair: &&Pair| pair.operation == operation && pair.change == Shift::Looser;
            assert!(found.pairs.iter().any(|pair| looser(&pair)), "{operation}: {}", found.summary);
        }
    }
}
