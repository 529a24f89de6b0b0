//! How much work one long-running task may still do, and whether anybody still wants the result. Loops that outside
//! input can make long spend from it as they run; once nothing is left, or nobody waits any more, the work ends at that
//! point.
//!
//! It ends by unwinding, as rust-analyzer ends work that has become pointless: resources are released, no result has to
//! be threaded through everything in between, and the code that began the work catches the unwinding. Work without an
//! effort (the command line, the writer) never ends this way.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Shared by all threads of one piece of work, and by whoever may end it.
#[derive(Clone, Debug)]
pub struct Effort(Arc<AtomicI64>);

/// What work unwinds with that has ended before its end.
pub struct Ended;

thread_local! {
    static OF_THIS_THREAD: RefCell<Option<Effort>> = const { RefCell::new(None) };
}

impl Effort {
    /// `fuel` is counted in evaluations of policies, or in what costs as much.
    pub fn new(fuel: i64) -> Effort {
        Effort(Arc::new(AtomicI64::new(fuel)))
    }

    /// Ends the work at its next step.
    pub fn end(&self) {
        self.0.store(i64::MIN / 2, Ordering::Relaxed);
    }

    pub fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 0
    }

    /// Ends the work when the guard goes, unless the work was done by then.
    pub fn wanted(&self) -> Wanted {
        Wanted(self.clone())
    }

    /// Does the work on this thread.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        carry(Some(self.clone()), work)
    }
}

/// As long as it is there, somebody waits for the work.
pub struct Wanted(Effort);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What this thread works under, to hand on to the threads that help it.
pub fn current() -> Option<Effort> {
    OF_THIS_THREAD.with_borrow(Clone::clone)
}

/// Works under an effort that was handed on.
pub fn carry<T>(effort: Option<Effort>, work: impl FnOnce() -> T) -> T {
    struct Back(Option<Effort>);
    impl Drop for Back {
        fn drop(&mut self) {
            OF_THIS_THREAD.set(self.0.take());
        }
    }
    let _back = Back(OF_THIS_THREAD.replace(effort));
    work()
}

/// Spends some of what this thread works under.
pub fn spend(steps: usize) {
    if is_spent(steps) {
        resume_unwind(Box::new(Ended));
    }
}

/// Spends like `spend`, for code that must not unwind: returns true if the work is to end.
pub fn is_spent(steps: usize) -> bool {
    OF_THIS_THREAD.with_borrow(|effort| {
        let Some(Effort(left)) = effort else { return false };
        let steps = i64::try_from(steps).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        // What has ended is not counted further down: the count would come out at the top again.
        left.load(Ordering::Relaxed) < 0 || left.fetch_sub(steps, Ordering::Relaxed) < steps
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn ends(effort: &Effort, work: impl FnOnce()) -> bool {
        let done = catch_unwind(AssertUnwindSafe(|| effort.within(work)));
        done.is_err_and(|end| end.is::<Ended>())
    }

    #[test]
    fn work_ends_when_its_fuel_is_spent_or_nobody_wants_it() {
        assert!(!ends(&Effort::new(3), || spend(3)));
        assert!(ends(&Effort::new(3), || (0..4).for_each(|_| spend(1))));
        let effort = Effort::new(i64::MAX);
        drop(effort.wanted());
        assert!(effort.has_ended() && ends(&effort, || spend(1)));
        assert!(ends(&effort, || (0..3).for_each(|_| spend(usize::MAX))), "it stays ended");
        // Without one, and after one, nothing ends.
        spend(usize::MAX);
    }

    #[test]
    fn threads_that_help_work_under_the_same() {
        let effort = Effort::new(10);
        let helped = effort.within(|| {
            let handed = current();
            std::thread::spawn(move || carry(handed, || (is_spent(8), is_spent(8)))).join().unwrap()
        });
        assert_eq!(helped, (false, true));
        assert!(effort.has_ended());
    }
}
