//! Opening a company: lock, file, key, log, tables, policy, writer. A folder without a state file becomes a new, empty
//! company; nothing in it is allowed to anybody until `ok init` names the first admin.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use arc_swap::ArcSwap;
use r2d2::Pool;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use tokio::sync::watch;
use zeroize::Zeroizing;

use crate::admit::lanes::{self, Lanes};
use crate::admit::limiter::Limiter;
use crate::admit::shares::Shares;
use crate::decide::ground::{Ground, Outside};
use crate::decide::world::World;
use crate::declare::operation::resources;
use crate::declare::schema::schema;
use crate::perform::{Gate, OWN_STREAMS, STREAMS};
use crate::reader::live::Live;
use crate::state::begin::{cannot_open, create, resume};
use crate::state::guard::Guard;
use crate::state::keys::{self, signer};
use crate::state::lock::{self, Lock, Tried, beside, resolved};
pub use crate::state::options::{CannotOpen, Options};
use crate::state::room::Room;
use crate::state::vault::Vault;
use crate::write::build_cache::BuildCache;
use crate::write::queue::{self, Job, Queue};
use crate::write::repeats::Repeats;
use crate::write::work::Work;
use crate::write::writer::Writer;
use log::append::{self, Tail};
use log::head;
use policy::{Bundle, Snapshot};
use store::brain::sum;
use store::company::{self, Instance};
use store::open::{self as file, Mode, OpenError};
use store::policies;
use store::webhooks;
use types::effort;
use types::egress::Egress;
use types::named::first_of;
use types::refusal::{Fault, Refusal};
use types::time::{Monotone, SECOND};

/// One for each place in the lanes; the others are for what is answered where it comes in.
const READERS: u32 = lanes::PLACES + 4;

/// An open company. Close it, or its last checkpoint is not published.
pub struct Company {
    pub gate: Arc<Gate>,
    pub lock: Lock,
    writer: JoinHandle<Connection>,
}

impl Company {
    /// Stops the writer after what it has taken, publishes the last checkpoint and gives the file up.
    pub async fn close(self) {
        let Company { gate, lock, writer } = self;
        let closed = tokio::task::spawn_blocking(move || {
            gate.queue.stop();
            let conn = writer.join();
            // The last connection to close tidies up, and must be the one that can write.
            drop(gate);
            drop(conn);
            drop(lock);
        });
        let _ = closed.await;
    }
}

/// The file's migrations, oldest first.
pub const SCHEMAS: &[&str] = &{
    let mut all = [append::SCHEMA; 1 + store::SCHEMAS.len()];
    if let [_log, tables @ ..] = all.as_mut_slice() {
        tables.copy_from_slice(store::SCHEMAS);
    }
    all
};

/// Opens a company, or makes one.
pub fn open(options: &Options) -> Result<Company, CannotOpen> {
    make_folder(&options.path)?;
    let options = &Options { path: resolved(&options.path), ..options.clone() };
    is_not_lost(&options.path)?;
    let (lock, room) = own(options)?;
    let mut conn = file::connect(&options.path, Mode::Write)?;
    file::prepare(&mut conn, &options.path, SCHEMAS)?;
    let build_cache = Arc::new(BuildCache::new(schema(options.entries)).with(&options.compiled));
    let (instance, tail, policy) = match company::instance(&conn)? {
        Some(instance) => resume(&mut conn, options, &build_cache, instance)?,
        None => create(&mut conn, options, &build_cache)?,
    };
    let head = head::head(&conn)?.ok_or_else(|| Fault::Broken("the log has no head".into()))?;
    let (vault, made) = vault(options)?;
    let key = vault.fingerprint()?;
    let webhooks = webhooks::made_from(&conn)?;
    let world = World::load(&conn, ground(options, (instance, policy), build_cache, vault), head)?;
    warn_of_other_key(&webhooks, &key, made);
    start(options, conn, tail, world, lock, room)
}

/// Receivers refuse what is signed with another secret than they were given.
fn warn_of_other_key(webhooks: &[(String, Option<String>)], key: &str, was_made: bool) {
    let is_other = |made_from: &Option<String>| made_from.as_deref().map_or(was_made, |made_from| made_from != key);
    let others: Vec<&str> =
        webhooks.iter().filter(|(_, made_from)| is_other(made_from)).map(|(id, _)| id.as_str()).collect();
    if !others.is_empty() {
        let what =
            if was_made { "was missing, and another was made" } else { "is not the one that they were made with" };
        tracing::warn!(
            "the key of the signing secrets {what}: receivers refuse messages of {} until it is back or each secret is rotated (`ok subscription rotate`)",
            first_of(&others, 5)
        );
    }
}

