//! A new signing key for a log whose key is lost. The owner of the machine may do this, and nobody else can: it needs
//! neither a permission of the company nor a signature of the lost key, and both the log and its verifier say so.
//!
//! Only an intact company gets a new key; otherwise the key would vouch for what somebody changed in the meantime.

use std::path::PathBuf;

use rusqlite::{Connection, TransactionBehavior};
use zeroize::Zeroizing;

use crate::state::begin;
use crate::state::keys;
use crate::state::lock;
use crate::state::open::{self, CannotOpen, Options};
use crate::state::refold;
use log::append::Tail;
use log::checkpoint::Signer;
use log::head::{self, Head};
use log::journal::NotCommitted;
use log::record::PolicyStamp;
use log::verify::{Ask, verify_sqlite};
use store::company::{self, events::LogRekeyed};
use store::open::{self as file, Mode};
use store::policies;
use types::refusal::Fault;

#[derive(Debug, thiserror::Error)]
pub enum CannotRekey {
    #[error(transparent)]
    Open(#[from] CannotOpen),
    #[error("the key is at {0}; only a lost one is replaced")]
    KeyIsThere(PathBuf),
    #[error(
        "{1} is not the key that the log is now signed with, which is in {0}; move {1} away and run `ok audit rekey` again"
    )]
    OtherKey(PathBuf, PathBuf),
    #[error("{0}; `ok audit verify` reports all of it. Nothing was changed: a new key would vouch for it")]
    NotWhole(String),
}

impl<E> From<E> for CannotRekey
where
    Fault: From<E>,
{
    fn from(error: E) -> CannotRekey {
        CannotRekey::Open(CannotOpen::Fault(error.into()))
    }
}

/// Makes the key, has it sign the log over, and gives the log's newest state.
pub fn rekey(options: &Options) -> Result<Head, CannotRekey> {
    let options = &Options { path: lock::resolved(&options.path), ..options.clone() };
    // Reading makes no file where there is none.
    drop(file::connect(&options.path, Mode::Read).map_err(CannotOpen::from)?);
    let (_lock, _room) = open::own(options)?;
    let (path, part) = (lock::beside(&options.path, "key"), lock::beside(&options.path, "key.part"));
    if path.exists() && !part.exists() {
        return Err(CannotRekey::KeyIsThere(path));
    }
    let mut conn = file::connect(&options.path, Mode::Write).map_err(CannotOpen::from)?;
    file::prepare(&mut conn, &options.path, open::SCHEMAS).map_err(CannotOpen::from)?;
    let broken = || Fault::Broken("the state file contains no company".into());
    let instance = company::instance(&conn)?.ok_or_else(broken)?;
    let head = head::head(&conn)?.ok_or_else(broken)?;
    let cannot = |what| CannotOpen::Key(part.clone(), what);
    // It has its name once the log is signed with it; whoever died before goes on with the same one.
    let has_signed = part.exists() && keys::signer_of(&part, &instance.ulid)?.vkey() == head.vkey();
    if !has_signed {
        if path.exists() {
            return Err(CannotRekey::KeyIsThere(path));
        }
        look(&conn)?;
        keys::make(&part, &Zeroizing::new(options.entropy.bytes32())).map_err(cannot)?;
        sign_over(&mut conn, keys::signer_of(&part, &instance.ulid)?, &head, options)?;
    }
    // The lost one may have been found meanwhile, and nothing else may keep it.
    if path.exists() {
        return Err(CannotRekey::OtherKey(part, path));
    }
    keys::settle(&part, &path).map_err(cannot)?;
    Ok(head::head(&conn)?.ok_or_else(broken)?)
}

fn look(conn: &Connection) -> Result<(), CannotRekey> {
    let report = verify_sqlite(conn, &Ask::default()).map_err(|why| Fault::Broken(why.to_string()))?;
    if let Some(problem) = report.problems.first() {
        let place = problem.seq.map(|seq| format!("event {seq}: ")).unwrap_or_default();
        return Err(CannotRekey::NotWhole(format!("{place}{}", problem.message)));
    }
    match refold::compare(conn)?.first() {
        Some(found) => Err(CannotRekey::NotWhole(format!("table {}: {} {}", found.table, found.key, found.message))),
        None => Ok(()),
    }
}

fn sign_over(conn: &mut Connection, signer: Signer, former: &Head, options: &Options) -> Result<(), CannotRekey> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = options.clock.now().max(former.ts);
    let to = signer.vkey();
    let mut tail = Tail::adopt(&tx, signer, now)?;
    let applied = policies::applied(&tx)?.ok_or_else(|| Fault::Broken("no policy was ever applied".into()))?;
    let stamp = PolicyStamp { hash: applied.hash, seq: applied.version };
    let event = LogRekeyed { size: former.size, from: former.vkey().to_owned(), to };
    begin::log_by_system(&tx, &mut tail, "audit.rekey", event.into(), stamp, options, now)?;
    tail.take_over()?;
    tail.publish_newest();
    tail.commit(&*options.journal, &tx, now).map_err(NotCommitted::into_fault)?;
    Ok(tx.commit()?)
}
