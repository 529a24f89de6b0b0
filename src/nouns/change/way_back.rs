//! Rejects policies that could not be changed again once they are in force: they would lock the company out of its own
//! policies for good.

use std::sync::Arc;

use serde_json::json;

use gate::{Could, HypotheticalCall, Reader, Target};
use policy::Snapshot;
use store::changes::ProposedChange;
use types::change::{ChangeState, ChangeTarget};
use types::id::ActorId;
use types::refusal::Refusal;
use types::time::{DAY, HOUR, Time};

/// A lockout must end by itself within this many days, or be removed now.
const DAYS: i64 = 31;
/// A lockout that lasts this many years counts as permanent.
const YEARS: i64 = 20;
const HALF_HOUR: i64 = HOUR / 2;
/// A placeholder id of a change.
const ANY: &str = "chg_01M00000000000000000000000";

/// The days after which somebody can change the policies, soon and late; or why nobody can.
type Found = Result<[i64; 2], String>;

/// Searches before a change has its turn, since that may take long in a large company. The result is cached.
pub fn look(change: (ChangeTarget, &ActorId), policies: &Arc<Snapshot>, read: &Reader<'_>) {
    read.build_cache().put(&key(change.0, policies), Search { change, policies: &unheard(policies), read }.found());
}

/// Refuses policies under which nobody could change policies: now, or from a time on that they name. Prohibitions for some days
/// or at some hours only are accepted, since they end by themselves.
pub fn keeps(change: (ChangeTarget, &ActorId), policies: &Arc<Snapshot>, read: &Reader<'_>) -> Result<(), Refusal> {
    let search = Search { change, policies: &unheard(policies), read };
    let found = match read.build_cache().get::<Found>(&key(change.0, policies)).as_deref() {
        Some(Err(why)) => Err(why.clone()),
        // The people found then may have left since.
        Some(Ok(after)) if after.iter().all(|days| search.way(*days).is_ok()) => return Ok(()),
        _ => search.found().map(drop),
    };
    found.map_err(|why| Refusal::conflict(format!("under these policies{why}")))
}

/// Explains why nobody could change policies under these; `None` if somebody could.
pub fn locked_out(policies: &Arc<Snapshot>, read: &Reader<'_>) -> Option<String> {
    let author = read.caller().actor();
    let search = Search { change: (ChangeTarget::Policy, &author), policies: &unheard(policies), read };
    search.found().err().map(|why| format!("under these policies{why}"))
}

/// Keeps evaluation errors of hypothetical questions from being reported.
fn unheard(policies: &Snapshot) -> Arc<Snapshot> {
    Arc::new(policies.apart())
}

fn key(target: ChangeTarget, policies: &Snapshot) -> String {
    format!("way back {} {}", target.name(), policies.hash())
}

struct Search<'a> {
    /// The target of the promoted change, and its author.
    change: (ChangeTarget, &'a ActorId),
    policies: &'a Arc<Snapshot>,
    read: &'a Reader<'a>,
}

impl Search<'_> {
    fn found(&self) -> Found {
        let soon = match self.way(0) {
            Ok(()) => 0,
            Err(why) => self.way(DAYS).map(|()| DAYS).map_err(|_| format!(" {why}"))?,
        };
        let late = YEARS * 365;
        self.way(late).map_err(|why| format!(", as they decide in {YEARS} years, {why}"))?;
        Ok([soon, late])
    }

    /// Checks whether a change has a way into force this many days from now, each step at any full or half hour of the day.
    /// Only `toTime` lets policies tell these times apart permanently.
    fn way(&self, days: i64) -> Result<(), String> {
        let (target, author) = self.change;
        let tell = self.policies.policies().any(|policy| policy.text.contains("toTime"));
        let then = self.read.now().plus_ms(days * DAY);
        let since = then.0.rem_euclid(HALF_HOUR);
        let halves = (1..=if tell { DAY / HALF_HOUR } else { 0 }).map(|half| then.plus_ms(half * HALF_HOUR - since));
        let at: Vec<Time> = std::iter::once(then).chain(halves).collect();
        let change = ProposedChange::proposed(ANY.to_owned(), target, author.clone(), self.read.now());
        Way { change, policies: self.policies, at: &at, read: self.read }.is_open()
    }
}

