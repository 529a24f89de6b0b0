//! Who hangs keeps nobody else waiting: how many messages are under way at once, and to whom.

use ok::types::time::SECOND;
use serde_json::{Value, json};

use super::{create, due, settle};
use crate::harness::Test;

/// Webhooks of these addresses, each with a message that is due.
async fn told(urls: &[String]) -> Test {
    let test = Test::new().await;
    for url in urls {
        let (id, _) = create(&test, &test.admin, json!({ "url": url, "events": ["knowledge.indexed"] })).await;
        test.post(&format!("/v1/webhooks/{id}/test"), &test.admin, json!({})).await;
    }
    test
}

fn urls(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn one_server_is_sent_four_messages_at_once() {
    let mut all: Vec<String> = (0..6).map(|number| format!("https://slow.example.com/{number}")).collect();
    all.push("https://other.example.com/".into());
    let test = told(&all).await;
    let messages = due(&test).await;
    let slow = urls(&messages).into_iter().filter(|url| url.starts_with("https://slow.")).count();
    assert_eq!((slow, messages.len()), (4, 5), "{:?}", urls(&messages));
}

#[tokio::test]
async fn those_that_fail_take_four_places_and_leave_the_others() {
    let failing: Vec<String> = (0..6).map(|number| format!("https://fail{number}.example.com/")).collect();
    let test = told(&failing).await;
    for message in due(&test).await {
        settle(&test, &message, None).await;
    }
    let (good, _) =
        create(&test, &test.admin, json!({ "url": "https://good.example.com/", "events": ["knowledge.indexed"] }))
            .await;
    test.clock.advance(60 * SECOND);
    test.post(&format!("/v1/webhooks/{good}/test"), &test.admin, json!({})).await;
    let messages = due(&test).await;
    assert_eq!(messages.len(), 5);
    assert!(urls(&messages).contains(&"https://good.example.com/"), "{:?}", urls(&messages));
}
