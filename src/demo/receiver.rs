//! The demo's webhook receiver on this machine: reports the messages that arrive.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::acting::Acting;
use super::{in_words, listen};
use crate::gate::Gate;
use crate::nouns::webhook::OneWebhook;
use crate::nouns::webhook::deliveries::Test;
use crate::nouns::webhook::list::List;
use crate::nouns::webhook::update::{Changes, Update};
use crate::types::id::ActorId;
use crate::types::json;
use crate::types::page::ListQuery;

/// The default port.
const PORT: u16 = 8089;
/// The maximum characters of a message that are reported.
const MOST: usize = 300;
/// The description of the webhook that points here.
const DESCRIPTION: &str = "The demo's receiver on this machine";
const ADMIN: &str = "ana";

pub struct Receiver {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl Receiver {
    /// Listens on the default port, or on any free one.
    pub async fn listen() -> std::io::Result<Receiver> {
        let (listener, address) = listen((Ipv4Addr::LOCALHOST, PORT)).await?;
        Ok(Receiver { listener, address })
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Accepts messages until `stop`, and reports each.
    pub async fn serve(self, report: fn(&str), stop: CancellationToken) {
        let app = Router::new().route("/hook", post(arrived)).with_state(Arc::new(report));
        let served = axum::serve(self.listener, app).with_graceful_shutdown(stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::warn!("the demo's receiver ended: {error}");
        }
    }
}

async fn arrived(State(report): State<Arc<fn(&str)>>, body: Bytes) -> StatusCode {
    let message: Value = json::read(&body).unwrap_or_default();
    let kind = message.get("type").and_then(Value::as_str).unwrap_or("a message");
    let text: String = String::from_utf8_lossy(&body).chars().take(MOST).collect();
    report(&format!("webhook: {kind} arrived: {text}"));
    StatusCode::NO_CONTENT
}

/// Points the demo's webhook at the receiver's current address, and sends a test message.
pub async fn point_here(gate: &Arc<Gate>, url: &str) -> Result<(), String> {
    let admin: ActorId = ADMIN.parse().map_err(|error| format!("{error}"))?;
    let admin = Acting { gate, who: Some(&admin) };
    let hooks = admin.query::<List>(&ListQuery::default()).await.map_err(|stop| in_words(&stop))?;
    let Some(hook) = hooks.data.into_iter().rev().find(|hook| hook.description == DESCRIPTION) else {
        return Ok(());
    };
    if hook.url != url {
        let there = Changes { id: hook.id.clone(), url: Some(url.to_owned()), ..Changes::default() };
        admin.change::<Update>(&there).await.map_err(|stop| in_words(&stop))?;
    }
    admin.change::<Test>(&OneWebhook { id: hook.id }).await.map(drop).map_err(|stop| in_words(&stop))
}