/// Another company would take over the key of one whose file was lost, and SQLite throw its write-ahead log away.
fn is_not_lost(path: &Path) -> Result<(), CannotOpen> {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    let left = [wal.into(), beside(path, "key")].into_iter().find(|left| left.exists());
    // Whatever has a key, or a write-ahead log, had tables before.
    let is_there = std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
    match left.filter(|_| !is_there) {
        Some(left) => Err(CannotOpen::Lost(path.to_owned(), left)),
        None => Ok(()),
    }
}

fn ground(
    options: &Options,
    (instance, policy): (Instance, Arc<Snapshot>),
    build_cache: Arc<BuildCache>,
    vault: Vault,
) -> Ground {
    Ground {
        policy,
        // It stands in the tables.
        version: 0,
        instance: Arc::new(instance),
        dev_auth: options.dev_auth,
        tools: Arc::clone(&options.tools),
        build_cache,
        nouns: resources(options.entries).nouns(),
        rates: Arc::default(),
        vault: Arc::new(vault),
        outside: Outside {
            egress: Arc::new(Egress { loopback: options.loopback, ports: options.ports.clone() }),
            models: Arc::clone(&options.models),
            systems: Arc::clone(&options.systems),
            embedder: options.embedder.clone(),
        },
        writes: Arc::new(AtomicBool::new(true)),
        entities: Arc::default(),
    }
}

/// Opens a company for reading, because its key is elsewhere. Nothing is written to its log; every call that would
/// write, even to record a refusal, is answered with the missing key.
pub fn open_to_read(options: &Options, missing: &CannotOpen) -> Result<Company, CannotOpen> {
    let options = &Options { path: resolved(&options.path), ..options.clone() };
    let (lock, _) = own(options)?;
    let mut conn = file::connect(&options.path, Mode::Write)?;
    file::prepare(&mut conn, &options.path, SCHEMAS)?;
    let build_cache = Arc::new(BuildCache::new(schema(options.entries)));
    let broken = |what: &str| Fault::Broken(what.to_owned());
    let instance = company::instance(&conn)?.ok_or_else(|| broken("there is no company in it"))?;
    let policy = build_cache.snapshot(&Bundle { files: policies::files(&conn)? }).map_err(cannot_open)?;
    let head = head::head(&conn)?.ok_or_else(|| broken("the log has no head"))?;
    // No secret leaves without being recorded.
    let vault = Vault::new(Zeroizing::new(options.entropy.bytes32()));
    let world = World::load(&conn, ground(options, (instance, policy), build_cache, vault), head)?;
    let (sender, jobs) = sync_channel::<Job>(queue::LENGTH);
    let (_, growing) = watch::channel(world.head.size as i64);
    let clock = Arc::new(Monotone::new(Arc::clone(&options.clock), world.head.ts));
    let refusal = Refusal::audit_unavailable(missing.to_string());
    let refuse = move || {
        for job in jobs {
            if matches!(job.work, Work::Stop) {
                break;
            }
            let _ = job.answer.send(Err(refusal.clone().into()));
        }
        conn
    };
    let writer = std::thread::spawn(refuse);
    let gate = gate(options, Arc::new(ArcSwap::from_pointee(world)), (Queue(sender), clock, growing))?;
    Ok(Company { gate: Arc::new(gate), lock, writer })
}

/// Makes this process the owner of the state file, which is there from now on.
pub(crate) fn own(options: &Options) -> Result<(Lock, Room), CannotOpen> {
    let mut lock = match lock::take(&options.path) {
        Ok(Tried::Ours(lock)) => lock,
        Ok(Tried::Held(holder)) => return Err(CannotOpen::Held(holder)),
        Err(error) => return Err(CannotOpen::Lock(options.path.clone(), error)),
    };
    // Before anything is written: on a full disk that takes the reserve.
    let mut room = Room::new(&options.path, options.low_water);
    room.make_way();
    lock.tell(None).map_err(|error| CannotOpen::Lock(options.path.clone(), error))?;
    file::make_private(&options.path)?;
    match lock.take_file(&options.path) {
        Ok(true) => Ok((lock, room)),
        Ok(false) => Err(CannotOpen::HeldElsewhere(options.path.clone())),
        Err(error) => Err(CannotOpen::Lock(options.path.clone(), error)),
    }
}

