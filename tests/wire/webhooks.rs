//! Webhooks as a receiver has them: the real server sends, over real sockets.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::api::webhooks::hmac;
use crate::cli::{Place, Server};

/// Only what hangs takes so long.
const FOREVER: Duration = Duration::from_secs(30);

/// A request as it came.
#[derive(Clone)]
struct Got {
    headers: BTreeMap<String, String>,
    body: String,
}

/// Somebody outside, who answers the first request with the first of the answers, and so on; an empty one is none at all.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    fn new(answers: &[&str]) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let (kept, answers) = (Arc::clone(&got), answers.iter().map(ToString::to_string).collect::<Vec<_>>());
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut headers = BTreeMap::new();
                loop {
                    let mut line = String::new();
                    stream.read_line(&mut line).unwrap();
                    if line.trim_end().is_empty() {
                        break;
                    }
                    if let Some((name, value)) = line.trim_end().split_once(": ") {
                        headers.insert(name.to_ascii_lowercase(), value.to_owned());
                    }
                }
                let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let answer = answers.get(number).or(answers.last()).unwrap();
                kept.lock().unwrap().push(Got { headers, body: String::from_utf8(body).unwrap() });
                if answer.is_empty() {
                    silent.push(stream);
                } else {
                    let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    let _ = stream.get_mut().write_all(answer.as_bytes());
                }
            }
        });
        Receiver { url, got }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// The requests, once there are so many.
    fn wait(&self, count: usize) -> Vec<Got> {
        until(|| (self.got().len() >= count).then(|| self.got()))
    }
}

