//! The events of kill switches.

use rusqlite::{OptionalExtension as _, params};

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::Settles;
use crate::{inbox, parsed};
use types::actor::KillScope;
use types::id::ActorId;
use types::inbox::ItemKind;

const KILL: Table = Table { name: "kill", key: "scope" };

events! {
    /// A kill switch was engaged or released.
    KillSwitch = "kill_switch" {
        scope: KillScope, engaged: bool, reason: String,
    } about [scope] => {
        says: "{engaged?engaged|released} the kill switch `{scope}`[: «{reason}»]",
        content: Content::SHOWN, tables: &[KILL], memory: Memory::Kills, settles: Settles::Nothing,
        fold: Some(switched), notify: Notify::AndShow(notify), news: None,
    }
}

fn switched(event: &KillSwitch, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let scope = event.scope.to_string();
    if event.engaged {
        moment.conn.execute(
            "INSERT OR REPLACE INTO kill (scope, reason, by, at) VALUES (?, ?, ?, ?)",
            params![scope, event.reason, moment.by.as_str(), moment.at.0],
        )?;
    } else {
        moment.conn.execute("DELETE FROM kill WHERE scope = ?", [scope])?;
    }
    Ok(Touched::Kills)
}

/// Notifies whoever is stopped, or their owner.
fn notify(event: &KillSwitch, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let scope = event.scope.to_string();
    let id = match &event.scope {
        _ if !event.engaged => return inbox::resolve(moment, &scope),
        KillScope::Actor(id) => id,
        KillScope::Global | KillScope::Tool(_) | KillScope::Team(_) => return Ok(()),
    };
    let answers = moment
        .conn
        .prepare_cached("SELECT coalesce(owner, id) FROM actor WHERE id = ?")?
        .query_row([id.as_str()], |row| parsed::<ActorId>(row, 0))
        .optional()?;
    let title = format!("a kill switch stops {id}");
    answers.iter().try_for_each(|actor| inbox::add(moment, actor, ItemKind::Alert, &scope, &title))
}
