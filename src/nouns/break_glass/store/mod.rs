//! The table of break-glass grants: holder, scope, expiry and review.

pub mod events;

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::{Deserialize, Serialize};

use super::list::{self, List};
use super::{Position, json, parsed, parsed_or_null};
use types::break_glass::BreakGlassVerdict;
use types::id::{ActorId, Id};
use types::operations::Operations;
use types::time::Time;

/// A break-glass grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakGlass {
    pub id: Id,
    pub holder: ActorId,
    /// The issuer of the token used to open it, if not the holder.
    pub issuer: Option<ActorId>,
    pub operations: Operations,
    pub reason: String,
    pub created_at: Time,
    /// When it expires or ended.
    pub expires_at: Time,
    /// How many calls proceeded because of it.
    pub uses: u32,
    pub review: Option<GrantReview>,
}

/// Another person's review of a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantReview {
    pub by: ActorId,
    pub verdict: BreakGlassVerdict,
    pub note: String,
    pub at: Time,
}

impl BreakGlass {
    /// Checks whether the grant still applies.
    pub fn is_active(&self, now: Time) -> bool {
        now < self.expires_at && self.review.is_none()
    }
}

const COLUMNS: &str =
    "id, holder, operations, reason, created_at, expires_at, uses, reviewer, verdict, note, reviewed_at, issuer";

fn read(row: &Row<'_>) -> rusqlite::Result<BreakGlass> {
    let review = match row.get::<_, Option<i64>>(10)? {
        None => None,
        Some(at) => {
            Some(GrantReview { by: parsed(row, 7)?, verdict: parsed(row, 8)?, note: row.get(9)?, at: Time(at) })
        }
    };
    Ok(BreakGlass {
        id: Id::stored(&row.get::<_, String>(0)?),
        holder: parsed(row, 1)?,
        issuer: parsed_or_null(row, 11)?,
        operations: json(row, 2)?,
        reason: row.get(3)?,
        created_at: Time(row.get(4)?),
        expires_at: Time(row.get(5)?),
        uses: row.get(6)?,
        review,
    })
}

pub fn get(conn: &Connection, id: &str) -> rusqlite::Result<Option<BreakGlass>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM break_glass WHERE id = ?"))?.query_row([id], read).optional()
}

/// Returns unreviewed grants, oldest first.
pub fn unreviewed(conn: &Connection) -> rusqlite::Result<Vec<BreakGlass>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM break_glass WHERE reviewed_at IS NULL ORDER BY created_at, id"
    ))?
    .query_map([], read)?
    .collect()
}

/// How grants are listed.
pub const LIST: List<BreakGlass> = List {
    table: "break_glass",
    columns: COLUMNS,
    there: "TRUE",
    own: &["holder = ?4"],
    theirs: &[],
    read,
    complete: list::whole,
    position,
};

pub fn position(break_glass: &BreakGlass) -> Position {
    Position { at: break_glass.created_at.0, id: break_glass.id.to_string() }
}
