//! Threads for work with policies. One with a stack that is deep enough for the deepest policy that the bounds let through:
//! parsing, validating and dropping one go as deep as its text does, and a server thread's stack is small. And one on each
//! core for many things of one kind.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};
use std::thread::{Builder, available_parallelism, scope};

use types::effort;

const DEPTH: usize = 64 << 20;
/// Held by whoever works on every core.
static TURN: Mutex<()> = Mutex::new(());

/// Runs something on a thread of its own; on the caller's where there is none to be had. Pages of the stack that are not
/// touched cost nothing.
pub fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let effort = effort::current();
    let mut work = Some(move || effort::carry(effort, work));
    let mut done = None;
    let (slot, place) = (&mut work, &mut done);
    scope(|scope| {
        let run = move || *place = slot.take().map(|work| work());
        let ended = Builder::new().stack_size(DEPTH).spawn_scoped(scope, run).map_or(Ok(()), |thread| thread.join());
        if let Err(panic) = ended {
            resume_unwind(panic);
        }
    });
    match (done, work) {
        (Some(done), _) => done,
        (None, Some(work)) => work(),
        (None, None) => resume_unwind(Box::new("the work was lost")),
    }
}

/// Does the same with each of many things, on every core. The caller's own thread works too, so deeply recursive work
/// must begin on a deep stack. If another call is already parallel, this one works alone, because a server has other
/// callers. Results are in the order of the things.
pub fn each<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, effort) = (AtomicUsize::new(0), effort::current());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(at) else { return done };
            effort::spend(1);
            done.push((at, work(thing)));
        }
    };
    let turn = match TURN.try_lock() {
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    let cores = if turn.is_some() { available_parallelism().map_or(1, NonZero::get) } else { 1 };
    let others = cores.min(things.len()).saturating_sub(1);
    let mut done = scope(|scope| {
        let helped = || effort::carry(effort.clone(), worker);
        let other = |_| Builder::new().stack_size(DEPTH).spawn_scoped(scope, helped).ok();
        let others: Vec<_> = (0..others).filter_map(other).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
