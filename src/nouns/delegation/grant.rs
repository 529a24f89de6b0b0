//! Grants a delegation. The grant fixes its terms; what they allow is decided at each use.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::narrow::{Above, narrower};
use super::shown::{ShownDelegation, shown};
use crate::actor::resource::ACTOR;
use crate::company::COMPANY;
use crate::run::tools;
use crate::scope;
use crate::token::span;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use policy::Ruling;
use store::actors::Status;
use store::delegations::Delegation;
use store::delegations::events::DelegationGranted;
use types::delegation::{Authority, DelegationStatus, MOST_CENTS, Terms};
use types::id::{ActorId, Id, Kind};
use types::operations::{MOST_NAMES, Operations};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::{DAY, SECOND, Time};

/// The maximum number of live delegations granted by one actor.
const MOST_GIVEN: i64 = 200;
/// The default lifetime of a delegation.
const USUAL: i64 = 7 * DAY;

/// What is to be delegated.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewDelegation {
    /// The person or agent who will act on the caller's behalf.
    #[arg(long, value_name = "ID", help = "The person or agent who will act on your behalf")]
    pub to: ActorId,
    /// Operations such as `actor.read`, groups such as `token.*`, `query` and `change`, or `*`; at most 50. By default the scope of the delegation that the caller acts under, or `*`.
    #[schemars(length(max = 50))]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub scope: Option<Vec<String>>,
    /// The authority: to read, to propose as well, or to do everything in the scope.
    #[arg(long, default_value = Authority::Inform.name())]
    pub authority: Authority,
    /// Names of tools, for policies to read (`context.delegation.tools`); at most 50. The scope alone determines what is delegated.
    #[schemars(length(max = 50))]
    #[serde(default)]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// The budget, in cents; no limit by default.
    #[arg(long, value_name = "CENTS")]
    pub budget_cents: Option<i64>,
    /// When it ends: a minute to 366 days ahead; 7 days by default.
    #[arg(skip)]
    pub expires_at: Option<Time>,
    /// How long it is valid, instead of `expires_at`: `12h`, `7d`.
    #[arg(long, value_name = "SPAN", help = "How long it is valid, such as 12h or 7d [default: 7d]")]
    pub ttl: Option<String>,
}

/// Grant a delegation.
pub enum Grant {}

impl Change for Grant {
    const SPEC: Spec = Spec {
        name: "delegation.grant",
        doc: "Grant a delegation: let a person or an agent act on the caller's behalf, within the rights of both. A \
              caller who acts under a delegation passes it on.",
        scope: Reach::Full,
        route: post("/delegations").created(),
        about: &[&ACTOR],
        events: &[DelegationGranted::KIND],
    };
    const SAYS: &'static str = "grants {to} a delegation to {authority}[ for {scope}][ with {budget_cents} cents]";
    type Input = NewDelegation;
    type Output = ShownDelegation;

    fn target(input: &NewDelegation, read: &Reader<'_>) -> Result<Target, Stop> {
        if input.to.is_team() {
            return Err(Refusal::field("to", "teams do not act; name a person or an agent").into());
        }
        read.actor(&input.to)?;
        Ok(Target::Actor(input.to.clone()))
    }

    fn run(permit: Permit<Self>, input: NewDelegation, draft: &mut Draft<'_>) -> Result<ShownDelegation, Stop> {
        let (from, read) = (permit.actor(), draft.read());
        if read.actor(&input.to)?.actor.status != Status::Active {
            return Err(Refusal::field("to", format!("{} has left", input.to)).into());
        }
        if read.delegations_given(&from)? >= MOST_GIVEN {
            let message = format!("{from} has given {MOST_GIVEN} delegations that have not ended; revoke some first");
            return Err(Refusal::conflict(message).into());
        }
        let above = Above::of(read)?;
        let id = draft.new_id(Kind::Delegation);
        let new = terms(&id, from, input, above.as_ref(), read)?;
        draft.record(granted(id, &new))?;
        Ok(shown(new, draft.now()))
    }
}

