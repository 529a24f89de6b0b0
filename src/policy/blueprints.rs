//! The starting companies that come with the binary, as they stand in `blueprints/` when it is built.

use std::collections::{BTreeMap, BTreeSet};

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../blueprints/"]
#[exclude = "README.md"]
struct Files;

/// Their ids, sorted.
pub fn ids() -> BTreeSet<String> {
    Files::iter().filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect()
}

/// The files of one, text by path below its folder; empty for one that there is not.
pub fn files(id: &str) -> BTreeMap<String, String> {
    let read = |path: std::borrow::Cow<'static, str>| {
        let below = path.strip_prefix(id)?.strip_prefix('/')?.to_owned();
        let file = Files::get(&path)?;
        Some((below, String::from_utf8_lossy(&file.data).into_owned()))
    };
    Files::iter().filter_map(read).collect()
}
