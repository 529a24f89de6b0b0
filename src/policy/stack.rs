//! A stack that is deep enough for the deepest policy that the bounds let through: parsing, validating and dropping one go
//! as deep as its text does, and a server thread's stack is small.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

const DEPTH: usize = 64 << 20;

/// Runs something on a thread of its own; on the caller's where there is none to be had. Pages of the stack that are not
/// touched cost nothing.
pub(super) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
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
