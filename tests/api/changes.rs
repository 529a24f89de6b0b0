//! Policies on their way into force: proposed, reviewed, tested, promoted; one at a time, whole, and never by one person
//! where there are two.

use std::collections::BTreeMap;

use ok::policy::Bundle;
use serde_json::{Value, json};

use crate::harness::Test;

/// The default policies and one that says no to `GET /api/inbox`.
pub fn stricter(id: &str) -> BTreeMap<String, String> {
    let mut files = Bundle::built_in().files;
    files.insert(
        "extra.cedar".into(),
        format!("@id(\"{id}\")\n@reason(\"closed for now\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"inbox.list\",\n  resource\n);\n"),
    );
    let test = "cases:\n  - {actor: zoe, op: inbox.list, expect: deny}\nactors:\n  - {id: zoe}\n";
    files.insert("tests/extra.yaml".into(), test.into());
    // These say that it is open.
    files.remove("tests/approvals.yaml");
    files
}

pub async fn propose(test: &Test, token: &str, files: &BTreeMap<String, String>) -> Value {
    let answer = test.post("/policy/proposals", token, json!({ "files": files, "reason": "a test" })).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

pub async fn step(test: &Test, token: &str, change: &Value, step: &str, body: Value) -> crate::harness::Answer {
    test.post(&format!("/changes/{}/{step}", change["id"].as_str().unwrap()), token, body).await
}

/// Whoever reviews a change compares it as its author did, without the files.
#[tokio::test]
async fn a_change_is_compared_by_its_id_by_those_who_may_see_it() {
    let test = Test::new().await;
    let cast = test.cast().await;
    let change = propose(&test, &test.admin, &stricter("closed")).await;
    let by_id = json!({ "change": change["id"], "impact": true, "semantic": false });
    let by_files = json!({ "files": stricter("closed"), "impact": true, "semantic": false });
    let compared = test.post("/policy/diff", &test.admin, by_id.clone()).await;
    assert_eq!(compared.json()["text"]["policies"].as_array().map(Vec::len), Some(1), "{}", compared.text());
    assert!(compared.json()["impact"]["matrix"].is_object(), "{}", compared.text());
    assert_eq!(compared.json(), test.post("/policy/diff", &test.admin, by_files).await.json());
    assert_eq!(test.post("/policy/diff", &cast.mia, by_id).await.status, 403);
    let absent = json!({ "change": "chg_00000000000000000000000000" });
    assert_eq!(test.post("/policy/diff", &test.admin, absent).await.status, 404);
}

#[tokio::test]
async fn a_tested_change_comes_into_force_whole_and_every_answer_says_which_version_decided() {
    let test = Test::new().await;
    assert_eq!(test.get("/inbox", &test.admin).await.header("ok-policy"), "1");
    let change = propose(&test, &test.admin, &stricter("closed")).await;
    assert_eq!(
        step(&test, &test.admin, &change, "promote", json!({})).await.json(),
        json!({ "error": "evals_not_run", "message": "its tests were not run yet", "evals": ["tests"] })
    );
    let evals = step(&test, &test.admin, &change, "evals", json!({})).await.json();
    assert_eq!((&evals["evals"]["run"], &evals["evals"]["passed"]), (&json!(true), &json!(true)), "{evals}");
    let promoted = step(&test, &test.admin, &change, "promote", json!({})).await;
    assert_eq!((promoted.status.as_u16(), &promoted.json()["version"]), (200, &json!(2)), "{}", promoted.text());
    let closed = test.get("/inbox", &test.admin).await;
    assert_eq!(closed.error(), "403 denied policy denied inbox.list: closed for now");
    assert_eq!(closed.header("ok-policy"), "2");
    let applied = test.get("/policy/applied", &test.admin).await.json();
    assert_eq!((&applied["change"], &applied["hash"], &applied["by"]), (&change["id"], &change["hash"], &json!("ana")));
    assert_eq!(applied["earlier"], json!([]));
    let versions = test.get("/policy/applied?limit=200", &test.admin).await.json()["earlier"].clone();
    assert_eq!((&versions[0]["version"], &versions[0]["by"], versions.get(1)), (&json!(1), &json!("ok"), None));
    assert_eq!(test.get("/policy/applied?limit=9&before=1", &test.admin).await.json()["earlier"], json!([]));
    let many = test.get("/policy/applied?limit=201", &test.admin).await;
    assert_eq!(many.error(), "422 invalid limit: must be 0 to 200");
    let seen = test.raw("GET", "/me", &[("ok-min-policy", "2")], "").await;
    assert_eq!((seen.status.as_u16(), seen.header("ok-policy")), (200, "2"));
    let unseen = test.raw("GET", "/me", &[("ok-min-policy", "3")], "").await;
    assert_eq!(unseen.error(), "409 conflict version 3 of the policies is not in force here; version 2 is");
    assert_eq!(test.raw("GET", "/me", &[("ok-min-policy", "x")], "").await.status, 400);
    assert_eq!(test.newest(3).await, ["change_promoted", "policy_applied", "denied"]);
    // What is in force survives a restart, and the built-in policies do not come back by it.
    let test = test.reopened().await;
    assert_eq!(test.get("/inbox", &test.admin).await.status, 403);
    assert!(test.verdict().ok);
}

#[tokio::test]
async fn where_there_are_two_admins_a_change_needs_the_other_one() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let change = propose(&test, &test.admin, &stricter("closed")).await;
    let review = step(&test, &test.admin, &change, "review", json!({ "verdict": "approve" })).await;
    assert_eq!(review.error(), "403 not_approver policy denied change.review: nobody reviews their own change");
    step(&test, &test.admin, &change, "evals", json!({})).await;
    let waits = step(&test, &test.admin, &change, "promote", json!({})).await;
    assert_eq!(waits.status, 202, "{}", waits.text());
    let approval = waits.json()["approval"].as_str().unwrap().to_owned();
    // Whoever decides reads what they decide about.
    let explained = test.get(&format!("/approvals/{approval}/explain"), &abe).await.json();
    let about = |what: &str| explained["about"].as_array().unwrap().iter().find(|one| one["what"] == what).cloned();
    for (what, said) in [
        ("proposed by", "ana"),
        ("adds", "extra.cedar, tests/extra.yaml"),
        ("removes", "tests/approvals.yaml"),
        ("all of it", &format!("ok changes show {}", change["id"].as_str().unwrap())),
    ] {
        assert_eq!(about(what).unwrap()["said"], said, "{explained}");
    }
    let diff = about("diff").unwrap()["said"].as_str().unwrap().to_owned();
    assert!(diff.starts_with("extra.cedar\n@@ -0,0 +1") && diff.contains("\n+@id(\"closed\")"), "{diff}");
    let decided = test.post(&format!("/approvals/{approval}"), &abe, json!({ "decision": "approve" })).await;
    assert_eq!(decided.json()["status"], "used", "{}", decided.text());
    assert_eq!(test.get("/policy/applied", &abe).await.json()["version"], 2);
    assert_eq!(test.get("/inbox", &abe).await.status, 403);

    test.clock.advance(1);
    // Reviewed by the other, the next one goes through at once: back to what was.
    let back = json!({ "version": 1, "reason": "too strict" });
    let back = test.post("/policy/proposals", &test.admin, back).await.json();
    assert_eq!(step(&test, &abe, &back, "review", json!({ "verdict": "approve" })).await.json()["state"], "approved");
    step(&test, &test.admin, &back, "evals", json!({})).await;
    assert_eq!(step(&test, &test.admin, &back, "promote", json!({})).await.json()["version"], 3);
    assert_eq!(test.get("/inbox", &abe).await.status, 200);
    let states: Vec<Value> =
        test.get("/changes", &abe).await.json().as_array().unwrap().iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["promoted", "rolled_back"]);
}

