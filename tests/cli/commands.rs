//! Every command on a state file, as people and as programs read it.

use super::{Place, assert_snapshot, session};

#[test]
fn init_names_one_first_admin() {
    let place = Place::new();
    let runs = [
        place.ok("init --admin ana"),
        place.ok("init --admin bob"),
        Place::new().ok("init"),
        Place::new().ok("--as 'Big Boss' init"),
        Place::new().ok("--format json init --admin ana"),
    ];
    assert_snapshot("init_names_one_first_admin", session(runs));
}

#[test]
fn people_teams_and_agents_are_added_listed_and_shown() {
    let place = Place::with_company();
    let lines = [
        "actor add-human bob --role lead --name 'Bob B' --skills tax,law",
        "actor add-team team:ops --lead bob --name Operations",
        "actor add-team team:pay --parent team:ops",
        "actor add-agent clerk --team team:ops --owner bob --trust standard --skills pay --name 'The clerk'",
        "actor add-human bob --role member",
        "actor add-human eve --role member --team team:none",
        "actor trust clerk assist --reason 'did well'",
        "actor trust bob assist --reason x",
        "actor show bob",
        "actor show team:ops",
        "actor show nobody",
        "actor list",
        "actor list --kind person --limit 1",
        "actor list --team team:ops",
        "--format json directory find --skills TAX",
        "directory find --humans --text b",
        "directory find --skills nothing",
        "directory cards",
    ];
    assert_snapshot("actors", session(lines.map(|line| place.ana(line))));
}

const CLERK: &str = "apiVersion: ok/v1\nkind: Agent\nmetadata: {name: clerk, title: The clerk}\nspec:\n  owner: bob\n  skills: [pay]\n  trust: assist\n";

#[test]
fn agents_are_hired_by_their_files() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let write = |file: &str, bytes: &[u8]| std::fs::write(place.path().join(file), bytes).unwrap();
    write("clerk.yaml", CLERK.as_bytes());
    write("own.yaml", CLERK.replace("  owner: bob\n", "").replace("name: clerk", "name: own").as_bytes());
    write("odd.yaml", CLERK.replace("skills:", "skils:").as_bytes());
    write("large.yaml", &vec![b' '; 10 << 20]);
    write("latin.yaml", b"metadata: {title: caf\xe9}\n");
    let lines = [
        "actor hire clerk.yaml",
        "actor hire own.yaml",
        "--format json actor hire clerk.yaml",
        "actor hire odd.yaml",
        "actor hire large.yaml",
        "actor hire latin.yaml",
        "actor hire nowhere.yaml",
        "actor add-agent ext --outside --owner bob",
        "actor list",
    ];
    assert_snapshot("hire", session(lines.map(|line| place.ana(line))));
    let schemas = Place::new().ok("schemas");
    assert_eq!((schemas.code, schemas.stderr.as_str()), (0, ""));
    let schemas: serde_json::Value = serde_json::from_str(&schemas.stdout).unwrap();
    assert!(schemas["Agent"]["properties"]["spec"].is_object() && schemas["Blueprint"].is_object());
}

#[test]
fn a_company_begins_with_a_blueprint() {
    let place = Place::new();
    let nothing = place.ok("init --admin ana --blueprint nothing");
    assert!(!place.path().join(".ok").exists(), "a company that was not begun is in nobody's way");
    let folder = place.path().join("own");
    std::fs::create_dir_all(folder.join("policies")).unwrap();
    let own = "apiVersion: ok/v1\nkind: Blueprint\nmetadata: {name: own}\nspec:\n  description: Ours.\n  ask: [{name: boss, type: person, title: Who leads?}]\n  teams: [{id: 'team:own', lead: '{{boss}}'}]\n";
    std::fs::write(folder.join("blueprint.yaml"), own).unwrap();
    let policy = "@id(\"own\")\npermit (\n  principal in Ok::Role::\"lead\",\n  action == Ok::Action::\"tick\",\n  resource\n);\n";
    std::fs::write(folder.join("policies/own.cedar"), policy).unwrap();
    let lines = [
        "init --admin ana --blueprint small-firm --set 'company_name=Acme & Sons'",
        "policy list",
        "blueprint list",
        "blueprint install own/blueprint.yaml",
        "blueprint install own/blueprint.yaml --set boss=ana",
        "blueprint install own/blueprint.yaml --set boss",
        "blueprint install nowhere.yaml",
        "--format json blueprint install own/blueprint.yaml --set boss=ana",
    ];
    let runs = std::iter::once(nothing).chain(lines.map(|line| place.ana(line)));
    assert_snapshot("blueprints", session(runs));
}

