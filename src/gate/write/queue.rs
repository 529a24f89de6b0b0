//! The bounded queue to the writer. A job is taken by the writer or given up by its caller, never both: who flips its
//! flag first has it. So what was answered 503 did not happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::write::reply::Reply;
use crate::write::work::Work;
use types::refusal::{Code, Refusal, Stop};

/// Jobs that may wait for the writer.
pub const LENGTH: usize = 1_024;
/// How long a caller waits for its turn, and again for the disk.
pub const PATIENCE: Duration = Duration::from_secs(2);

const WAITING: u8 = 0;
const TAKEN: u8 = 1;
const GIVEN_UP: u8 = 2;

#[derive(Clone)]
pub(crate) struct Turn(Arc<AtomicU8>);

impl Turn {
    fn become_(&self, state: u8) -> bool {
        self.0.compare_exchange(WAITING, state, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
    /// The writer begins, or does it again; false if nobody waits any more.
    pub(crate) fn take(&self) -> bool {
        self.become_(TAKEN) || self.0.load(Ordering::Acquire) == TAKEN
    }
}

pub(crate) struct Job {
    pub work: Work,
    pub turn: Turn,
    pub answer: oneshot::Sender<Result<Reply, Stop>>,
}

#[derive(Clone)]
pub(crate) struct Queue(pub SyncSender<Job>);

impl Queue {
    /// Tells the writer to finish, however long the queue is.
    pub fn stop(&self) {
        let (answer, _) = oneshot::channel();
        let _ = self.0.send(Job { work: Work::Stop, turn: Turn(Arc::new(AtomicU8::new(WAITING))), answer });
    }

    /// Hands work to the writer and waits until its outcome is durable.
    pub async fn submit(&self, work: Work) -> Result<Reply, Stop> {
        let (answer, outcome) = oneshot::channel();
        let turn = Turn(Arc::new(AtomicU8::new(WAITING)));
        let job = Job { work, turn: turn.clone(), answer };
        self.0.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => Refusal {
                retry_after: Some(1),
                ..Refusal::new(Code::Unavailable, "too many changes at once; try again")
            },
            TrySendError::Disconnected(_) => Refusal::audit_unavailable("the server is stopping"),
        })?;
        let mut outcome = std::pin::pin!(outcome);
        if let Ok(done) = tokio::time::timeout(PATIENCE, outcome.as_mut()).await {
            return done.unwrap_or_else(|_| Err(gone(&turn)));
        }
        if turn.become_(GIVEN_UP) {
            return Err(Refusal::audit_unavailable("it is too busy; nothing was done").into());
        }
        match tokio::time::timeout(PATIENCE / 4, outcome).await {
            Ok(done) => done.unwrap_or_else(|_| Err(gone(&turn))),
            Err(_) => {
                let message =
                    "the disk does not answer and the outcome is not known; ask again with the same Idempotency-Key";
                Err(Refusal::audit_unavailable(message).into())
            }
        }
    }
}

/// The writer stopped before it came to the job, or broke off with it in hand.
fn gone(turn: &Turn) -> Stop {
    let message = match turn.become_(GIVEN_UP) {
        true => "the server is stopping; nothing was done",
        false => "the server broke off and the outcome is not known; ask again with the same Idempotency-Key",
    };
    Refusal::audit_unavailable(message).into()
}