#[tokio::test]
async fn of_two_changes_made_from_one_version_the_second_is_told_what_came_between() {
    let test = Test::new().await;
    let (first, second) =
        (propose(&test, &test.admin, &stricter("one")).await, propose(&test, &test.admin, &stricter("two")).await);
    for change in [&first, &second] {
        step(&test, &test.admin, change, "evals", json!({})).await;
    }
    assert_eq!(step(&test, &test.admin, &first, "promote", json!({})).await.status, 200);
    assert_eq!(
        step(&test, &test.admin, &second, "promote", json!({})).await.error(),
        "409 conflict the change is superseded already"
    );
    let late = json!({ "files": stricter("two"), "reason": "late", "base_version": 1 });
    let late = test.post("/policy/proposals", &test.admin, late).await;
    let id = first["id"].as_str().unwrap();
    assert_eq!(
        late.error(),
        format!("409 conflict this was made from version 1; version 2 is in force, applied by ana with {id}")
    );
    // A version has one content: another of its number was another company's, or lost with a restored backup.
    let hash = test.get("/policy/applied", &test.admin).await.json()["hash"].as_str().unwrap().to_owned();
    for (base_hash, status) in [("00", 409), (hash.as_str(), 201)] {
        let based = json!({ "files": stricter("two"), "reason": "r", "base_version": 2, "base_hash": base_hash });
        let answer = test.post("/policy/proposals", &test.admin, based).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
    }
}