#[test]
fn a_long_list_is_read_to_its_end() {
    let place = Place::with_company();
    for name in ["a", "b", "c", "d"] {
        place.ana(&format!("actor add-human {name} --role member"));
    }
    let rows = |line: &str| place.ana(line).stdout.lines().count() - 1;
    assert_eq!([rows("actor list"), rows("actor list --limit 3"), rows("actor list --limit 9")], [5, 3, 5]);
}

#[test]
fn tokens_are_listed_narrowed_and_revoked() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let issued = place.ana("--format json token issue --for bob --label laptop --scope read --scope changes");
    let id = serde_json::from_str::<serde_json::Value>(&issued.stdout).unwrap()["id"].as_str().unwrap().to_owned();
    let text = session([
        issued,
        place.ana("token list"),
        place.ana("token list --actor bob --limit 5"),
        place.ok("--as bob token issue --for ana"),
        place.ana(&format!("token scope {id} read")),
        place.ana(&format!("token scope {id} read,policy")),
        place.ana(&format!("token revoke {id}")),
        place.ana(&format!("token revoke {id}")),
        place.ana("token revoke ana"),
        place.ana("token revoke tok_none"),
        place.ana("token list --actor bob"),
    ]);
    assert_snapshot("tokens", text);
    let [found, missing] = [&id, "tok_none"].map(|id| place.ana(&format!("log --token {id}")));
    let kinds = ["token_issued", "token_narrowed", "token_revoked"];
    assert!(kinds.iter().all(|kind| found.stdout.contains(kind)) && found.stdout.lines().count() == 3, "{found}");
    assert_eq!(
        (missing.code, &missing.stderr[..]),
        (1, "Error: not found, or not yours to see: token_id `tok_none`\n")
    );
    let refused = place.ana("log --actor bob --type denied").stdout;
    assert!(refused.lines().count() == 1 && refused.contains("token.issue"), "{refused}");
    let value = place.ana("log --token ok_Zd6ySecretSecretSecretSecretSecretSecretSecret");
    assert!(value.code == 64 && !value.stderr.contains("Zd6y"), "{value}");
    let unknown = place.ok("--as nobody log --token tok_none");
    assert_eq!((unknown.code, &unknown.stderr[..]), (1, "Error: nothing in the log names a token `tok_none`\n"));
    let pasted = place.ana("token revoke ok_Zd6ySecretSecretSecretSecretSecretSecretSecret");
    assert_eq!(pasted.code, 64);
    assert!(!pasted.stderr.contains("Zd6y") && pasted.stderr.contains("`ok token find`"), "{}", pasted.stderr);
}

#[test]
fn the_log_is_filtered_followed_back_and_replayed() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member --name 'Bob\u{202e} B'");
    place.ok("--as bob kill global");
    let lines = [
        "log",
        "log --limit 2",
        "log --since 3 --limit 1",
        "log --type actor_added,denied",
        "log --type nonsense",
        "log --limit 5000",
        "--format json log --since 5",
        "replay --actor bob",
        "replay --run run_none",
        "context forget 6 --reason 'no longer needed'",
        "context forget 5 --reason 'no longer needed'",
        "log --since 5",
        "audit verify",
    ];
    assert_snapshot("log", session(lines.map(|line| place.ana(line))));
}

