//! Every command of every guide page, run in the order of the page from the page's own text: only what stands for
//! something of the reader's (an id, a path, a key) is put in.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::ci::put;
use super::{Place, Ran};

/// How a page is run.
struct Page {
    name: &'static str,
    /// What its reader has before, and what happens before one of its lines: commands as ana, unless they say who.
    before: &'static [(&'static str, &'static [&'static str])],
    /// Lines that end otherwise than with 0.
    ends: &'static [(&'static str, i32)],
    /// Lines that somebody else than ana types.
    acts: &'static [(&'static str, &'static str)],
}

/// Before the page's first line.
const FIRST: &str = "";
const PAGES: &[Page] = &[
    Page {
        name: "admin",
        before: &[
            ("changes list", &["@more policies/more.cedar", "policy propose policies --reason more"]),
            ("changes review", &["actor add-human lou --role admin"]),
        ],
        ends: &[("actor offboard", 4), ("changes promote", 1), ("policy diff --change", 2), ("policy rollback", 4)],
        acts: &[("changes review", "ben")],
    },
    Page {
        name: "operate",
        before: &[
            (FIRST, &["init --admin ana", "actor add-agent bot", "actor add-team team:ops", "@token leaked.txt"]),
            ("--checkpoint remembered.txt", &["@head remembered.txt"]),
        ],
        ..NONE
    },
    Page {
        name: "review",
        before: &[(
            FIRST,
            &[
                "init --admin ana",
                "actor add-human lou --role lead",
                "actor add-team team:ops --lead lou",
                "--as lou actor add-human n1 --role member --team team:ops",
                "--as lou actor add-human n2 --role member --team team:ops",
                "--as lou actor add-human n3 --role member --team team:ops",
            ],
        )],
        acts: &[("approval withdraw", "lou")],
        ..NONE
    },
    Page { name: "why", before: &[(FIRST, &["init --admin ana", "actor add-human bob --role member"])], ..NONE },
    Page { name: "api", ..NONE },
    Page { name: "agents", ends: &[("doctor", 1)], ..NONE },
    Page { name: "data", ..NONE },
    Page { name: "knowledge", before: &[(FIRST, &["init --admin ana", "actor add-human sue --role steward"])], ..NONE },
    Page { name: "webhooks", before: &[(FIRST, &["init --admin ana"])], ..NONE },
    Page {
        name: "policies",
        before: &[(FIRST, &["init --admin ana", "policy export --dir policies"])],
        ends: &[],
        acts: &[],
    },
    Page { name: "demo", ..NONE },
    Page {
        name: "ci",
        before: &[(
            FIRST,
            &[
                "init --admin ana",
                "policy export --dir policies",
                "@rule policies/more.cedar",
                "@cases policies/tests/more.yaml",
            ],
        )],
        ..NONE
    },
    Page {
        name: "concepts/approvals",
        before: &[(FIRST, &["init --admin ana", "actor add-human ben --role admin"])],
        acts: &[("break-glass review", "ben")],
        ..NONE
    },
    Page {
        name: "concepts/delegations",
        before: &[(
            FIRST,
            &[
                "init --admin ana",
                "actor add-human lea --role lead",
                "actor add-team team:ops --lead lea",
                "actor add-human max --role member --team team:ops",
                "actor add-agent scout --owner lea --team team:ops",
            ],
        )],
        ..NONE
    },
    Page {
        name: "access",
        before: &[
            (FIRST, &["init --admin ana"]),
            (
                "policy explain",
                &["policy export --dir docs", "@question question.json", "policy apply docs --reason types"],
            ),
        ],
        ..NONE
    },
];

const NONE: Page = Page { name: "", before: &[], ends: &[], acts: &[] };

