//! What webhooks are owed.

use std::collections::BTreeSet;

use ok::background::courier::due;
use ok::policy::Bundle;

use crate::harness::Test;

#[tokio::test]
async fn policies_that_know_of_no_webhooks_refuse_nothing_where_there_are_none() {
    let mut policies = Bundle::built_in();
    policies.files.retain(|path, _| !path.contains("webhooks"));
    let test = Test::with_policies(policies).await;
    let gate = &test.company.gate;
    let before = *gate.grown().borrow();
    let asked = due(gate, &BTreeSet::new()).await.ok().unwrap();
    assert!(asked.messages.is_empty());
    assert_eq!(*gate.grown().borrow(), before, "no refusal is recorded");
}
