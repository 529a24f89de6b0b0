//! Mail that agents send: what the server is given, who looks at it before, and what is known of it after.

use std::sync::Arc;

use ok::background::mail::Mail;
use ok::background::models::Setup;
use ok::background::tools::Elsewhere;
use ok::policy::Bundle;
use ok::types::mail::Address;
use serde_json::{Value, json};

use super::runs::{accounted_for, ask, asked, go_on, run};
use super::thinking::steps;
use crate::harness::mailbox::{Mailbox, Takes};
use crate::harness::{Cast, Test};

fn read(url: &str) -> Result<Mail, String> {
    Mail::read(url, Address::try_from("hello@ok.example".to_owned()).unwrap())
}

async fn company(policy: &str) -> (Test, Cast, Mailbox) {
    let mut policies = Bundle::built_in();
    if !policy.is_empty() {
        policies.files.insert("more.cedar".into(), policy.into());
    }
    let mailbox = Mailbox::new();
    let mail = Some(read(&format!("smtp://{}", mailbox.address)).unwrap());
    let test = Test::with_tools(Setup::default(), policies, Arc::new(Elsewhere { mail, web: None })).await;
    let cast = test.cast().await;
    (test, cast, mailbox)
}

const TEXT: &str = "Hello\n.\nQUIT";

fn letter(to: &str, subject: &str) -> Value {
    json!({ "call": { "tool": "mail.send", "with": { "to": to, "subject": subject, "text": TEXT } } })
}

/// Why a letter is refused, with the plan or when it is called.
async fn refused(test: &Test, cast: &Cast, letter: Value) -> String {
    let answer = ask(test, &cast.mia, json!([letter])).await;
    match answer.json()["run"].as_str() {
        Some(id) => {
            go_on(test).await;
            steps(&run(test, id).await)[0].clone()
        }
        None => answer.text(),
    }
}

