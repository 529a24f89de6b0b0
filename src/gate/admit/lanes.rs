//! Where long work is done: apart from calls that are answered at once, a few pieces at a time, each with a deadline
//! and a limited effort, and only as long as somebody waits for it. Each lane has places of its own, so lists never
//! wait for comparisons; each caller has a share of the places.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::admit::shares::{Place, Shares};
use crate::declare::route::Lane;
use crate::write::queue::PATIENCE;
use adapters;
use types::caller::{Caller, Channel};
use types::effort::{Effort, Ended};
use types::refusal::{Code, Refusal, Stop, TOO_LONG};

/// Places of all lanes together.
pub(crate) const PLACES: u32 = LISTS.0 + APPROVALS.0 + POLICIES.0 + LONG.0 + CHANGES.0 + ELSEWHERE.0;
/// Places of a lane, and how many of them one caller may have.
const LISTS: (u32, u32) = (6, 2);
const APPROVALS: (u32, u32) = (3, 2);
const POLICIES: (u32, u32) = (4, 2);
const LONG: (u32, u32) = (6, 3);
/// For what changes take that are long to make ready: whoever may only ask keeps nobody from changing policies.
const CHANGES: (u32, u32) = (3, 2);
const ELSEWHERE: (u32, u32) = (8, 3);
/// Changes that take long in the writer and may wait for it at once, and how many of them are one caller's.
const HEAVY_CHANGES: (u32, u32) = (8, 2);
/// What is read from so many bytes takes a further place: it compiles to many times its size.
const HEAVY: usize = 256 << 10;
/// How long work may take for whoever asks over HTTP, and for whoever holds the state file.
const DEADLINE: Duration = Duration::from_secs(60);
const HOLDERS_DEADLINE: Duration = Duration::from_secs(600);
/// How long somebody waits for a place among what takes long: as long as what is there before them may take. Whoever has just
/// been has their turn after them.
const LONG_PATIENCE: Duration = Duration::from_secs(30);
/// More than another system's own limit, which ends a question first: what came until then is an answer.
const ELSEWHERE_DEADLINE: Duration = adapters::LONGEST.saturating_add(Duration::from_secs(25));
/// Evaluations of policies, or what costs as much.
const FUEL: i64 = 500_000_000;

/// What is done in a lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A question is answered.
    Question,
    /// A change is made ready, before it has its turn.
    Change,
}

pub(crate) struct Lanes {
    lists: Shares,
    approvals: Shares,
    policies: Shares,
    long: Shares,
    changes: Shares,
    elsewhere: Shares,
    heavy: Shares,
    /// Whether what takes long is done no more.
    closed: watch::Sender<bool>,
}

impl Default for Lanes {
    fn default() -> Lanes {
        let lane = |(total, part)| Shares::new(total, part);
        let (lists, approvals) = (lane(LISTS), lane(APPROVALS));
        let (policies, long, changes) = (lane(POLICIES), lane(LONG), lane(CHANGES));
        let (elsewhere, heavy, closed) = (lane(ELSEWHERE), lane(HEAVY_CHANGES), watch::Sender::new(false));
        Lanes { lists, approvals, policies, long, changes, elsewhere, heavy, closed }
    }
}

impl Lanes {
    fn of(&self, lane: Lane, purpose: Purpose) -> &Shares {
        match lane {
            Lane::Policies | Lane::Long if purpose == Purpose::Change => &self.changes,
            Lane::Lists => &self.lists,
            Lane::Approvals => &self.approvals,
            Lane::Policies => &self.policies,
            Lane::Long => &self.long,
            Lane::Elsewhere => &self.elsewhere,
        }
    }

    /// A place among the changes that take long in the writer, for those that do.
    pub(crate) async fn heavy(&self, lane: Option<Lane>, caller: &Caller) -> Result<Option<Place>, Refusal> {
        if !lane.is_some_and(Lane::is_long) {
            return Ok(None);
        }
        let place = self.heavy.take(caller.actor().as_str(), 1, PATIENCE).await;
        place.map(Some).ok_or_else(|| busy("too many long changes at once; try again"))
    }

