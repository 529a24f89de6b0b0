//! Characters that steer a terminal, or the order of letters on a line, in everything that people can write: no command
//! passes one on, in any format.

use std::collections::BTreeSet;

use super::ci::put;
use super::{Place, Ran};

/// ESC, a C1 introducer, a right-to-left override, an isolate, a bell, DEL, a carriage return and a mark.
const STEERS: &str = "\u{1b}[2K\u{9b}8m\u{202e}\u{2066}\u{7}\u{7f}\rx\u{200f}";
/// What of it may stand in a name.
const IN_NAMES: &str = "\u{202e}\u{2066}x\u{200f}";

/// Every command once at least, with what steers wherever it takes a text. `{chg}`, `{whk}`, `{dlg}`, `{bgl}`, `{apr}`, `{run}`
/// and `{tsk}` are what the lines before have made.
const LINES: &[&str] = &[
    "init --admin ana",
    "demo serve --dir 'demo{x}'",
    "demo --dir 'hired.yaml/demo{x}'",
    "--as ana actor add-human bob --role member --name 'Bob{n}' --skills 'tax{x}'",
    "--as ana actor add-human abe --role admin --name 'Abe{n}'",
    "--as ana actor add-team team:ops --name 'Ops{n}'",
    "--as ana actor add-agent clerk --owner bob --name 'Clerk{n}'",
    "--as ana actor hire hired.yaml",
    "--as ana actor trust clerk assist --reason 'because{x}'",
    "--as ana actor set bob --name 'Bob{n}'",
    "--as ana actor show bob",
    "--as ana actor list",
    "--as ana actor list --team 'team:{x}'",
    "--as ana company set --name 'Acme{n}'",
    "--as ana company show",
    "--as ana directory find --text 'b'",
    "--as ana directory cards",
    "--as ana token issue --label 'label{x}'",
    "--as ana token list",
    "--as ana token find",
    "--as ana token show 'tok_{x}'",
    "--as ana token revoke 'tok_{x}'",
    "--as ana token scope 'tok_{x}' read",
    "--as bob delegate --to clerk --scope *",
    "--as bob delegation list",
    "--as bob delegation show {dlg}",
    "--as bob delegation reserve {dlg} 1 --purpose 'p{x}'",
    "--as bob delegation settle {dlg} 'rsv_{x}' 1",
    "--as bob delegation revoke {dlg} --reason 'over{x}'",
    "--as ana subscription add https://example.org/a --event agent.gate.pending --description 'hook{x}'",
    "--as ana subscription list",
    "--as ana subscription show {whk}",
    "--as ana subscription update {whk} --description 'other{x}'",
    "--as ana subscription rotate {whk}",
    "--as ana subscription test {whk}",
    "--as ana subscription deliveries {whk}",
    "--as ana subscription redeliver {whk} 'msg_{x}'",
    "--as ana subscription remove {whk}",
    "--as ana policy export --dir policies",
    "audit consistency 1",
    "help actor set",
    "--as ana policy export",
    "--as ana policy propose policies2 --reason 'why{x}'",
    "--as ana changes list",
    "--as ana changes show {chg}",
    "--as abe changes review {chg} --request-changes --note 'no{x}'",
    "--as ana changes evals {chg}",
    "--as ana changes promote {chg}",
    "--as ana changes canary {chg} --percent 1",
    "--as ana changes reject {chg} --reason 'not{x}'",
    "--as ana policy check policies2",
    "policy check policies2 --format junit",
    "policy check policies2 --format sarif",
    "policy check policies2 --format github",
    "--as ana ci policies2",
    "--as ana ci policies2 --github",
    "--as ana policy diff policies2 --no-impact",
    "--as ana policy apply policies2 --reason 'in{x}'",
    "--as ana approval list",
    "--as ana approval show {apr}",
    "--as ana approval explain {apr}",
    "--as abe approve {apr} --reject --note 'never{x}'",
    "--as ana approval withdraw {apr} --note 'back{x}'",
    "--as ana policy rollback 'x{x}'",
    "--as ana policy list",
    "--as ana policy drift",
    "--as ana policy source repo 'https://example.org/{x}'",
    "--as ana policy source workspace",
    "--as bob policy explain actor.add",
    "--as ana policy explain actor.read bob --tree",
    "--as ana policy who-can actor.read bob",
    "--as ana policy break-glass actor.trust --reason 'fire{x}'",
    "--as ana break-glass list",
    "--as ana break-glass end {bgl}",
    "--as abe break-glass review {bgl} --note 'fine{x}'",
    "blueprint list",
    "--as ana blueprint install 'blue{x}'",
    "--as bob ask --agent clerk 'ask{x}' --plan plan.json",
    "--as bob run show {run}",
    "--as bob answer {run} 'answer{x}'",
    "--as bob run budget {run} 5",
    "--as bob run cancel {run} --reason 'no{x}'",
    "--as bob run follow {run}",
    "--as bob runs",
    "--as bob task create 'title{x}' --goal 'goal{x}' --owner clerk",
    "--as bob task show {tsk}",
    "--as bob task refer {tsk} url 'https://example.org/{x}' --note 'note{x}'",
    "--as bob task run {tsk} --plan plan.json",
    "--as bob task assign {tsk} --to bob --note 'note{x}'",
    "--as bob task complete {tsk} --result 'done{x}'",
    "--as bob tasks",
    "--as ana schema propose notes --ops ops.json --reason 'why{x}'",
    "--as ana schema proposals",
    "--as ana schema show {scp}",
    "--as ana schema apply {scp}",
    "--as ana schema propose others --ops ops.json --reason 'why{x}'",
    "--as ana schema reject {scp} --reason 'not{x}'",
    "--as ana schema steward",
    "--as ana view preview view.yaml",
    "--as ana view propose view.yaml --reason 'why{x}'",
    "--as ana changes evals {chg}",
    "--as ana changes promote {chg}",
    "--as ana view list",
    "--as ana view show titled",
    "--as ana view remove titled --reason 'why{x}'",
    "--as ana brain collections",
    "--as ana brain describe notes",
    "--as ana brain catalog 'note{x}'",
    "--as ana brain semantics notes",
    "--as ana brain import notes rows.jsonl",
    "--as ana brain upsert notes --fields '{\"text\": \"a{x}\"}'",
    "--as ana brain upsert notes --fields '{\"text\": \"b\\u202ec\"}'",
    "--as ana brain query notes",
    "--as ana brain query notes --filter '{\"text\": \"{x}\"}'",
    "--as ana brain aggregate notes --group-by text",
    "--as ana brain show notes {rec}",
    "--as ana brain refs notes {rec}",
    "--as ana search 'c'",
    "--as bob search 'title'",
    "--as ana brain flag notes {rec} --kind wrong --note 'odd{x}'",
    "--as ana brain flags",
    "--as ana brain history notes {rec}",
    "--as ana brain rollback notes {rec} --to 1 --reason 'again{x}'",
    "--as ana brain delete notes {rec}",
    "--as bob brain upload document.txt --name 'doc{n}' --topic steer --reference 'ref{x}'",
    "--as ana brain text {kno}",
    "--as bob brain propose-knowledge 'known{x}' --topic steer --reference 'ref{x}'",
    "--as ana brain quarantine",
    "--as ana brain show-knowledge {kno}",
    "--as ana brain accept {kno} --note 'ok{x}' --edit 'so{x}'",
    "--as ana brain recall steer",
    "--as ana brain knowledge",
    "--as ana brain retract-knowledge {kno} --note 'no{x}'",
    "--as bob brain propose-knowledge 'more{x}'",
    "--as ana brain reject-knowledge {kno} --note 'no{x}'",
    "--as ana inbox",
    "--as bob inbox --all",
    "--as ana tick",
    "--as ana kill actor:bob --reason 'stop{x}'",
    "--as ana kill --list",
    "--as ana actor offboard bob --to ana",
    "--as ana log",
    "--as ana log --type 'x{x}'",
    "--as ana replay --actor bob",
    "--as ana audit verify",
    "--as ana audit head",
    "--as ana audit checkpoints",
    "--as ana audit proof 1",
    "--as ana audit key",
    "--as ana audit rekey",
    "--as ana audit export 'out{x}'",
    "--as ana entity keep 'no{x}.json'",
    "--as ana entity list --type 'T{x}'",
    "--as ana entity remove 'T{x}' 'id{x}'",
    "--as ana context forget 3 --reason 'gone{x}'",
    "--as ana backup 'copy{x}.db'",
    "--as 'no{x}' actor list",
    "--state 'no{x}/state.db' serve --bind nowhere",
    "doctor",
    "schemas",
    "completions bash",
    "actor 'no{x}'",
];

