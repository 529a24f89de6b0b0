//! A company's log as it is begun, or picked up when its file is opened, with what `ok` itself records then.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::state::keys::{make_key, signer};
use crate::state::options::{CannotOpen, Options};
use crate::write::build_cache::BuildCache;
use crate::write::follow;
use crate::write::record::{Entry, GateRecord};
use log::append::Tail;
use log::journal::NotCommitted;
use log::record::{Decision, PolicyStamp};
use policy::{Bundle, Finding, Snapshot};
use store::company::events::CompanyCreated;
use store::company::{self, Instance};
use store::event::{Event, Moment};
use store::policies;
use store::policies::events::PolicyApplied;
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

/// Findings as one text.
pub(super) fn cannot_open(findings: Vec<Finding>) -> CannotOpen {
    CannotOpen::Policies(findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Makes a company: its log begins.
pub(super) fn create(
    conn: &mut Connection,
    options: &Options,
    build_cache: &BuildCache,
) -> Result<(Instance, Tail, Arc<Snapshot>), CannotOpen> {
    let now = options.clock.now();
    let policy = build_cache.snapshot(&options.policies).map_err(cannot_open)?;
    let ulid = ulid::Ulid::from_parts(u64::try_from(now.0).unwrap_or(0), options.entropy.bits128()).to_string();
    let instance = Instance { ulid, sealing: options.entropy.bytes32() };
    make_key(&options.path, &options.entropy.bytes32())?;
    let signer = signer(&options.path, &instance.ulid)?;
    let tx = conn.transaction()?;
    company::make_instance(&tx, &instance)?;
    let mut tail = Tail::create(signer, now);
    tail.take_over()?;
    let stamp = PolicyStamp { hash: String::new(), seq: 0 };
    // The key itself stays in its table: whoever edits it there is found out.
    let seal = hex::encode(Sha256::digest(instance.sealing));
    let created = CompanyCreated { name: "Company".into(), seal };
    log_by_system(&tx, &mut tail, OPENED, created.into(), stamp.clone(), options, now)?;
    log_by_system(&tx, &mut tail, OPENED, applied(1, &options.policies), stamp, options, now)?;
    tail.commit(&*options.journal, &tx, now).map_err(NotCommitted::into_fault)?;
    tx.commit()?;
    Ok((instance, tail, policy))
}

/// Picks a company up where it was left.
pub(super) fn resume(
    conn: &mut Connection,
    options: &Options,
    build_cache: &BuildCache,
    instance: Instance,
) -> Result<(Instance, Tail, Arc<Snapshot>), CannotOpen> {
    let signer = signer(&options.path, &instance.ulid)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut tail = Tail::resume(&tx, signer)?;
    if options.journal.is_shared() {
        tail.join(&*options.journal, &tx)?;
        follow::tables(&tx, &mut tail, &*options.journal)?;
    } else {
        tail.take_over()?;
    }
    let now = options.clock.now().max(tail.latest());
    let applied_now = policies::applied(&tx)?.ok_or_else(|| Fault::Broken("no policy was ever applied".into()))?;
    let in_force = Bundle { files: policies::files(&tx)? };
    let built_in = options.policies.clone().about_data_of(&in_force);
    let newer = applied_now.source == BUILT_IN && applied_now.hash != built_in.hash().as_str();
    let policy = if newer {
        // A new version of ok brings new defaults to a company that has never changed them.
        let policy = build_cache.snapshot(&built_in).map_err(cannot_open)?;
        let version = applied_now.version + 1;
        let stamp = PolicyStamp { hash: applied_now.hash, seq: applied_now.version };
        log_by_system(&tx, &mut tail, OPENED, applied(version, &built_in), stamp, options, now)?;
        policy
    } else {
        build_cache.snapshot(&in_force).map_err(cannot_open)?
    };
    tail.commit(&*options.journal, &tx, now).map_err(NotCommitted::into_fault)?;
    tx.commit()?;
    Ok((instance, tail, policy))
}

/// What is recorded when a file is opened is done by this.
const OPENED: &str = "company.open";
/// The source of policies that came with the binary.
const BUILT_IN: &str = "built-in";

fn applied(version: i64, bundle: &Bundle) -> Event {
    Event::from(PolicyApplied {
        version,
        hash: bundle.hash().to_string(),
        source: BUILT_IN.into(),
        change: None,
        proposal: None,
        files: bundle.files.clone(),
    })
}

pub(crate) fn log_by_system(
    conn: &Connection,
    tail: &mut Tail,
    operation: &str,
    event: Event,
    policy: PolicyStamp,
    options: &Options,
    now: Time,
) -> Result<(), CannotOpen> {
    let actor = ActorId::system();
    event.fold(&Moment { conn, seq: tail.next(), at: now, by: &actor })?;
    let gate = GateRecord { operation: operation.into(), channel: "cli".into(), ..GateRecord::default() };
    let entry = Entry { actor, event, decision: Decision::System, policy, idem: None, gate };
    tail.append(conn, &entry.for_log()?, now, options.entropy.bytes32())?;
    Ok(())
}
