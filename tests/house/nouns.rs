//! A noun is one folder, `src/nouns/<noun>`. What of it belongs to a lower room or to the command line is a file or folder
//! there that is named like the room, and the room lists it: `#[path = "../nouns/task/store/mod.rs"] pub mod tasks;`.

use std::collections::BTreeMap;

use super::{code, files};

/// The rooms that have parts in the nouns' folders.
const LISTS: [&str; 4] = ["types", "store", "gate", "cli"];

/// The room of a file, by where it stands.
pub fn room(file: &str) -> &str {
    let mut parts = file.trim_start_matches("src/").split(['/', '.']);
    let room = parts.next().unwrap();
    let part = parts.nth(1).filter(|part| room == "nouns" && LISTS.contains(part));
    part.unwrap_or(room)
}

/// The files of a room, wherever they stand.
pub fn of_room(room: &str) -> BTreeMap<String, String> {
    let mut found = files("src", "rs");
    found.retain(|name, _| self::room(name) == room);
    assert!(!found.is_empty(), "the room {room} has no files");
    found
}

/// Where the parts stand that rooms list, and the module that each is there.
fn listed() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (list, text) in files("src", "rs") {
        let lines: Vec<&str> = text.lines().collect();
        for two in lines.windows(2) {
            let [path, module] = two else { continue };
            let Some(path) = path.strip_prefix("#[path = \"../nouns/").and_then(|path| path.strip_suffix("\"]")) else {
                assert!(
                    !path.starts_with("#[path"),
                    "{list} has {path}: only the nouns' parts are listed by their paths"
                );
                continue;
            };
            let name = module.trim_start_matches("pub ").trim_start_matches("mod ").trim_end_matches(';');
            assert!(name.chars().all(|c| c == '_' || c.is_ascii_lowercase()), "{list} lists {path} as {module:?}");
            let parent = plain(&list);
            found.insert(format!("src/nouns/{path}"), format!("{parent}::{name}"));
        }
    }
    assert!(found.len() > 40, "this test has lost sight of the nouns' parts");
    found
}

/// The module of a file that stands where its module does: `src/gate/reader/mod.rs` and `src/gate/reader.rs` are
/// `gate::reader`; the root of a crate is its room.
fn plain(file: &str) -> String {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").or(path.strip_suffix("/lib")).unwrap_or(path);
    path.replace('/', "::")
}

/// The module of each file.
pub fn modules() -> BTreeMap<String, String> {
    let listed = listed();
    let folders = listed.iter().filter_map(|(file, module)| Some((file.strip_suffix("mod.rs")?, module)));
    // Of folders in each other, the inner one.
    let folders: Vec<(&str, &String)> = folders.rev().collect();
    let module = |file: &str| {
        let below =
            |(folder, module): &(&str, &String)| Some(format!("{module}::{}", plain(file.strip_prefix(folder)?)));
        listed.get(file).cloned().or_else(|| folders.iter().find_map(below)).unwrap_or_else(|| plain(file))
    };
    files("src", "rs").into_keys().map(|file| (file.clone(), module(&file))).collect()
}

#[test]
fn each_part_of_a_noun_is_in_the_room_that_it_is_named_after() {
    for (file, module) in listed() {
        let listing = module.split("::").next().unwrap();
        assert_eq!(room(&file), listing, "{file} is listed by {listing}");
    }
    for (file, module) in modules() {
        let room = room(&file);
        assert!(module == room || module.starts_with(&format!("{room}::")), "no list of {room} names {file}");
    }
}

/// Only what several nouns use stands in a lower room itself: a table or events of one noun would not be found there.
#[test]
fn a_noun_s_tables_events_and_commands_are_in_its_folder() {
    let shared = ["content", "decisions", "done", "outbox", "search"];
    for (name, text) in files("src/store", "rs") {
        let of_all = shared.iter().any(|one| name.starts_with(&format!("src/store/{one}")));
        let declares = ["\nevents! {", " = Table { name", ": List<"].into_iter().find(|one| code(&text).contains(one));
        assert!(of_all || declares.is_none(), "{name} has {declares:?}: it belongs to a noun");
    }
    for (name, text) in files("src/cli", "rs").into_iter().filter(|(name, _)| name != "src/cli/operation.rs") {
        let declared = ["change::<", "query::<"].into_iter().find(|one| code(&text).contains(&format!("&{one}")));
        assert!(declared.is_none(), "{name} declares a command of an operation: it belongs to a noun");
    }
}