fn until<T>(mut done: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(done) = done() {
            return done;
        }
        assert!(begun.elapsed() < FOREVER, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn serve(place: &Place) -> Server {
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0"]);
    command.env("OK_DEV_AUTH", "1");
    Server::start(command)
}

fn json(place: &Place, line: &str) -> Value {
    let ran = place.ok_with(&format!("--as ana {line} --format json"), &[("OK_DEV_AUTH", "1")]);
    assert_eq!(ran.code, 0, "{ran}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// A company that tells this receiver; the webhook's id and secret.
fn company(receiver: &Receiver) -> (Place, String, String) {
    let place = Place::with_company();
    let made = json(&place, &format!("subscription add {} --event agent.gate.pending", receiver.url));
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (place, text("id"), text("secret"))
}

/// The newest delivery, once it stands so.
fn delivery(place: &Place, webhook: &str, state: &str) -> Value {
    until(|| {
        let newest = json(place, &format!("subscription deliveries {webhook}"))[0].clone();
        (newest["state"] == state).then_some(newest)
    })
}

#[test]
fn a_message_arrives_and_can_be_verified() {
    let receiver = Receiver::new(&["204 No Content"]);
    let (place, id, secret) = company(&receiver);
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    let [got] = receiver.wait(1).try_into().unwrap_or_else(|_| panic!("more than one"));
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let header = |name: &str| got.headers.get(name).cloned().unwrap_or_else(|| panic!("no {name}"));
    let content = format!("{}.{}.{}", header("webhook-id"), header("webhook-timestamp"), got.body);
    assert_eq!(header("webhook-signature"), format!("v1,{}", BASE64.encode(hmac(&key, content.as_bytes()))));
    assert_eq!(header("content-type"), "application/json");
    as_the_guide_says(&secret, &got);
    let body: Value = serde_json::from_str(&got.body).unwrap();
    assert_eq!((body["type"].as_str(), body["data"]["webhook_id"].as_str()), (Some("webhook.test"), Some(id.as_str())));
    let sent = delivery(&place, &id, "delivered");
    assert_eq!((&sent["http_status"], sent["id"].as_str()), (&Value::from(204), Some(header("webhook-id").as_str())));
    assert_eq!(server.stop().code, 0);
    let checks = [place.ok("audit verify"), place.ana("replay --actor ana")];
    assert!(checks.iter().all(|ran| ran.code == 0), "{}", checks[1]);
}

/// The function of the guide takes the message, and no other.
#[allow(clippy::print_stderr, reason = "a skipped check is told")]
fn as_the_guide_says(secret: &str, got: &Got) {
    let blocks = crate::cli::guides::blocks("webhooks");
    let (_, verify) = blocks.iter().find(|(kind, _)| kind == "python").unwrap();
    let run = |body: &str| {
        let headers = serde_json::to_string(&got.headers).unwrap();
        let call = "import json, sys\nverify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode())\n";
        let mut python = std::process::Command::new("python3");
        python.args(["-c", &format!("{verify}\n{call}"), secret, &headers, body]).output()
    };
    let (Ok(right), Ok(wrong)) = (run(&got.body), run(&format!("{} ", got.body))) else {
        return eprintln!("SKIPPED: there is no python3 here");
    };
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("not signed by us"));
}

#[test]
fn what_was_intended_before_a_crash_is_sent_after_it() {
    // The first is held until the server is killed; the second was intended while none ran.
    let receiver = Receiver::new(&["", "200 OK"]);
    let (place, id, _) = company(&receiver);
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    receiver.wait(1);
    server.signal("-KILL");
    server.ended();
    json(&place, &format!("subscription test {id}"));
    let server = serve(&place);
    let got = receiver.wait(3);
    assert_eq!(delivery(&place, &id, "delivered")["attempts"], 1);
    let ids: Vec<&String> = got.iter().map(|got| &got.headers["webhook-id"]).collect();
    assert_eq!(ids[0], ids[1], "it is the same message");
    assert_eq!(got[0].body, got[1].body);
    assert_ne!(ids[1], ids[2]);
    assert_eq!(server.stop().code, 0);
    // Nothing is left to send.
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    let got = receiver.wait(4);
    assert_eq!(got.len(), 4);
    assert!(!got[..3].iter().any(|got| got.headers["webhook-id"] == receiver.got()[3].headers["webhook-id"]));
    assert_eq!(server.stop().code, 0);
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn what_fails_is_sent_again() {
    let receiver = Receiver::new(&["500 Internal Server Error", "200 OK"]);
    let (place, id, _) = company(&receiver);
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    let got = receiver.wait(2);
    assert_eq!(got[0].headers["webhook-id"], got[1].headers["webhook-id"]);
    assert_eq!(delivery(&place, &id, "delivered")["attempts"], 2);
    assert_eq!(server.stop().code, 0);
}

#[test]
fn a_redirect_is_a_failure_and_nobody_follows_it() {
    let elsewhere = Receiver::new(&["200 OK"]);
    let redirect = format!("302 Found\r\nlocation: {}", elsewhere.url);
    let receiver = Receiver::new(&[redirect.as_str()]);
    let (place, id, _) = company(&receiver);
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    receiver.wait(1);
    let failed = until(|| {
        let newest = json(&place, &format!("subscription deliveries {id}"))[0].clone();
        (newest["attempts"] != 0).then_some(newest)
    });
    assert_eq!((&failed["http_status"], &failed["state"]), (&Value::from(302), &Value::from("pending")));
    assert_eq!(failed["error"], "it redirects, which is never followed");
    assert_eq!(elsewhere.got().len(), 0);
    assert_eq!(server.stop().code, 0);
}

#[test]
fn a_receiver_that_is_gone_is_sent_nothing_more() {
    let receiver = Receiver::new(&["410 Gone"]);
    let (place, id, _) = company(&receiver);
    let server = serve(&place);
    json(&place, &format!("subscription test {id}"));
    delivery(&place, &id, "given_up");
    assert_eq!(json(&place, &format!("subscription show {id}"))["status"], "disabled");
    assert_eq!(server.stop().code, 0);
    assert_eq!(receiver.got().len(), 1);
}

#[test]
fn outside_of_development_this_machine_is_no_receiver() {
    let receiver = Receiver::new(&["200 OK"]);
    let (place, id, _) = company(&receiver);
    let refused = place.ana(&format!("subscription add {} --event agent.gate.pending", receiver.url));
    assert!(refused.code != 0 && refused.stderr.contains("url: must be an https address"), "{refused}");
    // What was fine when it was named is judged again when something is sent.
    let server = place.serve();
    assert_eq!(place.ana(&format!("subscription test {id}")).code, 0);
    let failed = until(|| {
        let newest = json(&place, &format!("subscription deliveries {id}"))[0].clone();
        (newest["attempts"] != 0).then_some(newest)
    });
    assert_eq!(failed["error"], "the address must be an https address");
    assert_eq!(server.stop().code, 0);
    assert_eq!(receiver.got().len(), 0);
}