    /// Ends the work in the long lanes and accepts no more, because the server is stopping. Callers can try again.
    pub(crate) fn close_long(&self) {
        self.closed.send_replace(true);
    }

    /// Does what takes long in its lane.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        (lane, purpose): (Lane, Purpose),
        bytes: usize,
        caller: &Caller,
        work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Stop> {
        let work = self.in_lane((lane, purpose), bytes, caller, work);
        if !lane.is_long() {
            return work.await;
        }
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            // Without a time to wait: whoever asked again at once would find nobody.
            _ = closed.wait_for(|closed| *closed) => Err(Refusal::new(Code::Unavailable, "the server is stopping").into()),
            done = work => done,
        }
    }

    async fn in_lane<T: Send + 'static>(
        &self,
        (lane, purpose): (Lane, Purpose),
        bytes: usize,
        caller: &Caller,
        work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Stop> {
        let count = u32::try_from(1 + bytes / HEAVY).unwrap_or(u32::MAX);
        let patience = if lane.is_long() { LONG_PATIENCE } else { PATIENCE };
        let place = self.of(lane, purpose).take(caller.actor().as_str(), count, patience).await;
        let place = place.ok_or_else(|| busy("too many long questions at once; try again"))?;
        let effort = Effort::new(FUEL);
        // Whoever hangs up drops this, and with it the work.
        let wanted = effort.wanted();
        let task = tokio::task::spawn_blocking({
            let effort = effort.clone();
            move || {
                // It is given back when the work has really ended.
                let _place = place;
                catch_unwind(AssertUnwindSafe(|| effort.within(work)))
            }
        });
        let deadline = match lane {
            _ if caller.channel == Channel::Cli => HOLDERS_DEADLINE,
            Lane::Elsewhere => ELSEWHERE_DEADLINE,
            Lane::Lists | Lane::Approvals | Lane::Policies | Lane::Long => DEADLINE,
        };
        let done = timeout(deadline, task).await;
        // What fails while it is being ended fails because of that.
        let has_ended = effort.has_ended();
        drop(wanted);
        match done {
            Err(_) => Err(too_long()),
            Ok(Ok(Ok(Err(Stop::Failed(_))))) if has_ended => Err(too_long()),
            Ok(Ok(Ok(done))) => done,
            Ok(Ok(Err(unwound))) => ended(unwound),
            Ok(Err(panic)) => resume_unwind(panic.into_panic()),
        }
    }
}

fn ended<T>(unwound: Box<dyn Any + Send>) -> Result<T, Stop> {
    if unwound.is::<Ended>() { Err(too_long()) } else { resume_unwind(unwound) }
}

fn too_long() -> Stop {
    Refusal::new(Code::Unavailable, format!("{TOO_LONG}; ask for less at once")).into()
}

fn busy(message: &str) -> Refusal {
    Refusal { retry_after: Some(1), ..Refusal::new(Code::Unavailable, message) }
}

#[cfg(test)]
mod tests {
    use types::caller::Who;

    use super::*;

    #[tokio::test]
    async fn a_change_is_made_ready_while_questions_have_all_the_places_of_what_takes_long() {
        let lanes = Lanes::default();
        let mut taken = Vec::new();
        for number in 0..POLICIES.0 {
            taken.push(lanes.policies.take(&format!("member{number}"), 1, Duration::ZERO).await.unwrap());
        }
        assert!(lanes.policies.take("another", 1, Duration::ZERO).await.is_none());
        let steward = Caller::new(Who::Holder("sam".parse().unwrap()), Channel::Http);
        let made = lanes.apart((Lane::Policies, Purpose::Change), 0, &steward, || Ok(())).await;
        assert!(made.is_ok());
    }
}
