//! The rules of the house that the compiler does not keep: who may use whom, one declaration for everything, and no
//! policy without a name.

mod circles;
mod nouns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cedar_policy::{ActionConstraint, Effect, PolicySet, Schema};
use ok::gate::Precondition;
use ok::gate::declare::operation::Effect as Does;
use ok::policy::Bundle;
use ok::store::event::EventKind;

use nouns::{modules, of_room, room};

fn root(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// Every file below a folder with this extension, by its path from the repository's root.
fn files(folder: &str, extension: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // What npm installs for the workspace is not the house's, and a great many files.
                if !path.ends_with("node_modules") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|one| one == extension) {
                let name = path.strip_prefix(root("")).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} below {folder}");
    found
}

/// A file without its comments; the tests at its end are left out too.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The words that follow `prefix` in a text.
fn words_after<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let end = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    text.match_indices(prefix).map(move |(at, _)| &text[at + prefix.len()..]).map(move |rest| &rest[..end(rest)])
}

/// The rooms that each room may use, besides itself.
fn below(room: &str) -> &'static [&'static str] {
    match room {
        "types" => &[],
        "adapters" | "log" | "store" | "policy" => &["types"],
        "gate" => &["types", "adapters", "log", "store", "policy"],
        "nouns" => &["types", "adapters", "log", "store", "policy", "gate"],
        "background" => &["types", "adapters", "log", "store", "policy", "gate", "nouns"],
        "demo" => &["types", "adapters", "log", "store", "policy", "gate", "nouns", "background"],
        // Nothing else knows the faces, and they do not know each other; the command line also starts the server.
        "http" | "mcp" => &["types", "adapters", "log", "store", "policy", "gate", "nouns", "background"],
        "cli" => &[
            "types",
            "adapters",
            "log",
            "store",
            "policy",
            "gate",
            "nouns",
            "background",
            "demo",
            "http",
            "mcp",
            "config",
        ],
        "config" => &["types"],
        "lib" | "main" => &["cli"],
        other => panic!("say in tests/house.rs what the room {other} may use"),
    }
}

/// The rooms that are crates of their own, by what their manifests say.
fn crates() -> BTreeMap<String, String> {
    let manifests = files("src", "toml").into_iter();
    manifests.map(|(name, text)| (name.split('/').nth(1).unwrap().to_owned(), text)).collect()
}

/// Of rooms that are crates, Cargo holds the code to the manifest; the manifest is held to the list here.
#[test]
fn a_crate_depends_only_on_rooms_above_it() {
    let (crates, manifest) = (crates(), std::fs::read_to_string(root("Cargo.toml")).unwrap());
    for (room, text) in &crates {
        let uses = |other: &&String| text.lines().any(|line| line == format!("{other}.workspace = true"));
        let used: Vec<&str> = crates.keys().filter(uses).map(String::as_str).collect();
        let outside: Vec<_> = used.iter().filter(|other| !below(room).contains(other)).collect();
        assert!(outside.is_empty(), "src/{room}/Cargo.toml names {outside:?}; {room} may use {:?}", below(room));
        let path = format!("{room} = {{ package = \"ok-{room}\", path = \"src/{room}\" }}");
        assert!(manifest.contains(&path), "Cargo.toml lacks {path}");
    }
    assert!(crates.len() > 5, "this test has lost sight of the crates");
}

/// The features of each library, `edges` taken into account: by its name and version.
fn libraries(edges: &str) -> BTreeMap<String, BTreeSet<String>> {
    let arguments = ["tree", "--offline", "--workspace", "--prefix", "none", "--format", "{p}|{f}", "--edges", edges];
    let cargo = std::process::Command::new("cargo").args(arguments).current_dir(root("")).output().unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    for line in String::from_utf8(cargo.stdout).unwrap().lines() {
        let Some((name, features)) = line.trim_end_matches(" (*)").split_once('|') else { continue };
        found.entry(name.to_owned()).or_default().insert(features.to_owned());
    }
    found
}

