//! What is known, recalled by its meaning: vectors of what was accepted, made and kept where the company says so, and of nothing
//! that a caller may not read.

use std::sync::{Arc, Mutex};

use ok::adapters::{Embedder, Unread};
use ok::policy::Bundle;
use ok::types::vector::Vector;
use serde_json::{Value, json};

use super::runs::{asked, run};
use crate::harness::{Cast, Test};

/// It knows what a few words mean, and remembers what it was sent.
struct Words {
    model: &'static str,
    sent: Mutex<Vec<String>>,
    is_away: Mutex<bool>,
    rests: Mutex<bool>,
    /// How many dimensions its vectors have besides the usual ones.
    more: Mutex<usize>,
}

/// Words of one meaning.
const MEANINGS: [&[&str]; 3] = [&["refund", "money", "paid"], &["cat", "kitten"], &["ship", "vessel", "boat"]];

impl Words {
    fn new(model: &'static str) -> Arc<Words> {
        Arc::new(Words {
            model,
            sent: Mutex::default(),
            is_away: Mutex::default(),
            rests: Mutex::default(),
            more: Mutex::default(),
        })
    }

    fn sent(&self) -> Vec<String> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }

    fn is_left_alone(&self, rests: bool) {
        *self.rests.lock().unwrap() = rests;
    }

    fn goes_away(&self, is_away: bool) {
        *self.is_away.lock().unwrap() = is_away;
    }
}

impl Embedder for Words {
    fn model(&self) -> &str {
        self.model
    }

    fn rests(&self) -> bool {
        *self.rests.lock().unwrap()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Unread> {
        if *self.is_away.lock().unwrap() {
            return Err(Unread("words: it cannot be reached".into()));
        }
        self.sent.lock().unwrap().extend(texts.iter().cloned());
        let meaning = |text: &String| {
            let has = |words: &&[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
            let mut of: Vec<f32> = MEANINGS.iter().map(|words| if has(words) { 1.0 } else { 0.0 }).collect();
            of.push(0.1);
            of.extend(vec![0.0; *self.more.lock().unwrap()]);
            Vector::of(&of).unwrap()
        };
        Ok(texts.iter().map(meaning).collect())
    }
}

async fn company(embedder: &Arc<Words>) -> (Test, Cast) {
    let test = Test::with_embedder(Bundle::built_in(), embedder.clone()).await;
    let cast = test.cast().await;
    turned_on(&test).await;
    (test, cast)
}

async fn turned_on(test: &Test) {
    let on = test.call("PATCH", "/company", &test.admin, Some(json!({ "vector_search": true }))).await;
    assert_eq!(on.status, 200, "{}", on.text());
}

async fn known(test: &Test, cast: &Cast, statement: &str, scope: Value) -> String {
    let new = json!({ "statement": statement, "topics": ["all"], "scope": scope });
    let entry = test.post("/knowledge", &cast.mia, new).await;
    assert_eq!(entry.status, 201, "{}", entry.text());
    accepted(test, cast, entry.json()["id"].as_str().unwrap()).await
}

async fn document(test: &Test, cast: &Cast, text: &str) -> String {
    let new = json!({ "name": "book.md", "content_type": "text/markdown", "text": text, "topics": ["all"] });
    let entry = test.post("/knowledge/documents", &cast.mia, new).await;
    assert_eq!(entry.status, 201, "{}", entry.text());
    accepted(test, cast, entry.json()["id"].as_str().unwrap()).await
}

async fn accepted(test: &Test, cast: &Cast, id: &str) -> String {
    let answer = test.post(&format!("/knowledge/{id}/accept"), &cast.sam, json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    id.to_owned()
}

async fn recalled(test: &Test, token: &str, question: &str) -> Value {
    let answer = test.get(&format!("/knowledge/recall?q={}", question.replace(' ', "%20")), token).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn statements(recalled: &Value) -> Vec<&str> {
    recalled["entries"].as_array().unwrap().iter().map(|one| one["statement"].as_str().unwrap()).collect()
}

async fn events(test: &Test, kind: &str) -> Vec<Value> {
    let answer = test.get(&format!("/events?type={kind}&limit=100"), &test.admin).await.json();
    answer["events"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn assert_folds(test: &Test) {
    assert!(test.verdict().ok);
    assert_eq!(ok::gate::state::refold::compare(&test.file()).unwrap(), []);
}

#[tokio::test]
async fn what_means_the_same_is_recalled_though_it_has_none_of_the_words() {
    let words = Words::new("words");
    let (test, cast) = company(&words).await;
    known(&test, &cast, "A refund takes 14 days", Value::Null).await;
    known(&test, &cast, "The cat sleeps", Value::Null).await;
    let book = document(&test, &cast, "# Boats\n\nA vessel sails.\n\n# Other\n\nNothing here.").await;
    assert!(
        statements(&recalled(&test, &cast.max, "when do customers get their money").await).first()
            != Some(&"A refund takes 14 days")
    );
    test.embedded().await.unwrap();
    let found = recalled(&test, &cast.max, "when do customers get their money").await;
    assert_eq!(statements(&found)[0], "A refund takes 14 days");
    assert!(found["entries"][0]["similarity"].as_u64().unwrap() > 90, "{found}");
    assert_eq!(found["words_alone"], Value::Null);
    let found = recalled(&test, &cast.max, "a boat").await;
    assert_eq!(found["passages"][0]["document"], book.as_str(), "{found}");
    assert!(found["passages"][0]["text"].as_str().unwrap().contains("vessel"));
    // What was sent is in the log, before what came of it; a question by who asked it, without what it said.
    let sent = events(&test, "embedding_requested").await;
    assert_eq!((sent.len(), events(&test, "knowledge_embedded").await.len()), (3, 3));
    let questions = events(&test, "question_embedded").await;
    assert_eq!(questions.len(), 3);
    assert!(questions[0].to_string().contains("max") && !questions[0].to_string().contains("boat"), "{}", questions[0]);
    // Nothing is sent twice.
    words.sent();
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), Vec::<String>::new());
    assert_folds(&test);
    let test = test.reopened().await;
    let found = recalled(&test, &cast.max, "when do customers get their money").await;
    assert_eq!(statements(&found)[0], "A refund takes 14 days");
}

#[tokio::test]
async fn nothing_is_sent_unless_the_company_says_so_nor_what_is_not_accepted_or_concerns_one_person() {
    let words = Words::new("words");
    let test = Test::with_embedder(Bundle::built_in(), words.clone()).await;
    let cast = test.cast().await;
    known(&test, &cast, "A refund takes 14 days", Value::Null).await;
    test.embedded().await.unwrap();
    recalled(&test, &cast.max, "money").await;
    assert_eq!((words.sent(), events(&test, "embedding_requested").await.len()), (Vec::new(), 0));
    turned_on(&test).await;
    known(&test, &cast, "mia likes cats", json!("mia")).await;
    let open = test.post("/knowledge", &cast.mia, json!({ "statement": "Ships are slow", "topics": ["all"] })).await;
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), ["A refund takes 14 days"]);
    // While everything stands still nothing is sent, and then what had to wait.
    known(&test, &cast, "Boats are slow", Value::Null).await;
    let kill = json!({ "scope": "global", "reason": "a drill" });
    assert_eq!(test.post("/kill", &test.admin, kill).await.status, 200);
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), Vec::<String>::new());
    let release = json!({ "scope": "global", "off": true, "reason": "the drill is over" });
    assert_eq!(test.post("/kill", &test.admin, release).await.status, 200);
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), ["Boats are slow"]);
    // Retracted, it is not asked about any more.
    let id = accepted(&test, &cast, open.json()["id"].as_str().unwrap()).await;
    test.post(&format!("/knowledge/{id}/retract"), &cast.sam, json!({})).await;
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), Vec::<String>::new());
    assert_folds(&test);
}

