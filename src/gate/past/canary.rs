//! A candidate next to the policies in force: it is asked the same questions on a share of the traffic, and its answers
//! are counted. They are used for nothing else, so it never changes an answer.
//!
//! Its counts stay in memory until the tick records them; a server that dies loses the latest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::write::build_cache::BuildCache;
use policy::{Bundle, Ruling, Snapshot};
use store::changes::{self, ProposedChange};
use store::policies;
use types::caller::Caller;
use types::impact::{Over, Shifted, TrialTerms, Trialled};
use types::refusal::Fault;
use types::time::Time;

/// Samples that are kept.
const SAMPLES: usize = 20;

/// A candidate and what it has shown.
pub struct Trial {
    pub change: ProposedChange,
    terms: TrialTerms,
    candidate: Snapshot,
    passing: AtomicU64,
    seen: Mutex<Trialled>,
}

/// The change that is tried, if one is; `running` goes on if it is still that one, with all that it has seen.
pub(crate) fn of(
    conn: &Connection,
    build_cache: &BuildCache,
    running: Option<Arc<Trial>>,
) -> Result<Option<Arc<Trial>>, Fault> {
    let Some(change) = changes::tried(conn)? else { return Ok(None) };
    let running = running.filter(|running| running.change.id == change.id && running.change.terms == change.terms);
    // Asked about the collections in force, whose schema may have changed.
    let in_force = Bundle { files: policies::files(conn)? };
    let wanted = Bundle { files: changes::files(conn, &change.id)? }.about_collections_of(&in_force);
    if let Some(running) = running.as_ref().filter(|running| running.candidate.hash() == wanted.hash().as_str()) {
        return Ok(Some(Arc::clone(running)));
    }
    let Some(terms) = change.terms.clone() else { return Ok(None) };
    let Ok(compiled) = build_cache.snapshot(&wanted) else {
        // It was proposed under another version of ok, or about other data; there is nothing to try.
        tracing::warn!(change = change.id, "a candidate no longer loads and is not evaluated");
        return Ok(None);
    };
    let seen = running.map_or_else(|| change.trialled.clone().unwrap_or_default(), |running| running.trialled());
    let seen = Mutex::new(seen);
    // Apart: what it cannot evaluate is no fault of the policies that serve.
    let candidate = compiled.apart();
    Ok(Some(Arc::new(Trial { change, terms, candidate, passing: AtomicU64::new(0), seen })))
}

impl Trial {
    /// Asks the candidate too, where this decision is one of its share.
    pub(crate) fn watch(
        &self,
        caller: &Caller,
        about: impl FnOnce() -> (String, String),
        now: Time,
        ruling: &Ruling,
        ask: impl FnOnce(&Snapshot) -> Option<Ruling>,
    ) {
        let number = self.passing.fetch_add(1, Ordering::Relaxed);
        if number % 100 >= u64::from(self.terms.percent) || !self.over().is_empty() {
            return;
        }
        // What its schema does not take is no decision of it.
        let Some(asked) = ask(&self.candidate) else { return };
        let (before, after) = (ruling.decision(), asked.decision());
        let mut seen = self.seen();
        seen.matrix.count(before, after);
        if before != after && seen.samples.len() < SAMPLES {
            let (actor, (operation, target)) = (caller.actor(), about());
            seen.samples.push(Shifted { at: now, operation, actor, target, before, after });
        }
    }

    fn seen(&self) -> MutexGuard<'_, Trialled> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the candidate looks at what actors have done.
    pub(crate) fn looks_back(&self) -> bool {
        self.candidate.looks_back()
    }

    /// What it has shown so far.
    pub fn trialled(&self) -> Trialled {
        self.seen().clone()
    }

    /// The budgets that it does not keep.
    pub fn over(&self) -> Vec<Over> {
        let newly = self.seen().matrix.newly();
        self.terms.abort_if.over(newly)
    }
}
