//! Everybody decides at once, each over a connection of their own.

use serde_json::json;

use super::{Wire, status};

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_connections_decide_at_once_and_one_effect_comes_of_it() {
    let wire = Wire::new(|limits| limits.connections = 300).await;
    let test = &wire.test;
    let cast = test.cast().await;
    let new = json!({ "id": "new", "kind": "agent", "team": "team:ops" });
    let approval = test.post("/actors", &cast.lea, new).await.json()["approval"].as_str().unwrap().to_owned();
    let body = json!({ "decision": "approve" }).to_string();
    let head = wire.head(&format!("POST /api/approvals/{approval}"));
    let request = format!("{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut lines = Vec::new();
    for _ in 0..200 {
        lines.push(wire.connect().await);
    }
    let asked = lines.into_iter().map(|mut line| {
        let request = request.clone();
        tokio::spawn(async move { status(&line.ask(&request).await).to_owned() })
    });
    let mut answers = Vec::new();
    for answer in asked.collect::<Vec<_>>() {
        answers.push(answer.await.unwrap());
    }
    answers.sort();
    assert_eq!((answers[0].as_str(), &answers[1..]), ("200", vec!["409".to_owned(); 199].as_slice()));
    let added = test.get("/events?type=actor_added&since=0&limit=1000", &test.admin).await.json();
    let new = added["events"].as_array().unwrap().iter().filter(|event| event["event"]["id"] == "new").count();
    assert_eq!(new, 1);
}
