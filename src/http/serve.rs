//! The loop that accepts connections. hyper is driven here directly, because its limits need a timer and
//! `axum::serve` sets none.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::connections::{Connections, Place};
use super::dispatch::Client;
use super::framing::{Crooked, Framing};
use super::hosts::{Hosts, Refused, Served};
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
    /// The company's name, chosen with `--tenant` among several.
    pub tenant: Option<Arc<str>>,
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
    let connections = Connections::new(&limits);
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let speaks_for_many = peer.ip().is_loopback() || front.proxies.trusts(peer.ip());
                if let Some(place) = connections.enter(counted(peer.ip()), speaks_for_many) {
                    connection((&app, &front), &limits, stream, peer, &graceful, place);
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
    place: Place,
) {
    let _ = stream.set_nodelay(true);
    let (app, front, served) = (app.clone(), front.clone(), *limits);
    let (answering, crooked) = (Answering::default(), Crooked::default());
    let framing = Framing::new(limits.head_bytes, crooked.clone());
    let paced = Paced::new(stream, limits.head, answering.clone(), framing);
    let (count, of) = (AtomicU64::new(0), Arc::clone(&place.connection));
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        let client = counted(front.proxies.client(peer.ip(), request.headers()));
        request.extensions_mut().insert(Client { address: client, connection: Arc::clone(&of) });
        request.extensions_mut().insert(Served(front.tenant.clone()));
        let by_proxy = front.proxies.trusts(peer.ip());
        if let Err(refusal) = front.hosts.admit(request.uri(), request.headers(), by_proxy) {
            request.extensions_mut().insert(Refused(refusal));
        }
        let (app, answering) = (app.clone(), answering.clone());
        let is_crooked = crooked.is(count.fetch_add(1, Ordering::Relaxed));
        answering.begin();
        let busy = of.busy();
        async move {
            let response = if is_crooked {
                last(reply::crooked(), &answering)
            } else {
                one(app, request, &served, &answering).await
            };
            answering.end();
            Ok::<_, Infallible>(response.map(|body| busy.until_sent(body)))
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
        tokio::select! {
            ended = watched => if let Err(error) = ended {
                tracing::debug!(%peer, "a connection broke off: {error}");
            },
            () = place.connection.closed() => {}
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