#[tokio::test]
async fn what_a_caller_may_not_read_has_no_part_and_a_policy_keeps_texts_and_questions_here() {
    let words = Words::new("words");
    let (test, cast) = company(&words).await;
    known(&test, &cast, "The refund of ops is secret", json!("team:ops")).await;
    test.embedded().await.unwrap();
    assert_eq!(statements(&recalled(&test, &cast.mia, "money").await), ["The refund of ops is secret"]);
    assert_eq!(recalled(&test, &cast.max, "money").await["entries"], json!([]));
    let mut policies = Bundle::built_in();
    let own = r#"@id("teams-keep-theirs") @reason("stays here") forbid (principal, action == Ok::Action::"knowledge.embed", resource is Ok::Knowledge) when { resource has team };
        @id("max-asks-here") @reason("stays here") forbid (principal == Ok::Actor::"max", action == Ok::Action::"knowledge.embed", resource is Ok::Company);"#;
    policies.files.insert("own.cedar".into(), own.into());
    let words = Words::new("words");
    let test = Test::with_embedder(policies, words.clone()).await;
    let cast = test.cast().await;
    turned_on(&test).await;
    known(&test, &cast, "The refund of ops is secret", json!("team:ops")).await;
    known(&test, &cast, "A ship is slow", Value::Null).await;
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), ["A ship is slow"]);
    let found = recalled(&test, &cast.max, "a slow boat").await;
    assert_eq!(found["words_alone"], "the policies, or a kill switch, do not let the question be sent to words");
    assert_eq!((statements(&found), words.sent()), (vec!["A ship is slow"], Vec::new()));
}

