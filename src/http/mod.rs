//! A stand-in until the HTTP face is merged: it holds the address and waits.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;

/// What the server bounds.
#[derive(Clone, Debug, Default)]
pub struct Limits {}

/// Serves until `stop`.
pub async fn serve(
    _gate: Arc<Gate>,
    _listener: TcpListener,
    _limits: Limits,
    stop: CancellationToken,
) -> std::io::Result<()> {
    stop.cancelled().await;
    Ok(())
}
