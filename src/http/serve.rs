//! The loop that accepts connections. hyper is driven here directly, because its limits need a timer and
//! `axum::serve` sets none.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::dispatch::Client;
use super::framing::{Crooked, Framing};
use super::hosts::{Hosts, Refused};
use super::limits::Limits;
use super::pace::{Answering, Paced};
use super::proxies::{Proxies, counted};
use super::reply;
use super::rest::Rest;
use super::router::router;
use crate::gate::Gate;

/// What stands before the server.
#[derive(Clone, Debug, Default)]
pub struct Front {
    pub proxies: Proxies,
    pub hosts: Hosts,
}

/// Serves until `stop` is cancelled, then lets open requests finish.
pub async fn serve(
    gate: Arc<Gate>,
    listener: TcpListener,
    limits: Limits,
    front: Front,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let app = router(gate, limits, stop.clone());
    let slots = Arc::new(Semaphore::new(limits.connections));
    let addresses =
        Arc::new(Addresses { most: limits.per_address, most_loopback: limits.per_loopback, open: Mutex::default() });
    let graceful = GracefulShutdown::new();
    loop {
        let slot = tokio::select! {
            () = stop.cancelled() => break,
            slot = Arc::clone(&slots).acquire_owned() => slot.map_err(std::io::Error::other)?,
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let speaks_for_many = peer.ip().is_loopback() || front.proxies.trusts(peer.ip());
                if let Some(place) = Addresses::enter(&addresses, counted(peer.ip()), speaks_for_many) {
                    connection((&app, &front), &limits, stream, peer, &graceful, (slot, place));
                }
            }
            Err(error) => {
                // Out of descriptors, most likely: others will end first.
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(limits.stopping, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

fn connection(
    (app, front): (&Router, &Front),
    limits: &Limits,
    stream: TcpStream,
    peer: SocketAddr,
    graceful: &GracefulShutdown,
    held: (OwnedSemaphorePermit, Place),
) {
    let _ = stream.set_nodelay(true);
    let (app, front, served) = (app.clone(), front.clone(), *limits);
    let (answering, crooked) = (Answering::default(), Crooked::default());
    let framing = Framing::new(limits.head_bytes, crooked.clone());
    let paced = Paced::new(stream, limits.head, answering.clone(), framing);
    let count = AtomicU64::new(0);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        let client = counted(front.proxies.client(peer.ip(), request.headers()));
        request.extensions_mut().insert(Client(client));
        let by_proxy = front.proxies.trusts(peer.ip());
        if let Err(refusal) = front.hosts.admit(request.uri(), request.headers(), by_proxy) {
            request.extensions_mut().insert(Refused(refusal));
        }
        let (app, answering) = (app.clone(), answering.clone());
        let is_crooked = crooked.is(count.fetch_add(1, Ordering::Relaxed));
        answering.begin();
        async move {
            let response = if is_crooked {
                last(reply::crooked(), &answering)
            } else {
                one(app, request, &served, &answering).await
            };
            answering.end();
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle + limits.head)
        .max_buf_size(limits.head_bytes)
        // The buffer alone lets a head through that is read at one go.
        .max_header_size(limits.head_bytes)
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(paced), service);
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        let _held = held;
        if let Err(error) = watched.await {
            tracing::debug!(%peer, "a connection broke off: {error}");
        }
    });
}

/// Answers one request; what it left of its body is out of the way of the next one.
async fn one(app: Router, request: Request<Incoming>, limits: &Limits, answering: &Answering) -> Response {
    let (parts, body) = request.into_parts();
    let rest = Rest::of(&parts.headers, body);
    let request = Request::from_parts(parts, Body::new(rest.clone()));
    let is_long = request.uri().path_and_query().is_some_and(|target| target.as_str().len() > limits.target_bytes);
    let response = if is_long {
        StatusCode::URI_TOO_LONG.into_response()
    } else {
        app.oneshot(request).await.unwrap_or_else(|never| match never {})
    };
    if rest.read_away(limits).await { response } else { last(response, answering) }
}

/// The last answer on its connection.
fn last(mut response: Response, answering: &Answering) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answering.leave_unread();
    response
}

/// Open connections by address.
struct Addresses {
    most: usize,
    most_loopback: usize,
    open: Mutex<BTreeMap<IpAddr, usize>>,
}

/// One connection's place among those of its address.
struct Place(Arc<Addresses>, IpAddr);

impl Addresses {
    fn enter(all: &Arc<Addresses>, from: IpAddr, speaks_for_many: bool) -> Option<Place> {
        let mut open = all.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let count = open.entry(from).or_default();
        let most = if speaks_for_many { all.most_loopback } else { all.most };
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place(Arc::clone(all), from))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.0.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(count) = open.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.1);
            }
        }
    }
}