/// Returns the terms of the delegation, if it can be granted.
fn terms(
    id: &Id,
    from: ActorId,
    input: NewDelegation,
    above: Option<&Above>,
    read: &Reader<'_>,
) -> Result<Delegation, Stop> {
    let mut problems = Vec::new();
    let usual = || above.map_or([Operations::ALL.to_owned()].into(), |above| above.terms().scope.0.clone());
    let listed = input.scope.map(BTreeSet::from_iter);
    let scope = Operations(listed.unwrap_or_else(usual));
    let tools: BTreeSet<String> = input.tools.into_iter().collect();
    problems.extend(scope::problem(&scope, read));
    problems.extend((tools.len() > MOST_NAMES).then(|| format!("tools: must have at most {MOST_NAMES} names")));
    let unknown = tools.iter().take(MOST_NAMES).find_map(|name| tools::unknown(&cut(name), ""));
    problems.extend(unknown.map(|problem| format!("tools: {problem}")));
    if input.budget_cents.is_some_and(|cents| !(0..=MOST_CENTS).contains(&cents)) {
        problems.push(format!("budget_cents: must be 0 to {MOST_CENTS}"));
    }
    let end = end(input.expires_at, input.ttl.as_deref(), above, read.now()).map_err(|problem| problems.push(problem));
    let expires_at = end.unwrap_or(read.now());
    let parents = above.map(|above| above.terms().chain.clone()).unwrap_or_default();
    let delegation = Delegation {
        terms: Terms {
            id: id.to_string(),
            to: input.to,
            scope,
            authority: input.authority,
            tools,
            expires_at,
            parent: above.map(|above| above.terms().id.clone()),
            depth: above.map_or(1, |above| above.terms().depth + 1),
            chain: std::iter::once(from.clone()).chain(parents).collect(),
            from,
            status: DelegationStatus::Active,
        },
        budget_cents: input.budget_cents,
        spent_cents: 0,
        reserved_cents: 0,
        created_at: read.now(),
        ended_at: None,
    };
    if delegation.terms.to == delegation.terms.from {
        problems.push("to: you cannot delegate to yourself; name somebody else".into());
    }
    if problems.is_empty() {
        problems.extend(above.into_iter().flat_map(|above| narrower(&delegation, above, read)));
    }
    if problems.is_empty() {
        problems.extend(beyond_authority(&delegation.terms, read));
    }
    if problems.is_empty() && gives_nothing(&delegation.terms, read) {
        problems.push(format!("scope: you may do nothing in `{}` yourself", cut(&delegation.terms.scope.to_string())));
    }
    if problems.is_empty() { Ok(delegation) } else { Err(Refusal::invalid(problems).into()) }
}

fn granted(id: Id, new: &Delegation) -> DelegationGranted {
    let Terms { from, to, scope, authority, tools, expires_at, parent, depth, chain, .. } = new.terms.clone();
    DelegationGranted {
        id,
        from,
        to,
        scope,
        authority,
        tools,
        budget_cents: new.budget_cents,
        expires_at,
        parent: parent.as_deref().map(Id::stored),
        depth,
        chain,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

fn end(at: Option<Time>, ttl: Option<&str>, above: Option<&Above>, now: Time) -> Result<Time, String> {
    let end = match (at, ttl) {
        (Some(_), Some(_)) => return Err("ttl: give either expires_at or ttl".into()),
        (Some(at), None) => at,
        (None, Some(ttl)) => now.plus_ms(span(ttl)?),
        (None, None) => {
            let usual = now.plus_ms(USUAL);
            return Ok(above.map_or(usual, |above| usual.min(above.terms().expires_at)));
        }
    };
    let fits = (now.plus_ms(60 * SECOND)..=now.plus_ms(366 * DAY)).contains(&end);
    fits.then_some(end).ok_or_else(|| format!("expires_at: must be a minute to 366 days after {now}"))
}

/// Names an entry of the scope for which the authority admits no operation: it could never be used.
fn beyond_authority(terms: &Terms, read: &Reader<'_>) -> Option<String> {
    let admits = |authority: Authority, name: &str| {
        let held = read.operations_in(&Operations([name.to_owned()].into()));
        held.iter().any(|(operation, changes)| authority.admits(operation, *changes))
    };
    let name = terms.scope.0.iter().find(|name| !admits(terms.authority, name))?;
    let enough = Authority::ALL.iter().find(|authority| admits(**authority, name))?;
    Some(format!("authority: `{}` allows nothing in `{}`: that needs `{enough}`", terms.authority, cut(name)))
}

/// Checks whether the giver is certain to be denied everything in it. Only operations without a target of their own are
/// checked: for others, that is found at each use.
fn gives_nothing(terms: &Terms, read: &Reader<'_>) -> bool {
    let held = read.operations_in(&terms.scope);
    let given: Vec<&str> =
        held.iter().filter(|(name, changes)| terms.authority.admits(name, **changes)).map(|(name, _)| *name).collect();
    let refused = |name: &str| {
        let entry = crate::OPERATIONS.iter().find(|entry| entry.spec.name == name);
        entry.is_some_and(|entry| entry.spec.about == [&COMPANY])
            && matches!(read.ruling(read.caller(), name, &Target::Company), Ruling::Deny { .. })
    };
    given.into_iter().all(refused)
}