/// Else `cargo build` compiles it again, and all that uses it, each time that `cargo test` has.
#[test]
fn what_tests_turn_on_in_a_library_is_on_in_the_product() {
    let (product, tests) = (libraries("normal,build"), libraries("normal,build,dev"));
    for (name, features) in &product {
        assert_eq!(tests.get(name), Some(features), "name it in Cargo.toml, with what tests turn on in it: {name}");
    }
    assert!(product.len() > 300, "this test has lost sight of the libraries");
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let (crates, mut edges) = (crates(), 0);
    for (name, text) in files("src", "rs") {
        let room = room(&name);
        if crates.contains_key(room) {
            continue;
        }
        let (text, allowed) = (code(&text), below(room));
        let grouped = text.contains("use crate::{");
        assert!(!grouped, "{name}: name each room in a `use crate::` of its own, so that this test can read it");
        for used in words_after(&text, "crate::").chain(words_after(&text, "use ok::")) {
            edges += 1;
            assert!(used == room || allowed.contains(&used), "{name} uses crate::{used}; {room} may use {allowed:?}");
        }
    }
    assert!(edges > 100, "this test has lost sight of the code");
}

/// An arrow of the picture leads to a room that may be used, and each room that may be used is reached by arrows.
#[test]
fn the_picture_of_the_rooms_is_true() {
    let page = std::fs::read_to_string(root("docs/architecture.md")).unwrap();
    let picture = page.split("```mermaid").nth(1).unwrap().split("```").next().unwrap();
    let name = |side: &str| side.trim().split('[').next().unwrap().to_owned();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in picture.lines().filter_map(|line| line.split_once(" --> ")) {
        arrows.entry(name(from)).or_default().insert(name(to));
    }
    let rooms: BTreeSet<String> = files("src", "rs").keys().map(|name| room(name).to_owned()).collect();
    for room in rooms.iter().filter(|room| !["lib", "main"].contains(&room.as_str())) {
        let (mut reached, mut open) = (BTreeSet::new(), vec![room.clone()]);
        while let Some(next) = open.pop() {
            open.extend(arrows.get(&next).into_iter().flatten().filter(|to| reached.insert((*to).clone())).cloned());
        }
        let allowed: BTreeSet<String> =
            below(room).iter().map(|room| (*room).to_owned()).filter(|room| rooms.contains(room)).collect();
        assert_eq!(reached, allowed, "what the picture lets {room} use");
    }
}

#[test]
fn the_verifier_knows_nothing_of_the_writer() {
    let rooms = crates();
    for (name, text) in files("src/log/verify", "rs") {
        let text = code(&text);
        let own = |path: &str| path.starts_with("verify");
        let foreign = text.match_indices("crate::").find(|(at, _)| !own(&text[at + "crate::".len()..]));
        assert!(foreign.is_none(), "{name} uses the crate outside log::verify");
        let room = rooms.keys().find(|room| text.contains(&format!("use {room}::")));
        assert!(room.is_none(), "{name} uses {room:?}");
        let depth = name.matches('/').count() - "src/log/verify".matches('/').count();
        assert!(!text.contains(&"super::".repeat(depth + 1)), "{name} reaches out of log::verify");
    }
}

#[test]
fn an_operation_reaches_the_world_through_the_gate_alone() {
    for (name, text) in of_room("nouns") {
        let text = code(&text);
        for banned in
            ["rusqlite", "log::append", "std::env", "std::fs", "std::net", "tokio", "SystemTime", "Timestamp::now"]
        {
            assert!(!text.contains(banned), "{name} uses {banned}");
        }
    }
}

/// `types::json` refuses what `serde_json` passes over: members that stand twice.
#[test]
fn what_comes_from_outside_is_read_by_one_reader() {
    // They read what this program itself has just written.
    let own = [
        "src/cli/call.rs",
        "src/cli/socket.rs",
        "src/background/call.rs",
        "src/http/stream.rs",
        "src/http/stream/run.rs",
        "src/http/version.rs",
    ];
    for (name, text) in files("src", "rs") {
        let room = room(&name);
        // The others read what stands in the log and the tables.
        let outside = ["types", "policy", "nouns", "background", "http", "cli"].contains(&room);
        if outside && name != "src/types/json.rs" && !own.contains(&name.as_str()) {
            let reads = ["serde_json::from_slice", "serde_json::from_str", "serde_json::from_reader"];
            assert!(!reads.iter().any(|read| code(&text).contains(read)), "{name}: read JSON by types::json::read");
        }
    }
}

