//! The table of what is to be done outside, as events of more than one noun change it.

use rusqlite::params;

use super::KEPT;
use crate::event::{Moment, Table};

pub(crate) const OUTBOX: Table = Table { name: "outbox", key: "id" };

/// Nothing more is sent to a recipient.
pub(crate) fn cancel(moment: &Moment<'_>, recipient: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE outbox SET state = 'cancelled', due_at = NULL, ended_at = ?2 \
               WHERE recipient = ?1 AND state = 'pending'";
    moment.conn.prepare_cached(sql)?.execute(params![recipient, moment.at.0])?;
    Ok(())
}

/// Of what has ended, the newest are kept.
pub(super) fn forget_old(moment: &Moment<'_>, recipient: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE recipient = ?1 AND state <> 'pending' \
               ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?2)";
    moment.conn.prepare_cached(sql)?.execute(params![recipient, KEPT])?;
    Ok(())
}
