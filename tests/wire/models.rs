//! Models over real sockets, asked in each provider's own form.

use std::sync::{Arc, Mutex};

use ok::adapters::{Embedder as _, Unread};
use ok::background::models::{Chat as _, Embedding, Models, Setup, Usual};
use ok::types::chat::{Answer, Failed, Message, Offered, Prompt, Wanted};
use ok::types::entropy::SystemEntropy;
use ok::types::models::ProviderKind;
use ok::types::vector::Vector;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::harness::fake::{Fake, Got, Reply};

pub fn models(fake: &Fake) -> Models {
    let key = |name: &str| (name == "FAKE_KEY").then(|| Zeroizing::new("sk-right".to_owned()));
    Models::new(Setup::of_file(&fake.config(), &Usual::default(), &key).unwrap(), Arc::new(SystemEntropy)).unwrap()
}

fn prompt() -> Prompt {
    let call =
        Wanted { id: "c1".into(), tool: "look".into(), arguments: json!({ "at": "sky" }), signatures: Vec::new() };
    Prompt {
        model: "m".into(),
        system: "you look".into(),
        messages: vec![
            Message::Asked("what is there?".into()),
            Message::Said { text: "I look".into(), calls: vec![call] },
            Message::Came { call: "c1".into(), tool: "look".into(), text: "a cloud".into() },
        ],
        tools: vec![Offered { name: "look".into(), description: "looks".into(), schema: json!({ "type": "object" }) }],
        most_output: 500,
        most_ms: 60_000,
        temperature: Some(0.5),
    }
}

async fn ask(kind: ProviderKind, replies: Vec<Reply>) -> (Result<Answer, Failed>, Vec<Got>) {
    let fake = Fake::new(kind, replies);
    let heard = Mutex::new(Vec::new());
    let answer = models(&fake).ask(&prompt(), &|text| heard.lock().unwrap().push(text.to_owned())).await;
    let heard = heard.into_inner().unwrap();
    if let Ok(answer) = &answer {
        let pieces = if answer.text.is_empty() { 0 } else { 2 };
        assert_eq!((heard.concat(), heard.len()), (answer.text.clone(), pieces), "{kind}: it is heard as it comes");
    }
    (answer, fake.got())
}

#[tokio::test]
async fn each_provider_is_told_everything_in_its_own_form_and_its_answer_is_heard_whole() {
    for kind in ProviderKind::ALL {
        let (answer, got) = ask(*kind, vec![Reply::Say("ein Wölkchen ☁")]).await;
        let answer = answer.unwrap_or_else(|failed| panic!("{kind}: {failed:?}"));
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("ein Wölkchen ☁", 0), "{kind}");
        assert_eq!((answer.input_tokens, answer.output_tokens), (12, 7), "{kind}");
        let sent = got[0].body.to_string();
        for part in ["you look", "what is there?", "I look", "sky", "a cloud", "looks", "500", "0.5"] {
            assert!(sent.contains(part), "{kind} is not told {part}: {sent}");
        }
        let (line, header) = match kind {
            ProviderKind::Anthropic => ("POST /messages HTTP/1.1", "x-api-key"),
            ProviderKind::OpenAi => ("POST /chat/completions HTTP/1.1", "authorization"),
            ProviderKind::Gemini => ("POST /models/m:streamGenerateContent?alt=sse HTTP/1.1", "x-goog-api-key"),
            ProviderKind::Ollama => ("POST /api/chat HTTP/1.1", "host"),
        };
        assert_eq!(got[0].line, line);
        let key = &got[0].headers[header];
        assert!(key.ends_with("sk-right") || *kind == ProviderKind::Ollama, "{kind}: {key}");
        assert!(!got[0].line.contains("sk-right"), "a key is in no address");
    }
}