#[tokio::test]
async fn erasing_a_text_erases_its_vectors() {
    let words = Words::new("words");
    let (test, cast) = company(&words).await;
    let book = document(&test, &cast, &"A vessel sails the sea, day after day after day. ".repeat(2_000)).await;
    test.embedded().await.unwrap();
    let kept = events(&test, "content_kept").await;
    let of = |part: &str| {
        let is_part = |event: &&Value| {
            event["event"]["id"] == book.as_str()
                && event["event"]["part"].as_str().is_some_and(|of| of.starts_with(part))
        };
        kept.iter().filter(is_part).map(|event| event["seq"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let (text, vectors) = (of("document"), of("vectors"));
    assert!(text.len() == 1 && vectors.len() > 2, "{text:?} {vectors:?}");
    let erased = test.post("/context/forget", &test.admin, json!({ "events": text, "reason": "asked to" })).await;
    assert_eq!(
        (erased.status.as_u16(), erased.json()["forgotten"].as_u64().unwrap() as usize),
        (200, 1 + vectors.len()),
        "{}",
        erased.text()
    );
    for seq in vectors {
        let event = test.get(&format!("/events/{seq}"), &test.admin).await.json();
        assert!(event["event"].is_null(), "{event}");
    }
    assert_eq!(recalled(&test, &cast.max, "a boat").await["passages"], json!([]));
    test.embedded().await.unwrap();
    assert_folds(&test);
}

#[tokio::test]
async fn where_nobody_makes_vectors_words_alone_are_looked_for_and_another_model_makes_its_own() {
    let words = Words::new("words");
    let (test, cast) = company(&words).await;
    known(&test, &cast, "A refund takes 14 days", Value::Null).await;
    words.is_left_alone(true);
    assert_eq!(test.embedded().await, Err("words does not answer, and is left alone for now".into()));
    let found = recalled(&test, &cast.max, "14 days").await;
    assert_eq!(found["words_alone"], "words cannot be asked at the moment");
    for nothing in ["embedding_requested", "question_embedded"] {
        assert_eq!(events(&test, nothing).await.len(), 0, "what does not leave is not recorded as leaving");
    }
    words.is_left_alone(false);
    words.goes_away(true);
    assert_eq!(test.embedded().await, Err("words: it cannot be reached".into()));
    let found = recalled(&test, &cast.max, "14 days").await;
    assert_eq!(
        (statements(&found), &found["words_alone"]),
        (vec!["A refund takes 14 days"], &json!("words cannot be asked at the moment"))
    );
    assert_eq!(events(&test, "question_embedded").await.len(), 1, "that it leaves is recorded before it does");
    words.goes_away(false);
    test.embedded().await.unwrap();
    *words.more.lock().unwrap() = 1;
    let found = recalled(&test, &cast.max, "money").await;
    assert!(found["words_alone"].as_str().unwrap().contains("embeddings do not have 5 dimensions"), "{found}");
    *words.more.lock().unwrap() = 0;
    let other = Words::new("other");
    let test = test.embedding_by(Some(other.clone())).await;
    assert_eq!(
        recalled(&test, &cast.max, "money").await["entries"],
        json!([]),
        "vectors of two models are not compared"
    );
    test.embedded().await.unwrap();
    other.sent();
    assert_eq!(statements(&recalled(&test, &cast.max, "money").await), ["A refund takes 14 days"]);
    let test = test.embedding_by(Some(words.clone())).await;
    words.sent();
    test.embedded().await.unwrap();
    assert_eq!(words.sent(), Vec::<String>::new(), "what it has made is still there");
    assert_eq!(test.get("/company", &test.admin).await.json()["vector_model"], "words");
    let test = test.embedding_by(None).await;
    let found = recalled(&test, &cast.max, "money").await;
    assert_eq!(found["entries"], json!([]));
    assert!(found["words_alone"].as_str().unwrap().starts_with("this server has no embedding model"), "{found}");
    assert_eq!(test.get("/company", &test.admin).await.json()["vector_model"], Value::Null);
    assert_folds(&test);
}

#[tokio::test]
async fn an_agent_s_question_is_a_step_and_does_not_leave_once_its_run_has_read_what_is_personal() {
    let words = Words::new("words");
    let (test, cast) = company(&words).await;
    known(&test, &cast, "A refund takes 14 days", Value::Null).await;
    known(&test, &cast, "mia wants her money on Fridays", json!("mia")).await;
    test.embedded().await.unwrap();
    words.sent();
    let steps = json!([
        { "call": { "tool": "knowledge.recall", "with": { "q": "paid" }, "expect": "allow" } },
        { "call": { "tool": "knowledge.recall", "with": { "q": "Fridays" }, "expect": "allow" } },
        { "call": { "tool": "knowledge.recall", "with": { "q": "vessel" }, "expect": "allow" } },
    ]);
    let id = asked(&test, &cast.mia, steps).await;
    test.go_on().await;
    let run = run(&test, &id).await;
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(words.sent(), ["paid", "Fridays"]);
    assert!(run["labels"].as_array().unwrap().contains(&json!("personal")), "{run}");
}
