//! Drafts a policy from approvals: the policies in force, with the narrowest exceptions that would have allowed the approved
//! calls, and a test of them. It is a proposal like any other; nothing comes into force by it.
//!
//! Always true: a draft has been tried. Every call it was made from is allowed by it, and needed approval before; the inputs of
//! those calls are part of it; similar calls that it allows too are named.

mod call;
mod given;
mod neighbours;
mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use call::Call;

use crate::change::compiled;
use gate::declare::target::entity;
use gate::{Reader, Target};
use policy::exempt::{exempt, formatted};
use policy::{Because, Bundle, Ruling};
use types::id::ActorId;
use types::refusal::{Refusal, Stop};

/// The maximum number of approvals per draft.
const MOST: usize = 20;

/// The policies in force with an exception, and what else that allows.
pub struct Drafted {
    pub bundle: Bundle,
    /// Similar calls that nobody approved: `lou actor.add with another id`.
    pub also_allows: Vec<String>,
}

/// Drafts the bundle. It is made before the proposal has its turn, and kept in the build cache.
pub fn draft(ids: &[String], read: &Reader<'_>) -> Result<Arc<Drafted>, Stop> {
    let ids: BTreeSet<&String> = ids.iter().collect();
    if ids.is_empty() || ids.len() > MOST {
        return Err(invalid(format!("name 1 to {MOST} approvals")).into());
    }
    let by = read.caller().actor();
    let key = format!("from approvals {ids:?} for {by} since {}", read.policy_stamp().0);
    read.build_cache().make(&key, || {
        let calls = ids.iter().map(|id| Call::approved(id, read)).collect::<Result<Vec<_>, Stop>>()?;
        drafted(&calls, read)
    })
}

fn drafted(calls: &[Call], read: &Reader<'_>) -> Result<Drafted, Stop> {
    let mut in_the_way: BTreeMap<String, (Because, Vec<&Call>)> = BTreeMap::new();
    for call in calls {
        for policy in call.held_up_by(read)? {
            let (_, held) = in_the_way.entry(policy.id.clone()).or_insert_with(|| (policy, Vec::new()));
            held.push(call);
        }
    }
    let before = read.bundle()?;
    let mut bundle = before.clone();
    for (policy, held) in in_the_way.values() {
        let missing = || invalid(format!("`{}` cannot be given an exception", policy.id));
        bundle = exempt(&bundle, policy, &clause(held, read)?).ok_or_else(missing)?;
    }
    let mut bundle = formatted(bundle, &before);
    let candidate = compiled(&bundle, read)?;
    for call in calls {
        let ruling = call.answer(&candidate, &call.caller, &call.input, read);
        if let Ruling::NeedsApproval { .. } | Ruling::Deny { .. } = ruling {
            let message = format!("no exception would allow {}: {}", call.approval, ruling.reason());
            return Err(invalid(message).into());
        }
    }
    let also_allows = neighbours::let_through(calls, &candidate, read);
    let (path, test) = stage::test(calls, &candidate, read);
    let comments: String = also_allows.iter().map(|one| format!("# also allowed: {one}\n")).collect();
    bundle.files.insert(path, comments + &test);
    Ok(Drafted { bundle, also_allows })
}

/// Returns the scope that each requester's calls share, per operation, and nothing wider.
fn clause(calls: &[&Call], read: &Reader<'_>) -> Result<String, Refusal> {
    let mut alike: BTreeMap<(&str, ActorId), Vec<&Call>> = BTreeMap::new();
    calls.iter().for_each(|call| alike.entry((call.operation(), call.caller.actor())).or_default().push(call));
    let clauses = alike.into_iter().map(|((operation, caller), calls)| {
        let principal = entity(&Target::Actor(caller));
        let mut parts = vec![format!("action == Ok::Action::\"{operation}\""), format!("principal == {principal}")];
        parts.extend(as_approved(&calls, read)?);
        Ok(parts.join(" && "))
    });
    let clauses = clauses.collect::<Result<Vec<String>, Refusal>>()?;
    Ok(match clauses.as_slice() {
        [one] => one.clone(),
        several => several.iter().map(|clause| format!("({clause})")).collect::<Vec<_>>().join(" || "),
    })
}

/// Returns conditions on targets and inputs of these calls. Where they differ, they are combined call by call: two approved
/// combinations do not approve the other combinations.
fn as_approved(calls: &[&Call], read: &Reader<'_>) -> Result<Vec<String>, Refusal> {
    let targets: Vec<String> = calls.iter().map(|call| entity(&call.target)).collect();
    let several = targets.iter().collect::<BTreeSet<_>>().len() > 1;
    let about = match several.then(|| common_team(calls, read)).flatten() {
        Some(team) => vec![format!("resource in {}", entity(&Target::Actor(team))); calls.len()],
        None => targets.into_iter().map(|target| format!("resource == {target}")).collect(),
    };
    let columns = [about].into_iter().chain(given::conditions(calls)?);
    let (same, differing): (Vec<_>, Vec<_>) =
        columns.partition(|column| column.iter().collect::<BTreeSet<_>>().len() == 1);
    let mut parts: Vec<String> = same.into_iter().flat_map(|column| column.into_iter().take(1)).collect();
    if !differing.is_empty() {
        let row = |call: usize| {
            let ways: Vec<&str> = differing.iter().filter_map(|column| column.get(call)).map(String::as_str).collect();
            ways.join(" && ")
        };
        let rows: BTreeSet<String> = (0..calls.len()).map(row).collect();
        let rows: Vec<String> = rows.into_iter().map(|row| format!("({row})")).collect();
        parts.push(format!("({})", rows.join(" || ")));
    }
    Ok(parts)
}

/// Returns the nearest team that contains all people and agents the calls are about: calls about one person each say little
/// about the next.
fn common_team(calls: &[&Call], read: &Reader<'_>) -> Option<ActorId> {
    let teams = |call: &&Call| match &call.target {
        Target::Actor(id) if !id.is_team() => read.card(id).map(|card| read.teams(card).to_vec()),
        _ => None,
    };
    let all: Option<Vec<Vec<ActorId>>> = calls.iter().map(teams).collect();
    let all = all?;
    let (first, rest) = all.split_first()?;
    first.iter().find(|team| rest.iter().all(|teams| teams.contains(team))).cloned()
}

fn invalid(message: String) -> Refusal {
    Refusal::field("from_approvals", message)
}