#[test]
fn only_one_module_prints() {
    for (name, text) in files("src", "rs").into_iter().filter(|(name, _)| !name.contains("/tests/")) {
        let text = code(&text);
        for printing in ["println!", "eprintln!", "print!(", "io::stdout", "io::stderr", "anstream"] {
            let prints = text.contains(printing);
            assert!(!prints || name == "src/cli/show.rs", "{name} has {printing}: only src/cli/show.rs prints");
        }
    }
}

#[test]
fn a_file_has_at_most_400_lines() {
    for (name, text) in files("src", "rs").into_iter().chain(files("tests", "rs")) {
        let lines = text.lines().count();
        assert!(lines <= 400, "{name} has {lines} lines: it is about more than one thing");
    }
}

#[test]
fn names_and_routes_are_unique() {
    let mut names = BTreeSet::new();
    let mut routes = BTreeSet::new();
    for entry in ok::nouns::OPERATIONS.iter() {
        assert!(names.insert(entry.spec.name), "{} is declared twice", entry.spec.name);
        let route = (entry.spec.route.method, entry.spec.route.address());
        assert!(!entry.spec.route.is_served() || routes.insert(route.clone()), "two operations at {route:?}");
        assert!(!entry.spec.doc.is_empty() && entry.spec.doc.ends_with('.'), "{} has no sentence", entry.spec.name);
    }
}

#[test]
fn a_query_declares_no_event_and_a_change_some() {
    for entry in ok::nouns::OPERATIONS.iter() {
        let records = !entry.spec.events.is_empty();
        assert_eq!(records, entry.effect != Does::Query, "{}", entry.spec.name);
    }
}

#[test]
fn what_answers_in_pages_has_a_place_apart() {
    for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.effect == Does::Query) {
        let fields = entry.input_schema().to_value()["properties"].clone();
        let is_paged = !fields["limit"].is_null() && entry.spec.route.is_served();
        assert!(!is_paged || entry.spec.route.slow.is_some(), "{} lacks `.listed()`", entry.spec.name);
    }
}

#[test]
fn what_changes_a_record_with_a_version_says_which_one_it_was_made_from() {
    for entry in ok::nouns::OPERATIONS.iter().filter(|entry| entry.effect == Does::Change) {
        let made_from = entry.spec.route.precondition.field();
        // What is made anew was made from nothing.
        let is_new = entry.spec.route.status == 201;
        assert!(made_from.is_some() || is_new || !entry.is_versioned(), "{} lacks `.made_from(…)`", entry.spec.name);
        let fields = entry.input_schema().to_value()["properties"].clone();
        assert!(made_from.is_none_or(|field| !fields[field].is_null()), "{} has no such field", entry.spec.name);
        let are_versioned = entry.spec.about.iter().all(|resource| resource.version.is_some());
        assert!(
            are_versioned || !matches!(entry.spec.route.precondition, Precondition::Current(_)),
            "{} is about what has no version",
            entry.spec.name
        );
    }
}

#[test]
fn each_operation_is_an_action_and_each_action_an_operation() {
    let (schema, _) = Schema::from_cedarschema_str(&ok::gate::declare::schema::schema(&ok::nouns::OPERATIONS)).unwrap();
    let names: BTreeSet<String> = ok::nouns::OPERATIONS.iter().map(|entry| entry.spec.name.to_owned()).collect();
    let groups: BTreeSet<String> =
        schema.action_groups().map(|uid| AsRef::<str>::as_ref(uid.id()).to_owned()).collect();
    let actions: BTreeSet<String> = schema.actions().map(|uid| AsRef::<str>::as_ref(uid.id()).to_owned()).collect();
    // A batch is a form of one decision: an operation can be the group of others.
    let groups = &groups - &names;
    assert_eq!(&actions - &groups, names);
    let mut named = BTreeSet::new();
    for policy in policies().policies() {
        let uids = match policy.action_constraint() {
            ActionConstraint::Any => Vec::new(),
            ActionConstraint::Eq(uid) => vec![uid],
            ActionConstraint::In(uids) => uids,
        };
        named.extend(uids.iter().map(|uid| AsRef::<str>::as_ref(uid.id()).to_owned()));
    }
    let unknown: Vec<_> = named.iter().filter(|name| !actions.contains(*name)).collect();
    assert!(unknown.is_empty(), "policies name actions that do not exist: {unknown:?}");
}

