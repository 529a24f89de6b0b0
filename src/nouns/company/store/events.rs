//! The events of the company itself.

use rusqlite::{OptionalExtension as _, params};

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::runs::{self, events::RUN};
use crate::to_json;

const COMPANY: Table = Table { name: "company", key: "id" };

use crate::settles::Settles;
events! {
    /// A company was created.
    CompanyCreated = "company_created" {
        name: String, seal: String,
    } about [] => {
        says: "created the company {name}",
        content: Content::SHOWN.hiding(&["seal"]), tables: &[COMPANY], memory: Memory::Nothing,
        settles: Settles::Nothing,
        fold: Some(created), notify: Notify::Nobody, news: None,
    }
    /// The company's settings changed.
    CompanyUpdated = "company_updated" {
        version: i64, settings: serde_json::Value,
    } about [] => {
        says: "changed the company’s settings",
        content: Content::SHOWN, tables: &[COMPANY, RUN], memory: Memory::Company, settles: Settles::Nothing,
        fold: Some(updated), notify: Notify::Nobody, news: None,
    }
    /// The log's key was lost. The machine's owner replaced it with a new one, which signs from this entry on and has re-signed the earlier log.
    LogRekeyed = "log_rekeyed" {
        size: u64, from: String, to: String,
    } about [] => {
        says: "replaced the log’s lost signing key with a new one",
        content: Content::SHOWN, tables: &[], memory: Memory::Nothing, settles: Settles::Nothing,
        fold: None, notify: Notify::Nobody, news: None,
    }
}

fn created(event: &CompanyCreated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    moment.conn.execute(
        "INSERT INTO company (id, name, version, settings, created_at) VALUES (1, ?, 1, '{}', ?)",
        params![event.name, moment.at.0],
    )?;
    Ok(Touched::Nothing)
}

fn updated(event: &CompanyUpdated, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let CompanyUpdated { version, settings } = event;
    let name = settings.get("name").and_then(serde_json::Value::as_str);
    let budget = "SELECT settings ->> 'budget_cents_month' FROM company";
    let budget = || moment.conn.query_row(budget, [], |row| row.get::<_, Option<i64>>(0)).optional();
    let before = budget()?;
    moment.conn.execute(
        "UPDATE company SET version = ?, settings = ?, name = coalesce(?, name)",
        params![version, to_json(settings)?, name],
    )?;
    if budget()? == before {
        return Ok(Touched::Company);
    }
    runs::look_again(moment)?;
    Ok(Touched::Company)
}