#[tokio::test]
async fn what_would_not_load_or_fails_its_tests_never_comes_into_force() {
    let test = Test::new().await;
    let send = |files: Value| {
        let test = &test;
        async move { test.post("/policy/proposals", &test.admin, json!({ "files": files, "reason": "r" })).await }
    };
    let broken = send(json!({ "a.cedar": "permit (principal, action, resource" })).await;
    assert_eq!((broken.status.as_u16(), &broken.json()["error"]), (422, &json!("invalid")));
    let outside = send(json!({ "../a.cedar": "" })).await.json();
    assert_eq!(outside["problems"], json!(["files: `../a.cedar` must not contain `..`, hidden or empty parts"]));
    let none = send(json!({ "tests/a.yaml": "cases: []" })).await;
    assert_eq!(none.error(), "422 invalid files: contain no policies: every call would be denied");
    let same = send(json!(Bundle::built_in().files)).await;
    assert_eq!(same.error(), "409 conflict exactly these policies are in force already");
    assert_eq!(
        send(Value::Null).await.error(),
        "422 invalid files: give the files, the version to go back to, or approvals"
    );
    let absent = test.post("/policy/proposals", &test.admin, json!({ "version": 9, "reason": "r" })).await;
    assert_eq!(absent.error(), "422 invalid version: there was no version 9");

    let mut files = stricter("closed");
    files.insert(
        "tests/extra.yaml".into(),
        "cases:\n  - {actor: zoe, op: inbox.list, expect: allow}\nactors:\n  - {id: zoe}\n".into(),
    );
    let change = propose(&test, &test.admin, &files).await;
    let evals = step(&test, &test.admin, &change, "evals", json!({})).await.json();
    let failed: Vec<&Value> =
        evals["evals"]["last"].as_array().unwrap().iter().filter(|eval| eval["status"] == "failed").collect();
    assert!(failed.iter().any(|eval| eval["case"] == "tests/extra.yaml"), "{evals}");
    let promote = step(&test, &test.admin, &change, "promote", json!({})).await.json();
    assert_eq!(promote["error"], "evals_failing");
    assert!(promote["evals"].as_array().unwrap().contains(&json!("tests/extra.yaml")));
    // And without any test, nothing is proven either.
    let files: BTreeMap<_, _> =
        stricter("closed").into_iter().filter(|(path, _)| !path.starts_with("tests/")).collect();
    let change = propose(&test, &test.admin, &files).await;
    step(&test, &test.admin, &change, "evals", json!({})).await;
    let promote = step(&test, &test.admin, &change, "promote", json!({})).await.json();
    assert_eq!((&promote["error"], &promote["evals"]), (&json!("evals_failing"), &json!(["tests"])));
    assert_eq!(test.get("/policy/applied", &test.admin).await.json()["version"], 1);
}

#[tokio::test]
async fn a_token_for_policy_proposes_and_sees_its_own_proposals_alone() {
    let test = Test::new().await;
    test.cast().await;
    let ci = test.token("sam", json!({ "scopes": ["policy"] })).await;
    let mine = propose(&test, &ci, &stricter("one")).await;
    let other = propose(&test, &test.admin, &stricter("two")).await;
    let listed = test.get("/changes", &ci).await.json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["id"], mine["id"]);
    let show = |change: &Value| format!("/changes/{}/diff", change["id"].as_str().unwrap());
    assert_eq!(test.get(&show(&mine), &ci).await.status, 200);
    assert_eq!(test.get(&show(&other), &ci).await.status, 404);
    assert_eq!(step(&test, &ci, &other, "reject", json!({})).await.status, 404);
    assert_eq!(step(&test, &ci, &mine, "promote", json!({})).await.json()["error"], "token_scope");
    assert_eq!(step(&test, &ci, &mine, "reject", json!({ "reason": "mine" })).await.json()["state"], "withdrawn");
    // Others' proposals are theirs to take back, even where the holder's role would reject them.
    let admins = test.token("ana", json!({ "scopes": ["changes", "read"] })).await;
    let theirs = propose(&test, &ci, &stricter("three")).await;
    assert_eq!(
        step(&test, &admins, &theirs, "reject", json!({})).await.error(),
        "403 not_owner policy denied change.reject: this token reaches its holder's own proposals only"
    );
}

