//! What is hidden costs as many questions to the policies as what is absent.

use ok::policy::Bundle;
use ok::types::effort::Effort;
use serde_json::json;
use tokio::runtime::Runtime;

use super::{UNSEEN, id};
use crate::harness::Test;

/// The least fuel with which a read is answered at all: one for each question to the policies, and for each policy in it.
fn takes(runtime: &Runtime, test: &Test, path: &str, token: &str) -> i64 {
    let ends = |fuel: i64| {
        let effort = Effort::new(fuel);
        effort.within(|| runtime.block_on(test.get(path, token)));
        effort.has_ended()
    };
    let (mut short, mut enough) = (0, 4_096);
    assert!(
        ends(short) && !ends(enough),
        "{path} {} {} {}",
        ends(0),
        ends(4096),
        runtime.block_on(test.get(path, token)).text()
    );
    while enough - short > 1 {
        let middle = (short + enough) / 2;
        *(if ends(middle) { &mut short } else { &mut enough }) = middle;
    }
    enough
}

#[test]
fn what_is_hidden_is_asked_about_as_what_is_absent() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (test, mia, paths) = runtime.block_on(async {
        let mut bundle = Bundle::built_in();
        bundle.files.insert("unseen.cedar".into(), UNSEEN.replace("eye", "mia"));
        let test = Test::with_policies(bundle).await;
        test.add("team:veil", "team", json!({})).await;
        let mia = test.add("mia", "person", json!({})).await;
        test.add("gus", "agent", json!({ "owner": "ana", "team": "team:veil" })).await;
        let lent = id(&test.post("/delegations", &test.admin, json!({ "to": "gus", "authority": "act" })).await);
        let hook = json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"] });
        let hook = id(&test.post("/v1/webhooks", &test.admin, hook).await);
        let paths = [
            ("/actors/gus".to_owned(), "/actors/nil".to_owned()),
            (format!("/delegations/{lent}"), "/delegations/dlg_00000000000000000000000000".to_owned()),
            (format!("/v1/webhooks/{hook}"), "/v1/webhooks/whk_00000000000000000000000000".to_owned()),
        ];
        (test, mia, paths)
    });
    for (hidden, absent) in paths {
        let answers = [&hidden, &absent].map(|path| runtime.block_on(test.get(path, &mia)).error());
        assert_eq!(answers, ["404 not_found not found", "404 not_found not found"]);
        assert_eq!(takes(&runtime, &test, &hidden, &mia), takes(&runtime, &test, &absent, &mia), "{hidden}");
    }
}