/// Changing twice is another thing than reading twice: only these are run in both formats.
const READS: &[&str] =
    &[" list", " show", " explain", "log", "replay", "inbox", "cards", "find", "export", "diff", "ci "];

struct Walk {
    place: Place,
    ids: Vec<String>,
}

impl Walk {
    /// Runs a line, and keeps the ids that it told.
    fn run(&mut self, line: &str) -> Ran {
        let mut line = line.replace("{x}", STEERS).replace("{n}", IN_NAMES);
        for kind in ["dlg", "whk", "chg", "apr", "bgl", "run", "tsk", "scp", "rec", "kno"] {
            let id = self.ids.iter().rev().find(|id| id.starts_with(kind));
            line = line.replace(&format!("{{{kind}}}"), id.map_or("none", String::as_str));
        }
        let ran = self.place.ok(&line);
        let told = format!("{} {}", ran.stdout, ran.stderr);
        let words = told.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        self.ids.extend(words.filter(|word| word.len() == 30 && word.contains('_')).map(str::to_owned));
        ran
    }
}

fn assert_harmless(ran: &Ran) {
    let told = format!("{}{}", ran.stdout, ran.stderr);
    let steers = told.chars().find(|c| ok::types::visible::steers(*c));
    assert!(steers.is_none(), "{steers:?} in {:?}", ran.to_string());
}