#[tokio::test]
async fn a_repository_that_is_trusted_applies_by_its_proposal() {
    let test = Test::new().await;
    let source = json!({ "kind": "repo", "url": "https://git.example.org/policies", "ref": "main", "auto": true });
    let set = test.call("PUT", "/policy/source", &test.admin, Some(source)).await;
    assert_eq!(set.status, 200, "{}", set.text());
    let ci = test.token("ana", json!({ "scopes": ["policy"] })).await;
    let new = json!({ "files": stricter("closed"), "reason": "merge", "commit": "4f2a" });
    let proposed = test.post("/policy/proposals", &ci, new).await.json();
    assert_eq!((&proposed["state"], &proposed["version"]), (&json!("promoted"), &json!(2)), "{proposed}");
    assert_eq!(test.get("/inbox", &test.admin).await.status, 403);
    // With somebody else there to look at it, it waits for them.
    test.add("abe", "person", json!({ "role": "admin" })).await;
    let new = json!({ "version": 1, "reason": "merge", "commit": "9c1d" });
    let proposed = test.post("/policy/proposals", &ci, new).await.json();
    assert_eq!((&proposed["state"], &proposed["evals"]["passed"]), (&json!("proposed"), &json!(true)), "{proposed}");
}

#[tokio::test]
async fn a_source_names_what_is_wrong_with_it() {
    let test = Test::new().await;
    let told = |body: Value| {
        let test = &test;
        async move { test.call("PUT", "/policy/source", &test.admin, Some(body)).await.error() }
    };
    assert_eq!(told(json!({ "kind": "repo" })).await, "422 invalid url: must be the repository's https or ssh address");
    assert_eq!(
        told(json!({ "kind": "repo", "url": "https://me:secret@git.example.org/p", "path": "../p" })).await,
        "422 invalid url: must not contain a password; path: must be a folder in the repository"
    );
    assert_eq!(
        told(json!({ "kind": "workspace", "auto": true })).await,
        "422 invalid auto: only a repo proposes by itself"
    );
}