fn start(
    options: &Options,
    conn: Connection,
    tail: Tail,
    world: World,
    lock: Lock,
    mut room: Room,
) -> Result<Company, CannotOpen> {
    room.look();
    let behind = tail.ts().0.saturating_sub(options.clock.now().0);
    if behind > SECOND {
        tracing::warn!(behind_ms = behind, "the machine's clock is behind the newest entry; time continues from there");
    }
    let clock = Arc::new(Monotone::new(Arc::clone(&options.clock), tail.latest()));
    let published = Arc::new(ArcSwap::from_pointee(world.clone()));
    let (grown, growing) = watch::channel(tail.size() as i64);
    let (sender, jobs) = sync_channel(queue::LENGTH);
    let guard = Guard::new(options.path.clone(), &conn)?;
    let tail_ts = tail.ts();
    let writer = Writer {
        conn,
        resources: Arc::new(resources(options.entries)),
        tail,
        journal: Arc::clone(&options.journal),
        published: Arc::clone(&published),
        clock: Arc::clone(&clock),
        entropy: Arc::clone(&options.entropy),
        grown,
        reopen: reopener(options.path.clone(), world.instance.ulid.clone()),
        guard,
        room,
        repeats: Repeats::default(),
        swept: tail_ts,
        healthy: true,
        writes: Arc::clone(&world.writes),
        erased: false,
        again: false,
        world,
    };
    let thread = std::thread::Builder::new().name("writer".into()).stack_size(8 << 20);
    let writer = thread.spawn(move || writer.serve(&jobs)).map_err(|error| Fault::Broken(error.to_string()))?;
    let gate = gate(options, published, (Queue(sender), clock, growing))?;
    Ok(Company { gate: Arc::new(gate), lock, writer })
}

fn gate(
    options: &Options,
    world: Arc<ArcSwap<World>>,
    (queue, clock, grown): (Queue, Arc<Monotone>, watch::Receiver<i64>),
) -> Result<Gate, Fault> {
    Ok(Gate {
        entries: options.entries,
        resources: Arc::new(resources(options.entries)),
        world,
        readers: readers(&options.path)?,
        queue,
        limiter: Limiter::default(),
        clock,
        grown,
        lanes: Lanes::default(),
        streams: Shares::new(STREAMS, OWN_STREAMS),
        live: Live::default(),
    })
}

/// Frees room on a full disk for a process that only reads, because SQLite needs a little beside the file. False if
/// there is nothing to free, or if another process owns the file.
pub fn make_way(state: &Path) -> bool {
    let state = resolved(state);
    match lock::take(&state) {
        Ok(Tried::Ours(_lock)) => Room::new(&state, None).make_way().is_some(),
        Ok(Tried::Held(_)) | Err(_) => false,
    }
}

fn make_folder(path: &Path) -> Result<(), OpenError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            std::fs::create_dir_all(folder).map_err(|error| OpenError::Folder(folder.into(), error))
        }
        _ => Ok(()),
    }
}

fn readers(path: &Path) -> Result<crate::reader::Readers, Fault> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let manager = SqliteConnectionManager::file(path).with_flags(flags).with_init(|conn| {
        file::plan_once(conn)?;
        sum::teach(conn)?;
        // A statement ends with the work that it is a part of.
        conn.progress_handler(10_000, Some(|| effort::is_spent(0)))?;
        conn.execute_batch("PRAGMA query_only = ON; PRAGMA busy_timeout = 2000; PRAGMA trusted_schema = OFF")
    });
    let pool = Pool::builder().max_size(READERS).min_idle(Some(1)).test_on_check_out(false);
    Ok(pool.connection_timeout(std::time::Duration::from_millis(500)).build(manager)?)
}

fn reopener(path: PathBuf, ulid: String) -> Box<dyn Fn() -> Result<(Connection, Tail), Fault> + Send> {
    Box::new(move || {
        let broken = |error: &dyn std::fmt::Display| Fault::Broken(error.to_string());
        let conn = file::connect(&path, Mode::Write).map_err(|error| broken(&error))?;
        let tail = Tail::resume(&conn, signer(&path, &ulid).map_err(|error| broken(&error))?)?;
        Ok((conn, tail))
    })
}

/// The key that secrets are made from, made if there is none; whether it was made.
fn vault(options: &Options) -> Result<(Vault, bool), CannotOpen> {
    if let Some(key) = &options.secrets {
        return Ok((Vault::new(key.clone()), false));
    }
    let path = lock::beside(&options.path, "secrets");
    let key = Zeroizing::new(options.entropy.bytes32());
    let made = keys::make(&path, &key).and_then(|made| Ok((Vault::new(keys::read(&path)?), made)));
    made.map_err(|what| CannotOpen::Secrets(path, what))
}