#[tokio::test]
async fn the_server_is_given_the_message_as_it_was_decided_and_the_run_goes_on() {
    let (test, cast, mailbox) = company("").await;
    let plan = json!([letter("eva@example.com", "Straße 7"), { "say": "sent" }]);
    let id = asked(&test, &cast.mia, plan).await;
    let sent = run(&test, &id).await;
    assert_eq!((&sent["status"], &sent["labels"]), (&json!("completed"), &json!([])), "{sent}");
    let taken = mailbox.taken();
    let [message] = &taken[..] else { panic!("{taken:?}") };
    let known = sent["trace"][0]["output"]["message_id"].as_str().unwrap();
    for part in
        ["RCPT TO:<eva@example.com>", "From: hello@ok.example", "To: eva@example.com", known, "Subject: =?utf-8?"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let body = message.split_once("\n\n").unwrap().1;
    assert_eq!(body, "Hello\n..\nQUIT", "a dot on a line ends nothing");
    accounted_for(&test);
}

#[tokio::test]
async fn what_was_not_taken_has_failed_and_what_nobody_knows_is_asked() {
    let (test, cast, mailbox) = company("").await;
    for (takes, why) in
        [(Takes::NotTheRecipient, "no such user"), (Takes::NotTheText, "spam"), (Takes::Nothing, "incomplete")]
    {
        mailbox.goes(takes);
        let id = asked(&test, &cast.mia, json!([letter("eva@example.com", "Hello"), { "say": "not sent" }])).await;
        let done = run(&test, &id).await;
        let (step, output) = (steps(&done)[0].clone(), &done["output"]);
        assert!(step.starts_with("tool mail.send failed") && step.contains(why), "{takes:?}: {step}");
        assert_eq!(output, "not sent");
    }
    mailbox.goes(Takes::Silently);
    let id = asked(&test, &cast.mia, json!([letter("eva@example.com", "Hello"), { "say": "so" }])).await;
    let waits = run(&test, &id).await;
    assert_eq!(waits["waiting"]["kind"], "outcome", "{waits}");
    let question = waits["question"].as_str().unwrap();
    assert!(question.starts_with("Did mail.send take effect?") && question.contains("(its Message-ID is <"), "{waits}");
    assert!(question.contains("It was called with subject `"), "which one it was: {waits}");
    let known =
        mailbox.taken()[0].lines().find_map(|line| Some(line.strip_prefix("Message-ID: ")?.to_owned())).unwrap();
    assert!(question.contains(&known), "{known}: {waits}");
    // RFC 2045: without this, what follows of MIME need not be understood.
    assert!(mailbox.taken()[0].lines().any(|line| line == "MIME-Version: 1.0"), "{}", mailbox.taken()[0]);
    assert_eq!(mailbox.taken().len(), 1, "it is not sent again by itself");
    let answered = test.post(&format!("/runs/{id}/answer"), &cast.mia, json!({ "text": "yes" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    go_on(&test).await;
    assert_eq!((&run(&test, &id).await["status"], mailbox.taken().len()), (&json!("completed"), 1));
    accounted_for(&test);
}

#[tokio::test]
async fn mail_of_an_assisting_agent_is_sent_once_its_lead_has_seen_it() {
    let (test, cast, mailbox) = company("").await;
    let lowered = json!({ "tier": "assist", "reason": "new here" });
    assert_eq!(test.post("/actors/bot/trust", &test.admin, lowered).await.status, 200);
    let id = asked(&test, &cast.mia, json!([letter("eva@example.com", "Hello"), { "say": "sent" }])).await;
    let waits = run(&test, &id).await;
    assert_eq!((&waits["status"], mailbox.taken().len()), (&json!("waiting_approval"), 0), "{waits}");
    let approval = waits["waiting"]["approval"].as_str().unwrap();
    let shown = test.get(&format!("/approvals/{approval}"), &cast.lea).await.json();
    assert_eq!(shown["reason"], "what an assisting agent lets out of the company, a lead looks at first");
    assert_eq!(shown["args"]["text"], TEXT, "whoever decides sees all of it");
    assert_eq!(shown["summary"], "bot sends mail to eva@example.com: «Hello»");
    // What can be erased is in no sentence that is kept for good.
    let outside = test.get(&format!("/approvals/{approval}"), &test.token("aud", json!({})).await).await.json();
    assert_eq!(outside["summary"], "bot sends mail", "{outside}");
    let requested = test.get("/events?type=approval_requested", &test.admin).await.text();
    assert!(!requested.contains("eva@example.com"), "{requested}");
    // A switch that stops the tool freezes what waits to call it.
    let switch =
        async |off: bool| test.post("/kill", &test.admin, json!({ "scope": "tool:mail.send", "off": off })).await;
    let decide =
        async || test.post(&format!("/approvals/{approval}"), &cast.lea, json!({ "decision": "approve" })).await;
    switch(false).await;
    assert_eq!(decide().await.error(), "409 conflict the kill switch tool:mail.send freezes it");
    let told = test.get(&format!("/approvals/{approval}/explain"), &cast.lea).await.json();
    assert!(told["what_happens"]["on_approve"].as_str().unwrap().contains("tool:mail.send freezes it"), "{told}");
    switch(true).await;
    let decided = decide().await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    let late = test.post(&format!("/approvals/{approval}"), &cast.lea, json!({ "decision": "reject" })).await;
    assert!(late.error().starts_with("409 conflict the approval is "), "the run goes on: {}", late.text());
    let next = format!("the server makes the call as the next step of {id}, which shows its outcome");
    assert_eq!(decided.json()["result"], json!({ "next": next }));
    go_on(&test).await;
    assert_eq!((&run(&test, &id).await["status"], mailbox.taken().len()), (&json!("completed"), 1));
    accounted_for(&test);
}

#[tokio::test]
async fn policies_look_at_whom_mail_goes_to_and_at_how_much_has_gone() {
    let policy = r#"
@id("mail-to-customers") @reason("mail goes to example.com only")
forbid (principal is Ok::Actor, action == Ok::Action::"mail.send", resource)
unless { context.input.to like "*@example.com" };
@id("two-a-day") @reason("two messages a day")
forbid (principal is Ok::Actor, action == Ok::Action::"mail.send", resource)
when { context.hist["mail.send"].day >= 2 };"#;
    let (test, cast, mailbox) = company(policy).await;
    let to = |address: &str| letter(address, "Hello");
    let plan = json!([to("eva@example.com.evil.org"), to("eva@example.com"), to("max@example.com"), to("kai@example.com"), { "say": "so" }]);
    let id = asked(&test, &cast.mia, plan).await;
    assert_eq!(
        steps(&run(&test, &id).await)[..4],
        [
            "tool mail.send denied policy denied mail.send: mail goes to example.com only",
            "tool mail.send completed",
            "tool mail.send completed",
            "tool mail.send denied policy denied mail.send: two messages a day"
        ]
    );
    assert_eq!(mailbox.taken().len(), 2);
    accounted_for(&test);
}

#[tokio::test]
async fn addresses_and_subjects_that_are_none_are_refused_before_anything_is_sent() {
    let (test, cast, mailbox) = company("").await;
    let (long, no_label) = (format!("{}@example.com", "a".repeat(65)), "eva@-example.com");
    let addresses = ["eva", "eva@", "@example.com", "Eva <eva@example.com>", "eva@example.com\r\nBcc: max@example.com"];
    let more = ["eva@EXAMPLE.com", "a@b@example.com", "eva@example..com", "évа@example.com", &long, no_label];
    for address in addresses.into_iter().chain(more) {
        let failed = refused(&test, &cast, letter(address, "Hello")).await;
        assert!(failed.contains("is no mail address"), "{address}: {failed}");
    }
    for subject in ["", "one\r\nBcc: max@example.com", "\u{7}", &"s".repeat(201)] {
        let failed = refused(&test, &cast, letter("eva@example.com", subject)).await;
        assert!(failed.contains("one line of 1 to 200 characters"), "{subject:?}: {failed}");
    }
    assert_eq!(mailbox.taken(), [""; 0]);
}

#[tokio::test]
async fn a_server_elsewhere_is_spoken_to_over_tls_only_and_its_password_is_not_told() {
    for wrong in ["mail.example.com", "http://mail.example.com", "smtp://", "smtps://user@mail.example.com"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    for wrong in
        ["smtps://user:sesame@mail.example.com/x?tls=none", "imap://user:sesame@h", "smtp://user:sesame@h:999999"]
    {
        let why = read(wrong).unwrap_err();
        assert!(!why.contains("sesame"), "{why}");
    }
    let known = read("smtps://user:sesame@mail.example.com").unwrap();
    assert_eq!(format!("{known:?}"), "mail.example.com:465");
    // By its name it could be anywhere: without STARTTLS nothing is said to it.
    let mailbox = Mailbox::new();
    let named = read(&format!("smtp://ip6-localhost.example:{}", mailbox.address.port())).unwrap();
    assert!(named.check().await.is_err());
    let here = read(&format!("smtp://{}", mailbox.address)).unwrap();
    let told = format!("{} takes mail from hello@ok.example, without TLS, on this machine", mailbox.address);
    assert_eq!(here.check().await, Ok(told));
}