#[test]
fn a_follower_sees_what_happens() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::with_company();
    let mut follower = place.command(&["--as", "ana", "log", "--follow", "--limit", "1"]);
    let mut follower = follower.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("token_issued"));
    place.ana("actor add-human bob --role member");
    assert!(lines.next().unwrap().unwrap().contains("id=bob"));
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn what_waits_for_people_ends_with_4() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role lead");
    place.ana("actor add-team team:ops --lead bob");
    let runs = [
        place.ok("--as bob actor add-human eve --role member --team team:ops"),
        place.ok("--as bob --format json actor add-human eve --role member --team team:ops"),
        place.ok("--as bob actor add-human eve --role member"),
    ];
    assert_snapshot("what_waits_for_people_ends_with_4", session(runs));
}

#[test]
fn the_tick_ends_what_is_over() {
    let place = Place::with_company();
    let lines = ["tick", "tick --now 2020-01-01T00:00:00Z", "tick --now tomorrow"];
    let mut runs: Vec<_> = lines.map(|line| place.ana(line)).into();
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(31 * 24);
    let mut ran = place.ana(&format!("--format json tick --now {later}"));
    ran.shown = "ok --as ana --format json tick --now <in 31 days>".into();
    runs.push(ran);
    assert_snapshot("tick", session(runs));
}

#[test]
fn the_gate_explains_itself() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let lines = [
        "policy explain token.issue ana --actor bob",
        "policy explain tick",
        "policy explain nonsense",
        "policy explain kill actor:bob",
        "policy explain token.issue ana --actor bob --tree",
        "policy explain actor.offboard ana --actor bob --tree",
        "policy explain tick --actor bob --at 4",
        "policy explain tick --actor bob --at 5",
        "policy explain tick --at 2020-01-01T00:00:00Z",
        "policy explain tick --at yesterday",
        "policy who-can token.issue bob",
        "policy who-can token.issue",
        "policy who-can nonsense",
    ];
    let mut runs: Vec<_> = lines.map(|line| place.ana(line)).into();
    runs.push(place.ok("--as bob policy explain tick --actor ana"));
    runs.push(place.ok("--as bob policy explain"));
    runs.push(place.ok("--as bob policy explain --actor ana"));
    assert_snapshot("the_gate_explains_itself", session(runs));
}

#[test]
fn an_explanation_shows_on_whose_behalf_it_is_and_what_break_glass_does() {
    let place = Place::with_company();
    for line in
        ["add-human bob --role lead", "add-team team:ops --lead bob", "add-human mia --role member --team team:ops"]
    {
        place.ana(&format!("actor {line}"));
    }
    let given = place.ok("--as bob --format json delegate --to ana --authority act");
    let given: serde_json::Value = serde_json::from_str(given.stdout.trim()).unwrap();
    let under = given["id"].as_str().unwrap();
    let runs = [
        place.ana(&format!("policy explain actor.offboard mia --under {under}")),
        place.ana(&format!("policy explain actor.offboard mia --under {under} --tree")),
        place.ok("--as bob policy explain actor.offboard mia"),
        place.ok("--as bob policy break-glass actor.offboard --reason 'key stolen'"),
        place.ok("--as bob policy explain actor.offboard mia --tree"),
        place.ana("policy explain delegation.revoke"),
    ];
    assert_snapshot("explain_break_glass", session(runs));
}

#[test]
fn a_tenant_is_a_folder() {
    let place = Place::new();
    let lines = [
        "--tenants-dir all --tenant acme init --admin ana",
        "--tenants-dir all --tenant acme --as ana actor list",
        "--tenants-dir all --tenant other --as ana actor list",
        "--state x.db --tenants-dir all --tenant acme log",
        "--tenant acme log",
        "--tenants-dir all log",
        "--tenants-dir all --tenant ../acme log",
    ];
    let text = session(lines.map(|line| place.ok(line)));
    assert!(place.path().join("all/acme/state.db").is_file());
    assert!(!place.path().join("x.db").exists());
    assert_snapshot("a_tenant_is_a_folder", text);
}

