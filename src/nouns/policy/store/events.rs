//! Events of the policies in force.

use std::collections::BTreeMap;

use rusqlite::params;

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::runs::{self, events::RUN};
use crate::settles::Settles;
use types::change::SourceKind;
use types::id::Id;

const POLICY: Table = Table { name: "policy", key: "version" };
const FILE: Table = Table { name: "policy_file", key: "path" };
const SOURCE: Table = Table { name: "policy_source", key: "id" };

events! {
    /// A policy bundle came into force.
    PolicyApplied = "policy_applied" {
        version: i64, hash: String, source: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Id>,
        /// The schema proposal that brought it: its policies are those of the version before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<Id>,
        files: BTreeMap<String, String>,
    } about [change] => {
        says: "brought version {version} of the policies into force",
        content: Content::SHOWN.hiding(&["files"]), tables: &[POLICY, FILE, RUN], memory: Memory::Policy,
        settles: Settles::Nothing,
        fold: Some(applied), notify: Notify::Nobody, news: None,
    }
    /// The source of the company's policies was set.
    PolicySourceChanged = "policy_source_changed" {
        kind: SourceKind, url: Option<String>, r#ref: Option<String>, path: Option<String>, auto: bool,
    } about [] => {
        says: "set the source of the policies to {kind}",
        content: Content::SHOWN, tables: &[SOURCE], memory: Memory::Policy, settles: Settles::Nothing,
        fold: Some(sourced), notify: Notify::Nobody, news: None,
    }
}

fn applied(event: &PolicyApplied, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let PolicyApplied { version, hash, source, change, proposal, files } = event;
    let change = change.as_ref().map(Id::as_str);
    moment.conn.execute(
        "INSERT INTO policy (version, hash, source, change, by, applied_at) VALUES (?, ?, ?, ?, ?, ?)",
        params![version, hash, source, change, moment.by.as_str(), moment.at.0],
    )?;
    // Files of an earlier version of ok have neither this column nor such events.
    if let Some(proposal) = proposal {
        let sql = "UPDATE policy SET proposal = ? WHERE version = ?";
        moment.conn.execute(sql, params![proposal.as_str(), version])?;
    }
    moment.conn.execute("DELETE FROM policy_file", [])?;
    let mut insert = moment.conn.prepare("INSERT INTO policy_file (path, text) VALUES (?, ?)")?;
    for (path, text) in files {
        insert.execute(params![path, text])?;
    }
    runs::look_again(moment)?;
    Ok(Touched::Policy)
}

fn sourced(event: &PolicySourceChanged, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let PolicySourceChanged { kind, url, r#ref, path, auto } = event;
    moment.conn.execute(
        "INSERT OR REPLACE INTO policy_source (id, kind, url, ref, path, auto) VALUES (1, ?, ?, ?, ?, ?)",
        params![kind.name(), url, r#ref, path, auto],
    )?;
    Ok(Touched::Policy)
}