pub fn text(page: &str) -> String {
    let page = if page.contains('/') { page.to_owned() } else { format!("guides/{page}") };
    fs::read_to_string(format!("{}/docs/{page}.md", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The pages that have something to type or to copy.
pub fn pages() -> Vec<String> {
    let of = |folder: &str| {
        let entries = fs::read_dir(format!("{}/docs/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let names = entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let concepts = of("concepts").into_iter().map(|name| format!("concepts/{name}"));
    of("guides").into_iter().chain(concepts).collect()
}

/// The fenced blocks of a page: language and body.
pub fn blocks(page: &str) -> Vec<(String, String)> {
    let text = text(page);
    let fenced = text.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).map(|(kind, body)| (kind.to_owned(), body.to_owned())).collect()
}

/// What the reader is told to type, and what is shown of the answer.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut typed: Vec<(String, Vec<String>)> = Vec::new();
    for (kind, body) in blocks(page).into_iter().filter(|(kind, _)| matches!(kind.as_str(), "sh" | "console")) {
        for line in body.lines() {
            match (line.trim_start().trim_start_matches("$ ").strip_prefix("ok "), typed.last_mut()) {
                (Some(line), _) => {
                    let line = line.split(" #").next().unwrap().split(" && ").next().unwrap();
                    typed.push((line.trim_end().to_owned(), Vec::new()));
                }
                (None, Some((_, shown))) if kind == "console" => shown.push(line.to_owned()),
                _ => {}
            }
        }
    }
    typed
}

/// Whether an answer reads as a page shows it: numbers are others each time, and `…` stands for any lines.
fn reads_as(answer: &str, shown: &[String]) -> bool {
    let shape = |line: &str| {
        let mut shape = String::new();
        for sign in line.trim_end().chars().filter(|sign| *sign != ',') {
            match sign.is_ascii_digit() {
                true if shape.ends_with('0') => {}
                true => shape.push('0'),
                false => shape.push(sign),
            }
        }
        shape
    };
    let answer: Vec<String> = answer.lines().map(shape).collect();
    let mut at = 0;
    let mut anywhere = false;
    for line in shown {
        if line.trim_start_matches(['│', ' ']) == "…" {
            anywhere = true;
            continue;
        }
        let rest = &answer[at.min(answer.len())..];
        let found = rest.iter().position(|other| *other == shape(line)).filter(|found| anywhere || *found == 0);
        let Some(found) = found else { return false };
        (at, anywhere) = (at + found + 1, false);
    }
    anywhere || at == answer.len()
}

/// The files that a page shows: blocks whose first line names a path.
fn files(place: &Place, page: &str) {
    for (_, body) in blocks(page) {
        let first = body.lines().next().unwrap_or_default();
        let path = first.trim_start_matches(['/', '#', ' ']);
        let named = first.starts_with(['/', '#']) && !path.contains(' ') && Path::new(path).extension().is_some();
        if named && !path.starts_with('/') {
            put(place, path, body.split_once('\n').unwrap().1.trim_start_matches('\n'));
        }
    }
}

fn rows(place: &Place, line: &str) -> Vec<Value> {
    serde_json::from_str(&place.ana(&format!("--format json {line}")).stdout).unwrap_or_default()
}

fn of_them(place: &Place, named: &str, line: &str) -> Vec<Value> {
    serde_json::from_str(&place.ok(&format!("--format json {named} {line}")).stdout).unwrap_or_default()
}

/// A word as it is for this reader.
fn word(place: &Place, line: &str, word: &str) -> String {
    let named: Vec<&str> = line.split(' ').take(4).collect();
    let named = if named.first() == Some(&"--state") { named.join(" ") } else { String::new() };
    let id = |line: &str| {
        let rows = if named.is_empty() { rows(place, line) } else { of_them(place, &named, line) };
        rows.first().and_then(|row| Some(row["id"].as_str()?.to_owned())).unwrap_or_default()
    };
    match word {
        _ if word.starts_with("apr_") && !named.is_empty() => id("approval list --mine --status pending"),
        _ if word.starts_with("apr_") => id("approval list --status pending"),
        _ if word.starts_with("chg_") => id("changes list"),
        _ if word.starts_with("whk_") => id("subscription list"),
        _ if word.starts_with("bgl_") => id("break-glass list"),
        _ if word.starts_with("tok_") => id("token list"),
        _ if word.starts_with("scp_") => id("schema proposals"),
        _ if word.starts_with("rec_") => id("brain query invoices"),
        _ if word.starts_with("dlg_") => id("delegation list"),
        _ if word.starts_with("kno_") => id("brain knowledge"),
        "$VERIFIER_KEY" => place.ana("audit key").stdout.trim().to_owned(),
        "4711" => "5".into(),
        _ => word.replace("/srv/ok/", "").replace("/backup/", "").replace("/tmp/", ""),
    }
}

/// The words of a line as a shell reads them.
fn words(place: &Place, line: &str) -> Vec<String> {
    let (mut words, mut open, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars().chain([' ']) {
        match (quote, sign) {
            (None, ' ') => words.extend(open.take()),
            (None, '"' | '\'') => (quote, open) = (Some(sign), Some(open.unwrap_or_default())),
            (Some(mark), _) if mark == sign => quote = None,
            _ => open.get_or_insert_default().push(sign),
        }
    }
    words.into_iter().map(|one| word(place, line, &one)).collect()
}

fn run(place: &Place, line: &str, actor: &str) -> Ran {
    let (line, from) = line.split_once(" < ").unwrap_or((line, "/dev/null"));
    let (mut command, stdin) = (place.command(&words(place, line)), fs::File::open(place.path().join(from)).unwrap());
    super::ran(format!("ok {line}"), &command.env("OK_AS", actor).stdin(stdin).output().unwrap())
}

/// Something that the reader did before: a command, or a file that it leaves.
fn prepare(place: &Place, page: &str, step: &str) {
    let Some((what, path)) = step.strip_prefix('@').and_then(|step| step.split_once(' ')) else {
        let ran = run(place, step, "ana");
        assert!([0, 4].contains(&ran.code), "{page}: {ran}");
        return;
    };
    let content = match what {
        "head" => place.ana("audit head").stdout,
        "token" => place.ana("token issue").stdout,
        "more" => "// More.\n".into(),
        "rule" => RULE.into(),
        "cases" => CASES.into(),
        // The question that the page puts with curl.
        "question" => question(page),
        other => panic!("{other}"),
    };
    put(place, path, &content);
}

/// A change that a pipeline has something to say of.
const RULE: &str = "@id(\"leads-export\")\npermit (\n  principal in Ok::Role::\"lead\",\n  action == Ok::Action::\"policy.export\",\n  resource\n);\n";
const CASES: &str = "actors:\n  - {id: lea, role: lead}\n  - {id: mia}\ncases:\n  - {actor: lea, op: policy.export, expect: allow}\n  - {actor: mia, op: policy.export, expect: deny}\n  - {actor: lea, op: policy.source, expect: deny}\n";

fn question(page: &str) -> String {
    text(page).split_once("--json '").unwrap().1.split_once('\'').unwrap().0.to_owned()
}

/// Runs a page, and gives what its reader has then.
pub fn follow(page: &str) -> Place {
    let Page { name, before, ends, acts } = PAGES.iter().find(|one| one.name == page).unwrap();
    let place = Place::new();
    files(&place, name);
    let mut done = Vec::new();
    for (line, shown) in commands(name).iter().filter(|(line, _)| !line.contains(" serve")) {
        for (part, steps) in before.iter().filter(|(part, _)| line.contains(part)) {
            if !done.contains(part) {
                done.push(*part);
                steps.iter().for_each(|step| prepare(&place, name, step));
            }
        }
        let actor = acts.iter().find(|(part, _)| line.contains(part)).map_or("ana", |(_, actor)| actor);
        let end = ends.iter().find(|(part, _)| line.contains(part)).map_or(0, |(_, code)| *code);
        let ran = run(&place, line, actor);
        assert_eq!(ran.code, end, "{name}.md: {ran}");
        assert!(shown.is_empty() || reads_as(&ran.stdout, shown), "{name}.md shows otherwise: {ran}");
    }
    let unused = before.iter().find(|(part, _)| !done.contains(part));
    assert!(unused.is_none(), "{name}.md has no such line: {unused:?}");
    place
}

#[test]
fn every_page_with_commands_is_followed() {
    for name in pages() {
        let followed = PAGES.iter().any(|page| page.name == name);
        assert_eq!(!commands(&name).is_empty(), followed, "{name}.md");
    }
}

#[test]
fn the_admins_page_is_followed_from_its_first_line() {
    drop(follow("admin"));
}

#[test]
fn the_pages_for_running_it_and_for_webhooks_are_followed() {
    drop(follow("operate"));
    drop(follow("webhooks"));
}

#[test]
fn the_page_about_the_demo_is_followed() {
    drop(follow("demo"));
}

#[test]
fn the_page_for_reviewers_is_followed() {
    drop(follow("review"));
}

#[test]
fn the_page_that_explains_is_followed() {
    drop(follow("why"));
    drop(follow("agents"));
    drop(follow("knowledge"));
}

#[test]
fn the_pages_about_approvals_and_delegations_are_followed() {
    drop(follow("concepts/approvals"));
    drop(follow("concepts/delegations"));
}

#[test]
fn the_pages_for_writing_and_checking_policies_are_followed() {
    drop(follow("policies"));
    drop(follow("ci"));
}

#[test]
fn the_page_for_other_programs_is_followed() {
    drop(follow("access"));
}

/// The program of the page does what it says, where its agent may and where it has to ask.
#[test]
fn the_program_of_the_page_about_the_api_runs() {
    let place = follow("api");
    let token = serde_json::from_str::<Value>(&place.ana("token issue --for clerk --format json").stdout).unwrap();
    let server = place.serve();
    let run = || {
        let mut python = std::process::Command::new("python3");
        python.arg(place.path().join("clerk.py")).env("OK_SERVER", format!("http://{}", server.address()));
        python.env("OK_TOKEN", token["token"].as_str().unwrap()).output()
    };
    let Ok(output) = run() else { return eprintln!("SKIPPED: there is no python3 here") };
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.starts_with("tsk_") && told.ends_with(" Call the vendor\n"), "{told}{errors}");
    assert_eq!(place.ana("actor trust clerk observe --reason new").code, 0);
    let output = run().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.starts_with("waits for approval: apr_") && told.lines().count() == 2, "{told}");
}

/// What the page about decisions for other programs shows is answered as it says.
#[test]
fn the_question_of_the_guide_is_answered_as_it_says() {
    let place = Place::with_company();
    files(&place, "access");
    assert_eq!(place.ana("policy export --dir docs").code, 0);
    assert_eq!(place.ana("policy apply docs --reason types").code, 0);
    let token = place.ana("token issue --format json").stdout;
    let token = serde_json::from_str::<Value>(&token).unwrap()["token"].as_str().unwrap().to_owned();
    let server = place.serve();
    let blocks = blocks("access");
    let (_, ask) = blocks.iter().find(|(_, body)| body.starts_with("curl")).unwrap();
    let ask = ask.replace("http://127.0.0.1:8080", &format!("http://{}", server.address()));
    let mut shell = std::process::Command::new("sh");
    let Ok(output) = shell.args(["-c", &ask]).env("OK_TOKEN", token).output() else { return };
    if output.status.code() == Some(127) {
        return eprintln!("SKIPPED: there is no curl here");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"decision\":true}");
}
