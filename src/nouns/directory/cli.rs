//! `ok directory`: finds people and agents, and shows agent cards.

use super::column::{columns, free};
use super::command::{Commands, group};
use super::operation::query;
use crate::nouns::directory::{Cards, Find, Found};

pub const COMMANDS: Commands = &[&group(
    "directory",
    "Find who can do something",
    &[
        &query::<Find>()
            .command("find")
            .help("Find people and agents by skill or name, the best match first")
            .table("nobody", columns!(Found; actor, name, kind, team, trust, why)),
        &query::<Cards>()
            .command("cards")
            .help("List the agents as A2A agent cards")
            .table("nobody", free!(name, description, version)),
    ],
)];