#[tokio::test]
async fn calls_wanted_at_once_are_all_heard() {
    for kind in ProviderKind::ALL {
        let calls = Reply::Call(&[("look", r#"{"at":"sky"}"#), ("look", r#"{"at":"sea"}"#), ("rest", "{}")]);
        let answer = ask(*kind, vec![calls]).await.0.unwrap();
        let heard: Vec<_> = answer.calls.iter().map(|call| (call.tool.as_str(), call.arguments.clone())).collect();
        let wanted = [("look", json!({ "at": "sky" })), ("look", json!({ "at": "sea" })), ("rest", json!({}))];
        assert_eq!(heard, wanted, "{kind}");
        let ids: std::collections::BTreeSet<_> = answer.calls.iter().map(|call| &call.id).collect();
        assert_eq!(ids.len(), 3, "{kind}: each answer finds its call");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_kept_as_they_came() {
    for kind in [ProviderKind::Anthropic, ProviderKind::OpenAi] {
        let answer = ask(kind, vec![Reply::Call(&[("look", r#"{"at": sky"#)])]).await.0.unwrap();
        assert_eq!(answer.calls[0].arguments, Value::from(r#"{"at": sky"#), "{kind}");
    }
}

#[tokio::test]
async fn who_is_busy_is_asked_again_and_who_refuses_is_not() {
    for kind in ProviderKind::ALL {
        let busy = Reply::Status(429, "retry-after: 0\r\n", r#"{"error":{"message":"too many"}}"#);
        let away = Reply::Status(503, "", "");
        let (answer, got) = ask(*kind, vec![busy.clone(), away, Reply::Say("now")]).await;
        assert_eq!((answer.unwrap().text.as_str(), got.len()), ("now", 3), "{kind}");
        let (answer, got) = ask(*kind, vec![busy]).await;
        assert_eq!(answer, Err(Failed::Refused("it answered 429: too many (asked 3 times)".into())), "{kind}");
        assert_eq!(got.len(), 3);
        let patient = Reply::Status(429, "retry-after: 3600\r\n", "");
        let (answer, got) = ask(*kind, vec![patient]).await;
        let long = "it answered 429, and wants to be left alone for 3600 s";
        assert_eq!((answer, got.len()), (Err(Failed::Refused(long.into())), 1), "{kind}");
        let dated = Reply::Status(429, "retry-after: Thu, 31 Dec 2099 23:59:59 GMT\r\n", "");
        let (answer, got) = ask(*kind, vec![dated]).await;
        let Err(Failed::Refused(why)) = answer else { panic!("{kind}: {answer:?}") };
        assert!(why.contains("wants to be left alone for") && got.len() == 1, "{kind}: {why}");
        let wrong = Reply::Status(400, "", r#"{"error":{"message":"no such key: sk-right"}}"#);
        let (answer, got) = ask(*kind, vec![wrong]).await;
        let reason = "it answered 400: no such key: [key]";
        assert_eq!((answer, got.len()), (Err(Failed::Refused(reason.into())), 1), "{kind}");
        let elsewhere = Reply::Status(307, "location: http://127.0.0.1:1/\r\n", "");
        let (answer, got) = ask(*kind, vec![elsewhere]).await;
        let reason = "it redirects (307), which is never followed";
        assert_eq!((answer, got.len()), (Err(Failed::Refused(reason.into())), 1), "{kind}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_never_counts_and_one_without_end_is_ended() {
    for kind in ProviderKind::ALL {
        let (answer, got) = ask(*kind, vec![Reply::Cut("half of what")]).await;
        assert_eq!(answer, Err(Failed::Unknown("its answer broke off".into())), "{kind}");
        assert_eq!(got.len(), 1, "it may have cost something, so it is not simply asked again");
        let (answer, _) = ask(*kind, vec![Reply::Limited("half of what")]).await;
        let Err(Failed::Useless { why, .. }) = answer else { panic!("{kind}: {answer:?}") };
        assert!(why.starts_with("it needs more than"), "{kind}: {why}");
        let (answer, _) = ask(*kind, vec![Reply::Endless]).await;
        assert_eq!(answer, Err(Failed::Unknown("its answer has more than 65536 bytes".into())), "{kind}");
    }
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_not_waited_for() {
    let fake = Fake::new(ProviderKind::Ollama, vec![Reply::Hang]);
    let config = fake.config().replace("timeout_seconds: 30", "timeout_seconds: 1");
    let models = Models::new(Setup::of_file(&config, &Usual::default(), &|_| None).unwrap(), Arc::new(SystemEntropy));
    let answer = models.unwrap().ask(&prompt(), &|_| {}).await;
    assert_eq!((answer, fake.got().len()), (Err(Failed::Unknown("no answer within 1 s".into())), 1));
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_said_to_be_away() {
    let mut fake = Fake::new(ProviderKind::OpenAi, vec![Reply::Say("hm")]);
    fake.url = "http://127.0.0.1:1/".into();
    let Err(Failed::Refused(why)) = models(&fake).ask(&prompt(), &|_| {}).await else { panic!("nobody is there") };
    assert_eq!(why, "it cannot be reached: Connection refused (os error 111) (asked 3 times)");
}

/// What a provider makes of two texts.
async fn embedded(kind: ProviderKind, status: u16, body: Value) -> (Result<Vec<Vector>, Unread>, Vec<Got>) {
    let fake = Fake::new(kind, vec![Reply::Status(status, "", Box::leak(body.to_string().into_boxed_str()))]);
    let config = format!("{}embeddings: {{provider: fake, name: vec-1, dimensions: 3}}\n", fake.config());
    let key = |name: &str| (name == "FAKE_KEY").then(|| Zeroizing::new("sk-right".to_owned()));
    let setup = Setup::of_file(&config, &Usual::default(), &key).unwrap();
    let embedding = Embedding::of(Models::new(setup, Arc::new(SystemEntropy)).unwrap()).unwrap();
    assert_eq!(embedding.model(), "fake/vec-1@3");
    let asked = tokio::task::spawn_blocking(move || embedding.embed(&["a cat".to_owned(), "a ship".to_owned()]));
    (asked.await.unwrap(), fake.got())
}

/// Two vectors in the form of a provider.
fn form(kind: ProviderKind, [one, two]: [Value; 2]) -> Value {
    match kind {
        ProviderKind::Gemini => json!({ "embeddings": [{ "values": one }, { "values": two }] }),
        ProviderKind::Ollama => json!({ "model": "vec-1", "embeddings": [one, two] }),
        // In another order than they were asked about.
        _ => json!({
            "object": "list", "model": "vec-1", "usage": { "prompt_tokens": 4, "total_tokens": 4 },
            "data": [
                { "object": "embedding", "index": 1, "embedding": two },
                { "object": "embedding", "index": 0, "embedding": one },
            ],
        }),
    }
}

#[tokio::test]
async fn each_provider_that_makes_vectors_is_asked_in_its_own_form() {
    let [one, two] = [[0.5, 0.0, 0.0], [0.0, 0.25, 0.5]];
    for kind in ProviderKind::ALL.iter().filter(|kind| kind.embeds()) {
        let (made, got) = embedded(*kind, 200, form(*kind, [json!(one), json!(two)])).await;
        assert_eq!(made, Ok([one, two].iter().map(|one| Vector::of(one).unwrap()).collect()), "{kind}");
        let sent = got[0].body.to_string();
        assert!(["a cat", "a ship"].iter().all(|text| sent.contains(text)), "{kind}: {sent}");
        assert!(got[0].line.contains("embed") || got[0].line.contains("Embed"), "{kind}: {}", got[0].line);
    }
}

#[tokio::test]
async fn what_is_no_vector_for_each_text_is_not_taken_for_one() {
    let kind = ProviderKind::Ollama;
    let nothing = "fake/vec-1@3: its answer does not contain a vector for each text";
    for wrong in [
        json!({ "model": "vec-1", "embeddings": [[1.0, 2.0, 3.0]] }),
        form(kind, [json!([0.0, 0.0]), json!([1.0, 0.0])]),
        form(kind, [json!([1.0]), json!([1.0, 0.0])]),
    ] {
        assert_eq!(embedded(kind, 200, wrong.clone()).await.0, Err(Unread(nothing.into())), "{wrong}");
    }
    let (long, _) = embedded(kind, 200, form(kind, [json!(vec![0.5; 200_000]), json!([0.5])])).await;
    assert_eq!(long, Err(Unread("fake/vec-1@3: its answer has more than 327680 bytes".into())));
    let (refused, _) = embedded(kind, 400, json!({ "error": "no such model" })).await;
    assert_eq!(refused, Err(Unread("fake/vec-1@3: it answered 400: no such model".into())));
}

#[tokio::test]
async fn who_makes_vectors_and_is_away_is_left_alone_for_a_while() {
    let fake = Fake::new(ProviderKind::Ollama, vec![Reply::Status(503, "", "")]);
    let config = format!("{}embeddings: {{provider: fake, name: vec-1}}\n", fake.config());
    let setup = Setup::of_file(&config, &Usual::default(), &|_| None).unwrap();
    let embedding = Embedding::of(Models::new(setup, Arc::new(SystemEntropy)).unwrap()).unwrap();
    let ask = move || [(); 2].map(|()| embedding.embed(&["a cat".to_owned()]).unwrap_err().0);
    let [first, second] = tokio::task::spawn_blocking(ask).await.unwrap();
    assert_eq!(first, "fake/vec-1: it answered 503");
    assert_eq!(second, "fake/vec-1: it answered 503; it is left alone for up to 30 s");
    assert_eq!(fake.got().len(), 1);
}