#[test]
fn no_command_passes_on_what_steers_a_terminal() {
    let place = Place::new();
    // To Cedar a carriage return ends a comment.
    let hidden = STEERS.replace('\r', "");
    let hostile = format!("// seen {hidden}\n@id(\"a\")\npermit (principal, action, resource);\n");
    put(&place, "policies2/a.cedar", &hostile);
    put(&place, "policies2/tests/a.yaml", "cases:\n  - {actor: server, op: tick, expect: allow}\n");
    put(&place, &format!("policies2/{STEERS}.yml"), "");
    put(&place, "document.txt", &format!("a document that steers{STEERS}"));
    put(
        &place,
        "hired.yaml",
        "apiVersion: ok/v1\nkind: Agent\nmetadata: {name: hired, title: \"H\\u202e\"}\nspec: {owner: ana}\n",
    );
    // YAML takes no such character as it is.
    let escaped: String = STEERS.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let plan = format!(
        r#"{{"steps": [{{"say": "{escaped}"}}, {{"ask": {{"text": "which{escaped}"}}}}, {{"fail": "{escaped}"}}]}}"#
    );
    put(&place, "plan.json", &plan);
    let title = r#"{"type": "text", "title": "T\u202e"}"#;
    put(&place, "ops.json", &format!(r#"[{{"create": {{"spec": {{"fields": {{"text": {title}}}}}}}}}]"#));
    put(
        &place,
        "view.yaml",
        "apiVersion: ok/v1\nkind: View\nmetadata: {name: titled, title: \"V\\u202e\"}\nspec: {query: {collection: notes}}\n",
    );
    put(&place, "rows.jsonl", "{\"text\": \"c\\u202ed\"}\n");
    let mut walk = Walk { place, ids: Vec::new() };
    assert_harmless(&walk.run(LINES[0]));
    // The commands are handed to it, which is quicker than to open the company for each.
    let _server = walk.place.serve();
    let mut written_out = 0;
    for line in &LINES[1..] {
        let mut runs = vec![walk.run(line)];
        if READS.iter().any(|read| line.contains(read)) && !line.contains("--github") {
            runs.push(walk.run(&format!("--format json {line}")));
        }
        if !MACHINES.iter().any(|machine| line.contains(machine)) {
            assert_for_people(&runs[0]);
        }
        for ran in runs {
            assert_harmless(&ran);
            let told = format!("{}{}", ran.stdout, ran.stderr);
            written_out += usize::from(told.contains("u{202e}") || told.contains("u202e"));
        }
    }
    assert!(written_out > 25, "what steers reaches few commands: {written_out}");
    for kind in ["dlg_", "whk_", "chg_", "apr_", "bgl_", "run_", "tsk_", "scp_", "rec_"] {
        assert!(walk.ids.iter().any(|id| id.starts_with(kind)), "no {kind} was made");
    }
}

/// What prints files, schemas and proofs, for programs.
const MACHINES: [&str; 5] = ["--format", "policy export", "schemas", "--github", "completions"];

/// No JSON as it is, and times of one width.
fn assert_for_people(ran: &Ran) {
    // But for the lines of a difference, which are those of files, and for what a witness is given.
    let is_told = |line: &&str| !line.starts_with(['+', '-', ' ']) && !line.contains(", given {");
    for line in ran.stdout.lines().filter(is_told) {
        let raw = ["{\"", "[\"", "\":", "null"].into_iter().find(|raw| line.contains(raw));
        assert_eq!(raw, None, "{line}\n{}", ran.shown);
    }
    let cells = ran.stdout.lines().flat_map(|line| line.split("  ")).map(str::trim);
    for cell in cells.filter(|cell| cell.parse::<ok::types::time::Time>().is_ok()) {
        assert_eq!(cell.len(), "2026-11-20T09:00:00Z".len(), "{cell} in {ran}");
    }
}

#[test]
fn every_command_is_walked() {
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/cli.md")).unwrap();
    let commands: BTreeSet<&str> = reference.lines().filter_map(|line| line.strip_prefix("## ok ")).collect();
    assert!(commands.len() > 70);
    let walked = |command: &str| LINES.iter().any(|line| format!("{line} ").contains(&format!("{command} ")));
    let missing: Vec<&&str> = commands.iter().filter(|command| !walked(command)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