/// The read required to test, review or promote a change.
const READ: &str = "change.read";
/// The message if nobody could release a kill switch.
const RELEASES: &str = "nobody could release the kill switch `global` while it is engaged, when no approval can be decided: permit `kill` \
                        with `off` to somebody at once";

/// Checks whether performing an operation requires seeing the change.
fn sees(operation: &str) -> bool {
    operation.starts_with("change.") && operation != READ
}

fn open_to(operation: &str, could: Could) -> Result<(), String> {
    let why = match could {
        Could::Somebody => return Ok(()),
        Could::Nobody => {
            format!(
                "nobody could perform {operation}, even with approvals, so they could never be changed again: permit it to somebody{}",
                if sees(operation) { ", who also needs `change.read`" } else { "" }
            )
        }
        Could::TooFew(kind) => format!(
            "{operation} needs the approval `{kind}`, which too few people can give, and nobody could add people, so they \
             could never be changed again: first make sure that enough people can give `{kind}`"
        ),
    };
    Err(why)
}

/// The way into force of a change under `policies`, each step decided at any of these times.
struct Way<'a> {
    change: ProposedChange,
    policies: &'a Arc<Snapshot>,
    at: &'a [Time],
    read: &'a Reader<'a>,
}

impl Way<'_> {
    /// Checks whether somebody could propose another change and have it promoted.
    fn is_open(&self) -> Result<(), String> {
        let proposal =
            HypotheticalCall { operation: "policy.propose", target: &Target::Company, input: None, sight: None };
        open_to("policy.propose", self.read.who_could(self.policies, proposal, self.at))?;
        // A kill switch that nobody may release blocks everything.
        let target = crate::kill::release(self.read);
        if !self.read.could_release(self.policies, &target, self.at) && self.read.could_release_now(&target) {
            return Err(RELEASES.to_owned());
        }
        let mut proposers = self.read.not_denied(self.policies, proposal, self.at);
        if proposers.is_empty() {
            // Somebody who joins could propose.
            proposers.push(self.change.author.clone());
        }
        let mut ways = proposers.into_iter().map(|author| self.of(author).leads_into_force());
        let first = ways.next().unwrap_or(Ok(()));
        if first.is_err() && ways.any(|way| way.is_ok()) { Ok(()) } else { first }
    }

    /// Returns the way of a change by another author.
    fn of(&self, author: ActorId) -> Self {
        Way {
            change: ProposedChange { author, ..self.change.clone() },
            policies: self.policies,
            at: self.at,
            read: self.read,
        }
    }

    fn leads_into_force(&self) -> Result<(), String> {
        for operation in [READ, "change.evals"] {
            open_to(operation, self.could(operation, ChangeState::Proposed, false))?;
        }
        if self.promotion(ChangeState::Proposed, false) == Could::Somebody {
            return Ok(());
        }
        open_to("change.review", self.could("change.review", ChangeState::Proposed, false))?;
        open_to("change.promote", self.promotion(ChangeState::Approved, true))
    }

    /// Returns who could promote it, at once or after a canary.
    fn promotion(&self, state: ChangeState, reviewed: bool) -> Could {
        match self.could("change.promote", state, reviewed) {
            Could::Somebody => Could::Somebody,
            at_once if self.could("change.canary", state, reviewed) == Could::Somebody => {
                match self.could("change.promote", ChangeState::Canary, reviewed) {
                    Could::Somebody => Could::Somebody,
                    _ => at_once,
                }
            }
            at_once => at_once,
        }
    }

    fn could(&self, operation: &str, state: ChangeState, reviewed: bool) -> Could {
        let change = ProposedChange { state, ..self.change.clone() };
        let target = self.read.change_target_as(&change, reviewed);
        // Other inputs are optional.
        let input = json!({ "id": ANY });
        let input = [READ, "change.evals", "change.promote"].contains(&operation).then_some(&input);
        let call = HypotheticalCall { operation, target: &target, input, sight: Some(READ) };
        self.read.who_could(self.policies, call, self.at)
    }
}