#[test]
fn settings_come_from_the_environment_and_flags_win() {
    let place = Place::with_company();
    let state = place.path().join("named.db");
    let runs = [
        place.ok_with("actor list", &[("OK_AS", "ana")]),
        place.ok_with("--as ana actor list", &[("OK_AS", "nobody")]),
        place.ok_with("actor list", &[("OK_AS", "")]),
        place.ok_with("log", &[("OK_STATE", "named.db"), ("OK_DEV_ECHO_TOOLS", "1")]),
        place.ok_with("--state named.db log", &[("OK_TENANT", "acme"), ("OK_TENANTS_DIR", "all")]),
        place.ok_with("log", &[("OK_STATE", "named.db"), ("OK_TENANT", "acme"), ("OK_TENANTS_DIR", "all")]),
        place.ok_with("--tenant acme log", &[("OK_STATE", "named.db"), ("OK_TENANTS_DIR", "all")]),
        place.ok_with("log", &[("OK_LOG", "ok=loud")]),
    ];
    assert!(state.is_file());
    assert_snapshot("settings_come_from_the_environment", session(runs));
}

#[test]
fn a_reader_that_goes_away_is_told_of_nothing_and_taken_for_no_success() {
    let place = Place::with_company();
    let mut command = place.command(&["completions", "bash"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(141), b"".as_slice()));
}

#[test]
fn somebody_is_let_act_on_ones_behalf() {
    let place = Place::with_company();
    place.ana("actor add-human ben --role admin");
    let given =
        place.ana("--format json delegate --to ben --scope actor.*,delegation.* --authority act --budget-cents 500");
    let id = serde_json::from_str::<serde_json::Value>(&given.stdout).unwrap()["id"].as_str().unwrap().to_owned();
    let under = |line: &str| place.ok(&format!("--as ben --delegation {id} {line}"));
    let text = session([
        given,
        place.ana("delegate --to ana"),
        place.ana("delegate --to ben --authority rule"),
        under("actor add-human mia --role member"),
        under("kill global"),
        under("delegate --to mia --authority act --budget-cents 900"),
        place.ok(&format!("--as mia --delegation {id} actor list")),
        place.ana(&format!("policy explain kill global --actor ben --under {id}")),
        place.ok(&format!("--as ben delegation reserve {id} 300 --purpose 'a run'")),
        place.ana("delegation list"),
        place.ana(&format!("delegation show {id}")),
        place.ok(&format!("--as mia delegation revoke {id}")),
        place.ana(&format!("delegation revoke {id}")),
        under("actor list"),
        place.ana("log --type actor_added --limit 1"),
    ]);
    assert_snapshot("delegations", text);
}

#[test]
fn the_key_of_secrets_is_read_in_each_form_that_tools_write() {
    let place = Place::with_company();
    let with = |key: &str| place.ok_with("--as ana token list", &[("OK_SECRETS_KEY", key)]);
    let bare = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    for key in [bare.to_owned(), format!("{bare}="), format!("{bare}\n"), "0f".repeat(32)] {
        let ran = with(&key);
        assert_eq!(ran.code, 0, "{ran}");
    }
    for key in [&bare[1..], "0f", "not a key"] {
        let ran = with(key);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains("64 hex digits, or 43 characters of base64") && !ran.stderr.contains(key), "{ran}");
    }
}

#[test]
fn who_decides_is_shown_what_they_decided() {
    let place = Place::with_company();
    for add in ["-human lea --role lead", "-team team:ops --lead lea"] {
        let ran = place.ana(&format!("actor add{add}"));
        assert_eq!(ran.code, 0, "{ran}");
    }
    let asks = place.ok("--as lea actor add-human new2 --role member --team team:ops");
    assert_eq!(asks.code, 4, "{asks}");
    let id = asks.stderr.split_whitespace().find(|word| word.starts_with("apr_")).unwrap();
    let decided = place.ana(&format!("approve {}", id.trim_end_matches(|c: char| !c.is_alphanumeric())));
    assert_eq!(decided.code, 0, "{decided}");
    let lines: Vec<&str> = decided.stdout.lines().collect();
    assert_eq!(lines[0], "lea adds new2 as member to team:ops");
    let at = |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{decided}"));
    assert!(at("team ") < at(" used"), "{decided}");
}