#[tokio::test]
async fn a_change_outlives_its_author_and_an_approval_for_it_does_not() {
    let test = Test::new().await;
    let abe = test.add("abe", "person", json!({ "role": "admin" })).await;
    let eve = test.add("eve", "person", json!({ "role": "admin" })).await;
    let change = propose(&test, &eve, &stricter("closed")).await;
    step(&test, &eve, &change, "evals", json!({})).await;
    let waits = step(&test, &eve, &change, "promote", json!({})).await.json();
    test.post("/actors/eve/offboard", &abe, json!({ "reason": "left" })).await;
    let approval = format!("/approvals/{}", waits["approval"].as_str().unwrap());
    let decided = test.post(&approval, &abe, json!({ "decision": "approve" })).await;
    assert_eq!(decided.error(), "409 conflict the approval is cancelled already");
    step(&test, &abe, &change, "review", json!({ "verdict": "approve" })).await;
    assert_eq!(step(&test, &abe, &change, "promote", json!({})).await.json()["version"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn while_policies_are_swapped_every_answer_is_that_of_one_version() {
    let test = std::sync::Arc::new(Test::new().await);
    let change = propose(&test, &test.admin, &stricter("closed")).await;
    step(&test, &test.admin, &change, "evals", json!({})).await;
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ask = |reads: bool| {
        let (test, done) = (test.clone(), done.clone());
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                let answer = match reads {
                    true => test.get("/inbox", &test.admin).await,
                    false => test.post("/inbox/inb_none/read", &test.admin, json!({})).await,
                };
                seen.push((answer.status.as_u16(), answer.header("ok-policy").to_owned()));
            }
            seen
        })
    };
    let askers: Vec<_> = [true, true, true, false].map(ask).into_iter().collect();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(step(&test, &test.admin, &change, "promote", json!({})).await.status, 200);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    done.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut kinds = std::collections::BTreeSet::new();
    for asker in askers {
        kinds.extend(asker.await.unwrap());
    }
    // The list is closed by version 2; a mark on an item that is not there reads the same under both.
    let expected =
        [(200, "1"), (403, "2"), (404, "1"), (404, "2")].map(|(status, version)| (status, version.to_owned()));
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_upload_is_held_to_what_a_folder_is_held_to() {
    let test = Test::new().await;
    let large = "x".repeat((1 << 20) + 1);
    let deep = format!("{}a.cedar", "a/".repeat(33));
    let many: BTreeMap<String, String> = (0..=20_000).map(|n| (format!("{n}.cedar"), String::new())).collect();
    for (files, told) in [
        (json!({ "a.cedar": large }), "files: `a.cedar` is larger than 1048576 bytes"),
        (json!({ deep: "" }), "is nested too many folders deep"),
        (json!(many), "files: more than 20000"),
    ] {
        for (path, body) in [
            ("/policy/check", json!({ "files": files })),
            ("/policy/diff", json!({ "files": files })),
            ("/policy/proposals", json!({ "files": files, "reason": "why" })),
            ("/changes", json!({ "target": "policy", "content": { "files": files }, "reason": "why" })),
        ] {
            let refused = test.post(path, &test.admin, body).await.error();
            assert!(refused.starts_with("422 invalid files: ") && refused.contains(told), "{path}: {refused}");
        }
    }
}

#[tokio::test]
async fn one_author_has_no_more_than_20_open_proposals() {
    let all = |reason: &str| format!("@id(\"all\")\npermit (principal, action, resource); // {reason}\n");
    let test = Test::with_policies(Bundle::new([("a.cedar", all("first"))])).await;
    let eva = test.add("eva", "person", json!({ "role": "admin" })).await;
    let propose = async |token: &str, number: usize| {
        let content = json!({ "files": { "a.cedar": all(&number.to_string()) } });
        test.post("/changes", token, json!({ "target": "policy", "content": content, "reason": "why" })).await
    };
    for number in 0..20 {
        assert_eq!(propose(&test.admin, number).await.status, 201);
    }
    let refused = propose(&test.admin, 20).await.error();
    assert_eq!(refused, "409 conflict ana has 20 open proposals, which is the limit: withdraw one, or have it decided");
    let broken = json!({ "target": "policy", "content": { "files": { "a.cedar": "permit (" } }, "reason": "why" });
    let early = test.post("/changes", &test.admin, broken).await.error();
    assert!(early.starts_with("409 conflict ana has 20"), "it is not even compiled: {early}");
    let again = propose(&test.admin, 3).await;
    assert_eq!(again.status, 201, "it is the same proposal: {}", again.text());
    assert_eq!(propose(&eva, 20).await.status, 201, "others have their own");
    let reject = format!("/changes/{}/reject", again.json()["id"].as_str().unwrap());
    assert_eq!(test.post(&reject, &test.admin, json!({ "reason": "not now" })).await.status, 200);
    assert_eq!(propose(&test.admin, 20).await.status, 201);
}

#[tokio::test]
async fn nobody_promotes_alone_because_they_have_made_the_other_admins_leave() {
    let test = Test::new().await;
    test.add("ben", "person", json!({ "role": "admin" })).await;
    let demoted = test.call("PATCH", "/actors/ben", &test.admin, Some(json!({ "role": "member" }))).await;
    assert_eq!(demoted.status, 200, "{}", demoted.text());
    let mut files = ok::policy::Bundle::built_in().files;
    files.insert("note.cedar".into(), "// One more file.\n".into());
    let new = json!({ "files": files, "reason": "because" });
    let id = test.post("/policy/proposals", &test.admin, new).await.json()["id"].as_str().unwrap().to_owned();
    test.post(&format!("/changes/{id}/evals"), &test.admin, json!({})).await;
    let promoted = test.post(&format!("/changes/{id}/promote"), &test.admin, json!({})).await;
    assert_eq!(promoted.json()["error"], "needs_approval", "{}", promoted.text());
    test.clock.advance(3 * 24 * 60 * 60 * 1000);
    let promoted = test.post(&format!("/changes/{id}/promote"), &test.admin, json!({})).await;
    assert_eq!(promoted.status, 200, "{}", promoted.text());
}
