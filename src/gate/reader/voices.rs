//! Whose reviews and approvals still count after their author was stopped, has left, or has another role.

use std::collections::BTreeSet;

use super::Reader;
use crate::declare::noun::Directory as _;
use store::actors::{Actor, Status};
use store::approvals::{Approval, Decided};
use store::changes::{ProposedChange, Review};
use store::history;
use types::actor::{KillScope, Role};
use types::approval::Verdict;
use types::id::ActorId;
use types::time::Time;

impl Reader<'_> {
    /// Whether the reviews of a change that count are there, and all yes.
    pub fn is_reviewed(&self, change: &ProposedChange) -> bool {
        change.is_reviewed(|review| self.review_counts(review))
    }

    /// Returns whether a review still counts: its author is active, is not stopped by a kill switch, and has the same
    /// role as then or is an admin. The same must hold for the issuer of the token that it was given with. If that
    /// cannot be determined, the review does not count.
    pub fn review_counts(&self, review: &Review) -> bool {
        self.card(&review.by).is_some_and(|card| card.actor.status == Status::Active)
            && !self.world().is_stopped(&review.by)
            && self.is_as_then(&review.by, review.at)
            && self.is_vouched(review.issuer.as_ref(), review.at)
    }

    /// Returns whether a decision still counts. One that was made with an issued token has to be made again if the
    /// token's issuer does not vouch for it.
    pub fn decision_stands(&self, decided: &Decided) -> bool {
        self.is_vouched(decided.issuer.as_ref(), decided.at)
    }

    /// Whether a word is its giver's own, or whoever issued the token that it was given with is not stopped by a kill switch of
    /// their own, and is what they were then.
    fn is_vouched(&self, issuer: Option<&ActorId>, at: Time) -> bool {
        issuer.is_none_or(|issuer| {
            let own = KillScope::Actor(issuer.clone());
            !self.kills().any(|kill| kill.scope == own) && self.is_as_then(issuer, at)
        })
    }

    /// Whether somebody has not left since, and has the role that they had, or is an admin.
    fn is_as_then(&self, id: &ActorId, at: Time) -> bool {
        let Some(Actor { role, status, .. }) = self.card(id).map(|card| &card.actor) else { return false };
        // Who has left does not come back.
        if (*role, *status) == (Role::Admin, Status::Active) {
            return true;
        }
        let then = self.conn().and_then(|conn| Ok(history::standing_at(conn, id, at)?));
        then.is_ok_and(|then| then == Some((*role, *status == Status::Active)))
    }

    /// Returns whose agreement counts for a kind of approval: those who have agreed and may still decide. If the rule
    /// does not require distinct people, agreement to another kind counts too.
    pub fn voices(&self, approval: &Approval, kind: &str, may: &BTreeSet<ActorId>) -> Vec<ActorId> {
        let distinct = self.approval_rule(kind).distinct;
        let has_ended = approval.ended_at.is_some();
        let counts = |decided: &&Decided| match may.contains(&decided.by) {
            true => decided.kind == kind || !distinct,
            // What they agreed to is done.
            false => decided.kind == kind && has_ended,
        };
        let stands = |decided: &&Decided| has_ended || self.decision_stands(decided);
        let agreed = approval.decisions.iter().filter(|decided| decided.verdict == Verdict::Approve);
        agreed.filter(stands).filter(counts).map(|decided| decided.by.clone()).collect()
    }

    /// Whether enough people have agreed, whose voices count now.
    pub fn is_met(&self, approval: &Approval, kind: &str) -> bool {
        let voices = self.voices(approval, kind, &self.approvers(kind, approval));
        voices.len() >= self.approval_rule(kind).threshold as usize
    }
}