fn policies() -> PolicySet {
    let text: Vec<String> = Bundle::built_in()
        .files
        .into_iter()
        .filter(|(name, _)| name.ends_with(".cedar"))
        .map(|(_, text)| text)
        .collect();
    text.join("\n").parse().unwrap()
}

#[test]
fn a_policy_has_an_id_and_one_that_refuses_a_reason() {
    let mut ids = BTreeSet::new();
    for policy in policies().policies() {
        let id = policy.annotation("id").unwrap_or_else(|| panic!("a policy has no @id:\n{policy}"));
        assert!(ids.insert(id.to_owned()), "{id} is there twice");
        let reason = policy.annotation("reason").unwrap_or_default();
        assert!(policy.effect() == Effect::Permit || !reason.is_empty(), "{id} refuses without a @reason");
    }
    assert!(ids.len() > 10);
}

/// The name of an event's type in the code: `token_issued` is `TokenIssued`.
fn type_of(kind: EventKind) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    kind.name.split('_').map(capital).collect()
}

/// What no operation declares, the gate itself records: refusals, waits, what is to be told outside.
#[test]
fn an_event_has_somebody_who_records_it() {
    let declared: Vec<EventKind> = ok::nouns::OPERATIONS.iter().flat_map(|entry| entry.spec.events).copied().collect();
    let gate = of_room("gate").into_values().collect::<String>();
    let operations = of_room("nouns").into_values().collect::<String>();
    for kind in EventKind::all() {
        let made = format!("{} {{", type_of(kind));
        assert!(gate.contains(&made) || declared.contains(&kind), "{} is declared by no operation", kind.name);
        assert!(gate.contains(&made) || operations.contains(&made), "nothing records {}", kind.name);
    }
}

#[test]
fn every_noun_s_events_are_gathered_and_named_once() {
    let list = code(&std::fs::read_to_string(root("src/store/lib.rs")).unwrap());
    let mut declared = 0;
    let modules = modules();
    for (name, text) in of_room("store").into_iter().filter(|(name, _)| name.ends_with("/events.rs")) {
        let events = modules[&name].trim_start_matches("store::");
        assert!(list.contains(&format!("{events}::ALL,")), "{name} is not named in store::EVENTS");
        declared += text.matches("} about [").count();
    }
    let names: BTreeSet<&str> = EventKind::all().map(|kind| kind.name).collect();
    assert_eq!((names.len(), EventKind::all().count()), (declared, declared), "two events have one name");
    for kind in EventKind::all() {
        let hidden = kind.content.hidden;
        assert!(hidden.iter().all(|field| kind.fields.contains(field)), "{} hides a field that it lacks", kind.name);
    }
}

/// Commands ask with the types of an operation, so that a renamed field does not compile.
#[test]
fn a_command_asks_by_the_types_of_its_operation() {
    for (name, text) in of_room("cli") {
        let text = code(&text);
        let by_name = ["client::call", "client::attempt", "client::list(", "session.call("];
        let asks = by_name.into_iter().find(|asks| text.contains(asks));
        let asks = asks.filter(|_| !["src/cli/client.rs", "src/cli/operation.rs"].contains(&name.as_str()));
        assert!(asks.is_none(), "{name} has {asks:?}: ask with `query::<…>()` or `change::<…>()` of cli::operation");
    }
}

/// `make prove` tries them, which takes long; that the code was changed below one of them is told at once.
#[test]
fn mutants_of_the_loop_fit_its_code() {
    let patches = files("tests/mutants", "patch");
    for name in patches.keys() {
        let git = Command::new("git").args(["apply", "--check", name]).current_dir(root("")).output().unwrap();
        assert!(git.status.success(), "{name}: write it anew. {}", String::from_utf8_lossy(&git.stderr));
    }
}
