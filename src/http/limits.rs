//! How much one client may ask of the server before it is cut off.

use std::time::Duration;

/// Bounds on connections and requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections in all.
    pub connections: usize,
    /// Open connections from one address. Loopback is exempt: a proxy on this machine speaks for many.
    pub per_address: usize,
    /// Until a request's head has arrived; also the longest silence on a connection that was never used.
    pub head: Duration,
    /// Silence between two requests.
    pub idle: Duration,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    pub headers: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a body that may hold a whole bundle of policies.
    pub large_body_bytes: usize,
    /// Silence while a body arrives.
    pub body_idle: Duration,
    /// Until a whole body has arrived.
    pub body_total: Duration,
    /// How long open requests may take after the server was told to stop.
    pub stopping: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 2_000,
            per_address: 50,
            head: Duration::from_secs(5),
            idle: Duration::from_secs(60),
            head_bytes: 32 * 1024,
            headers: 64,
            body_bytes: 1024 * 1024,
            large_body_bytes: 32 * 1024 * 1024,
            body_idle: Duration::from_secs(10),
            body_total: Duration::from_secs(30),
            stopping: Duration::from_secs(10),
        }
    }
}
