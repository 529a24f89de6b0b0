//! The open connections, limited in total and for each address. If no place is left, a new connection takes the place
//! of the one that would be missed least, so that nobody shuts others out by merely holding connections open. The order
//! is: first a connection on which no request is being answered, those on which nobody has shown a token before those
//! on which somebody has; then one that is busy for a caller without a token, or for one whose request has not arrived
//! completely; among equals, the one that has been in that state longest. A connection on which a complete request with
//! a valid token is being answered is closed for another only if its holder has more than a fair share of them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use crate::types::id::ActorId;

/// How many requests of one holder are answered at once before others' come first.
const FAIR_PART: usize = 256;
/// Between two lines of the server's log about connections that were closed or refused for want of a place.
const REPORT_AGAIN: Duration = Duration::from_secs(60);

pub(super) struct Connections {
    most: usize,
    per_address: usize,
    per_loopback: usize,
    began: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: BTreeMap<u64, Arc<Connection>>,
    by_address: BTreeMap<IpAddr, usize>,
    reported_at: Option<Instant>,
}

/// What is known of one open connection.
#[derive(Debug)]
pub(super) struct Connection {
    address: IpAddr,
    began: Instant,
    /// Whether somebody has ever shown a good token on it; and with the request that is answered now.
    was_known: AtomicBool,
    is_known: AtomicBool,
    /// Who holds that token, as a hash.
    holder: AtomicU64,
    under_way: AtomicU32,
    /// Milliseconds after `began` at which it became quiet or busy.
    since: AtomicU64,
    closed: CancellationToken,
}

/// One connection's place; given back when dropped.
pub(super) struct Place {
    of: Arc<Connections>,
    id: u64,
    pub connection: Arc<Connection>,
}

impl Connections {
    pub fn new(limits: &Limits) -> Arc<Connections> {
        let Limits { connections: most, per_address, per_loopback, .. } = *limits;
        Arc::new(Connections { most, per_address, per_loopback, began: Instant::now(), open: Mutex::default() })
    }

    /// A place for a connection from an address; `None` where all that it could have are busy for somebody known.
    pub fn enter(self: &Arc<Connections>, address: IpAddr, speaks_for_many: bool) -> Option<Place> {
        let most = if speaks_for_many { self.per_loopback } else { self.per_address };
        let mut open = self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let of_address = open.by_address.get(&address).copied().unwrap_or_default();
        if of_address >= most {
            open.make_room(Some(address), of_address)?;
        } else if open.all.len() >= self.most {
            let all = open.all.len();
            open.make_room(None, all)?;
        }
        let connection = Arc::new(Connection {
            address,
            began: self.began,
            was_known: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            holder: AtomicU64::new(0),
            under_way: AtomicU32::new(0),
            since: AtomicU64::new(elapsed(self.began)),
            closed: CancellationToken::new(),
        });
        let id = open.next;
        open.next += 1;
        open.all.insert(id, Arc::clone(&connection));
        *open.by_address.entry(address).or_default() += 1;
        Some(Place { of: Arc::clone(self), id, connection })
    }
}

impl Open {
    /// Closes the connection that would be missed least, of an address or of all.
    fn make_room(&mut self, address: Option<IpAddr>, count: usize) -> Option<()> {
        let within = |one: &&Connection| address.is_none_or(|address| one.address == address);
        let rank = |one: &Connection| {
            (one.is_busy(), one.was_known.load(Ordering::Relaxed), one.since.load(Ordering::Relaxed))
        };
        let open = self.all.iter().filter(|(_, one)| within(&one.as_ref()));
        let mut held: BTreeMap<u64, usize> = BTreeMap::new();
        for one in self.all.values().filter(|one| one.is_somebodys()) {
            *held.entry(one.holder.load(Ordering::Relaxed)).or_default() += 1;
        }
        let has_fair_part =
            |one: &Connection| held.get(&one.holder.load(Ordering::Relaxed)).is_none_or(|count| *count <= FAIR_PART);
        let least =
            open.filter(|(_, one)| !(one.is_somebodys() && has_fair_part(one))).min_by_key(|(_, one)| rank(one));
        let least = least.map(|(id, _)| *id);
        self.tell(address, count, least.is_some());
        self.leave(least?);
        Some(())
    }

    fn tell(&mut self, address: Option<IpAddr>, count: usize, has_room: bool) {
        if self.reported_at.is_some_and(|reported_at| reported_at.elapsed() < REPORT_AGAIN) {
            return;
        }
        self.reported_at = Some(Instant::now());
        let from = address.map(|address| format!(" from {address}")).unwrap_or_default();
        if has_room {
            tracing::warn!("all {count} connections{from} are taken: for each new one, the idlest is closed");
        } else {
            tracing::warn!("all {count} connections{from} are taken and busy: new ones are refused");
        }
    }

    fn leave(&mut self, id: u64) {
        let Some(connection) = self.all.remove(&id) else { return };
        connection.closed.cancel();
        if let Some(count) = self.by_address.get_mut(&connection.address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&connection.address);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).leave(self.id);
    }
}

impl Connection {
    /// The request under way has a token that is good.
    pub fn begins_for(&self, holder: &ActorId) {
        let mut hasher = DefaultHasher::new();
        holder.hash(&mut hasher);
        self.holder.store(hasher.finish(), Ordering::Relaxed);
        self.was_known.store(true, Ordering::Relaxed);
    }

    /// It has come whole, and is answered.
    pub fn has_come(&self) {
        self.is_known.store(self.was_known.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether somebody waits on it for the answer to a whole request.
    fn is_somebodys(&self) -> bool {
        self.is_busy() && self.is_known.load(Ordering::Relaxed)
    }

    /// It was closed for another.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// A request is answered on it until what this gives is dropped.
    pub fn busy(self: &Arc<Connection>) -> Busy {
        // Requests of one connection are answered one after the other; a proxy sends those of many people over one.
        self.is_known.store(false, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.changed();
        Busy(Arc::clone(self))
    }

    fn changed(&self) {
        self.since.store(elapsed(self.began), Ordering::Relaxed);
    }

    fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }
}

/// As long as it lives, its connection answers a request.
pub(super) struct Busy(Arc<Connection>);

impl Busy {
    /// An answer's body that keeps the connection busy until it is sent.
    pub fn until_sent(self, body: Body) -> Body {
        Body::new(Sending { body, _busy: self })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
        self.0.changed();
    }
}

struct Sending {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn elapsed(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
