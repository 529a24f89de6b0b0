//! How much one client may ask of the server before it is cut off.

use std::time::Duration;

/// Bounds on connections and requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections in all. Where there are as many as may be, `connections` says which is closed for a new one.
    pub connections: usize,
    /// Open connections from one address.
    pub per_address: usize,
    /// Open connections from a loopback address or a trusted proxy, which speaks for many and is not all that there is.
    pub per_loopback: usize,
    /// Until a request's head has arrived; also the longest silence on a connection that was never used.
    pub head: Duration,
    /// Silence between two requests.
    pub idle: Duration,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    pub headers: usize,
    /// Bytes of a request's target: its path and query.
    pub target_bytes: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a body that may hold a whole bundle of policies.
    pub large_body_bytes: usize,
    /// Bytes of a body that are read before the policies are asked whether its sender could be allowed anything.
    pub early_bytes: usize,
    /// Bytes of all longer bodies that are being read or worked on; each caller has at most half of them.
    pub bodies_bytes: usize,
    /// What is read of a body that nobody wants, so that its connection can be used again.
    pub rest_bytes: u64,
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
            per_loopback: 1_500,
            head: Duration::from_secs(5),
            idle: Duration::from_secs(60),
            head_bytes: 32 * 1024,
            headers: 64,
            target_bytes: 8 * 1024,
            body_bytes: 1024 * 1024,
            large_body_bytes: 32 * 1024 * 1024,
            early_bytes: 64 * 1024,
            bodies_bytes: 64 * 1024 * 1024,
            rest_bytes: 256 * 1024,
            body_idle: Duration::from_secs(10),
            body_total: Duration::from_secs(30),
            stopping: Duration::from_secs(10),
        }
    }
}
