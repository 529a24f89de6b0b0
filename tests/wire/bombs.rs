//! What costs the sender little and the server much: each is thrown several times at once, by those with few rights, and
//! meanwhile the server answers for its health, stops somebody, and lists.

mod thrown;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::{Place, Server};
use crate::harness::prove::some_of;
use thrown::{Bomb, CHECK, files, of_json, of_policies, of_questions, of_yaml, policies};

/// Nothing else may take longer meanwhile. A build for tests is many times slower than one for use, and its machine has
/// other things to do: what is looked for is a stall, which takes as long as the bomb.
const PROMPT: Duration = Duration::from_secs(2);
/// As long as a bomb is waited for; then its sender hangs up.
const PATIENCE: Duration = Duration::from_millis(1_200);
/// How long work may go on that nobody waits for any more.
const GIVEN_BACK: Duration = Duration::from_secs(20);
/// What the server may have held at once, at the most.
const MOST_MEMORY: usize = 512 << 20;
const AT_ONCE: usize = 4;

struct Company {
    place: Place,
    server: Server,
    admin: String,
    /// Two people and an agent.
    few_rights: [String; 3],
}

impl Company {
    fn new() -> Company {
        let place = Place::with_company();
        let add = |line: &str| assert_eq!(place.ana(line).code, 0, "{line}");
        add("actor add-human mia --role member");
        add("actor add-human max --role member");
        let definition = "apiVersion: ok/v1\nkind: Agent\nmetadata: {name: bot}\nspec: {owner: ana}\n";
        std::fs::write(place.path().join("bot.yaml"), definition).unwrap();
        add("actor hire bot.yaml");
        let token = |id: &str| {
            let issued = place.ana(&format!("token issue --for {id}"));
            issued.stdout.split_whitespace().find(|word| word.starts_with("ok_")).unwrap().to_owned()
        };
        let (admin, few_rights) = (token("ana"), ["mia", "max", "bot"].map(token));
        let server = place.serve();
        Company { place, server, admin, few_rights }
    }

    fn request(&self, method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }

    /// Begins to throw; the line can be cut.
    fn throw(&self, bomb: &Bomb, number: usize) -> (TcpStream, JoinHandle<Option<String>>) {
        let token = if bomb.by_agent { &self.few_rights[2] } else { &self.few_rights[number % 2] };
        let request = self.request("POST", bomb.path, token, &bomb.body);
        let line = TcpStream::connect(self.server.address()).unwrap();
        let mut inner = line.try_clone().unwrap();
        let sent = spawn(move || {
            // What is refused is not read to its end.
            let _ = inner.write_all(&request);
            let mut answer = Vec::new();
            let _ = inner.read_to_end(&mut answer);
            let text = String::from_utf8_lossy(&answer).into_owned();
            text.split(' ').nth(1).map(str::to_owned)
        });
        (line, sent)
    }

    /// How long a request takes that everybody's work depends on.
    fn probe(&self, method: &str, path: &str, body: &str, expected: &str) -> Duration {
        let begun = Instant::now();
        let answer = self.asked(method, path, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{method} {path}: {answer}");
        begun.elapsed()
    }

    fn asked(&self, method: &str, path: &str, body: &str) -> String {
        let mut line = TcpStream::connect(self.server.address()).unwrap();
        line.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        line.write_all(&self.request(method, path, &self.admin, body)).unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The slowest of them.
    fn probes(&self) -> Duration {
        let engage = |off: bool| json!({ "scope": "tool:mail.send", "off": off }).to_string();
        [
            self.probe("GET", "/api/health", "", "200"),
            self.probe("POST", "/api/kill", &engage(false), "200"),
            self.probe("GET", "/api/actors", "", "200"),
            self.probe("GET", "/api/approvals", "", "200"),
            self.probe("GET", "/api/events?limit=20", "", "200"),
            self.probe("POST", "/api/kill", &engage(true), "200"),
        ]
        .into_iter()
        .max()
        .unwrap()
    }

    /// How long it takes until the places of what was hung up on are free for others.
    fn places_are_back(&self) -> Duration {
        let begun = Instant::now();
        // So long a question takes three of the four places.
        let long = files(&[("a.cedar", policies(1, ""))]).to_string() + &" ".repeat(1_100_000);
        loop {
            let answer = self.asked("POST", CHECK, &long);
            if answer.starts_with("HTTP/1.1 200") {
                break;
            }
            assert!(begun.elapsed() < 3 * GIVEN_BACK, "no place is free: {answer}");
            sleep(Duration::from_millis(50));
        }
        begun.elapsed()
    }

    /// The most memory that the server has had, in bytes.
    fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }
}

#[test]
fn no_bomb_keeps_others_waiting_or_fills_the_memory() {
    let company = Company::new();
    let bombs: Vec<Bomb> = [of_json(), of_yaml(), of_policies(), of_questions()].into_iter().flatten().collect();
    assert!(bombs.len() >= 40);
    println!("there are {} bombs; all are thrown by `make prove`", bombs.len());
    let bombs = some_of(bombs, 3);
    let mut late = Vec::new();
    for bomb in &bombs {
        let (begun, before) = (Instant::now(), company.memory());
        let (lines, thrown): (Vec<_>, Vec<_>) = (0..AT_ONCE).map(|number| company.throw(bomb, number)).unzip();
        let mut slowest = Duration::ZERO;
        while begun.elapsed() < PATIENCE && !thrown.iter().all(JoinHandle::is_finished) {
            slowest = slowest.max(company.probes());
        }
        let took = begun.elapsed();
        lines.iter().for_each(|line| drop(line.shutdown(Shutdown::Both)));
        let told: Vec<String> = thrown.into_iter().map(|one| one.join().unwrap().unwrap_or("-".into())).collect();
        slowest = slowest.max(company.probes());
        let hung_up = told.iter().any(|status| status == "-");
        let back = if hung_up { company.places_are_back() } else { Duration::ZERO };
        let more = company.memory().saturating_sub(before) >> 20;
        println!("{:<48} {} {took:>6.0?} {slowest:>6.0?} {back:>6.0?} +{more} MiB", bomb.name, told.join(" "));
        if slowest > PROMPT || back > GIVEN_BACK {
            late.push(format!("{}: {slowest:.1?}, {back:.1?}", bomb.name));
        }
        let answered = |status: &String| status == "-" || status.starts_with(['2', '4']) || status == "503";
        assert!(told.iter().all(answered), "{}: {told:?}", bomb.name);
    }
    assert!(late.is_empty(), "others waited: {late:#?}");
    let memory = company.memory();
    println!("{} MiB at the most", memory >> 20);
    assert!(memory < MOST_MEMORY, "{} MiB", memory >> 20);
    assert_eq!(company.place.ok("audit verify").code, 0);
}
