//! The questions of a policy test about its company. Askers and targets, which many questions share, are gathered once.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::str::FromStr as _;
use std::sync::Arc;

use super::known::Known;
use crate::admit::chain;
use crate::decide::question::{Asker, Call, sight_for};
use crate::decide::reach::{About, Principal};
use crate::decide::world::World;
use crate::declare::noun::Noun;
use crate::declare::target::Target;
use policy::testing::{self, Around, Case, Fixture, OwnedQuestion, Staged, Way};
use store::actors::Status;
use store::kills::Kill;
use types::actor::KillScope;
use types::caller::{Caller, Channel, Who};
use types::effort;
use types::id::{ActorId, Id};
use types::run::RunFacts;
use types::time::Time;
use types::token::TokenHash;

/// The company of a test, and what its questions share.
pub(super) struct Company<'s> {
    known: &'s Known<'s>,
    fixture: &'s Fixture,
    /// Without engaged kill switches.
    world: Arc<World>,
    /// Whoever asks, as long as the same is the case around the questions.
    askers: BTreeMap<String, Result<Rc<Somebody>, String>>,
    around: Option<Arc<Around>>,
    /// What is asked about, whoever asks, by id.
    targets: BTreeMap<String, Vec<(Named, Found)>>,
}

/// Who asks, in the company as it is for them.
struct Somebody {
    world: Arc<World>,
    caller: Caller,
    principal: Arc<Principal>,
}

/// What is asked about.
struct Something {
    target: Target,
    about: Arc<About>,
}

/// What the meaning of an id depends on: the operation, whether a switch is released, and which are engaged.
type Named = (String, bool, Vec<KillScope>);
type Found = Result<Rc<Something>, String>;

impl Staged for Company<'_> {
    fn question(&mut self, case: &Case) -> Result<OwnedQuestion, String> {
        effort::spend(10);
        let Case { op, around, .. } = case;
        let somebody = self.asker(case)?;
        let Somebody { world, caller, principal } = &*somebody;
        let something = self.something(case, &somebody)?;
        let Something { target, about } = &*something;
        let (input, mut entries) = (around.input.as_ref(), self.known.entries.iter());
        if let (Some(input), Some(entry)) = (input, entries.find(|entry| entry.spec.name == *op)) {
            entry.arguments().check(input).map_err(|what| format!("input: {what}"))?;
        }
        let asker = Asker::between(world, (caller, principal), (target, about));
        let sight = sight_for(world, target, caller);
        Ok(asker.given(Call { operation: op, target, input }).into_question(op, sight, around.granted.clone()))
    }
}

impl<'s> Company<'s> {
    pub fn new(known: &'s Known<'s>, fixture: &'s Fixture, world: World) -> Company<'s> {
        let (world, askers, targets) = (Arc::new(world), BTreeMap::new(), BTreeMap::new());
        Company { known, fixture, world, askers, around: None, targets }
    }

    fn asker(&mut self, case: &Case) -> Result<Rc<Somebody>, String> {
        if self.around.as_ref().is_none_or(|around| !Arc::ptr_eq(around, &case.around)) {
            self.askers.clear();
            self.around = Some(Arc::clone(&case.around));
        }
        if let Some(found) = self.askers.get(&case.actor) {
            return found.clone();
        }
        let somebody = self.somebody(case).map(Rc::new);
        self.askers.insert(case.actor.clone(), somebody.clone());
        somebody
    }

    /// Who asks, and the company as it then is.
    fn somebody(&self, case: &Case) -> Result<Somebody, String> {
        let (around, mut world) = (&case.around, Arc::clone(&self.world));
        let now = around.now.unwrap_or(self.fixture.now);
        if !around.kill.is_empty() {
            let kills = around.kill.iter().map(|scope| (scope.clone(), kill(scope, now))).collect();
            Arc::make_mut(&mut world).kills = Arc::new(kills);
        }
        if let Some(unknown) = around.granted.iter().find(|kind| !world.policy.kinds().any(|known| known == *kind)) {
            return Err(format!("granted: there is no approval kind `{unknown}`"));
        }
        let nobody = around.kill.iter().filter_map(KillScope::actor).find(|id| world.card(id).is_none());
        if let Some(nobody) = nobody {
            return Err(format!("kill: there is no `{nobody}` to stop"));
        }
        let caller = caller(&world, case)?;
        if !around.hist.is_empty() {
            self.known.remember(Arc::make_mut(&mut world), (&caller.actor(), &around.hist), now)?;
        }
        if let Some(under) = caller.under.as_ref().filter(|_| chain::links(&world, &caller, now).is_none()) {
            return Err(format!(
                "under: `{}` does not act under `{under}`: it has ended, or is not theirs",
                case.actor
            ));
        }
        let principal = Arc::new(Principal::new(&world, &caller, now));
        Ok(Somebody { world, caller, principal })
    }

    /// What a case is about. Where it says that, it is the same whoever asks.
    fn something(&mut self, case: &Case, somebody: &Somebody) -> Found {
        let Around { release, kill, .. } = &*case.around;
        let is = |(op, released, killed): &Named| *op == case.op && released == release && killed == kill;
        let known = case.target.as_ref().and_then(|id| self.targets.get(id));
        if let Some((_, found)) = known.and_then(|known| known.iter().find(|(named, _)| is(named))) {
            return found.clone();
        }
        let find = || {
            let Somebody { world, caller, .. } = somebody;
            let target = target(self.fixture, world, case, caller, &self.known.about(world, &case.op)?)?;
            Ok(Rc::new(Something { about: Arc::new(About::new(world, &target)), target }))
        };
        let found = find();
        if let Some(id) = &case.target {
            let named = (case.op.clone(), *release, kill.clone());
            self.targets.entry(id.clone()).or_default().push((named, found.clone()));
        }
        found
    }
}

fn kill(scope: &KillScope, at: Time) -> Kill {
    Kill { scope: scope.clone(), reason: String::new(), by: String::new(), at }
}

fn caller(world: &World, case: &Case) -> Result<Caller, String> {
    let channel = match case.around.channel {
        _ if case.around.run.is_some() => Channel::Run,
        Some(Way::Cli) => Channel::Cli,
        Some(Way::Http) | None => Channel::Http,
    };
    match case.actor.as_str() {
        "server" => return Ok(Caller::new(Who::Server, Channel::Tick)),
        "visitor" => return Ok(Caller::new(Who::Visitor, channel)),
        _ => {}
    }
    let actor = known(world, &case.actor)?;
    let active = world.card(&actor).is_some_and(|card| card.actor.status == Status::Active);
    if actor.is_team() || !active {
        return Err(format!("`{actor}` cannot act"));
    }
    let scopes = case.around.scopes.clone();
    let who = match scopes.is_empty() {
        true => Who::Holder(actor),
        false => Who::Token { actor, hash: TokenHash([0; 32]), scopes },
    };
    let (under, break_glass) = (case.around.under.as_deref(), case.around.broken.then(|| Id::stored("bgl_1")));
    let issuer = case.around.issuer.as_ref().map(|id| known(world, id.as_str())).transpose()?;
    let run = case.around.run.as_ref().map(|run| facts(world, run)).transpose()?.map(Arc::new);
    Ok(Caller { issuer, under: under.map(Id::stored), break_glass, run, ..Caller::new(who, channel) })
}

/// The run of a case, as policies see it.
fn facts(world: &World, run: &testing::Step) -> Result<RunFacts, String> {
    let asker = known(world, run.asker.as_str())?;
    let askers = if run.askers.is_empty() { vec![asker.clone()] } else { run.askers.clone() };
    let testing::Step { depth, steps, calls, cost_cents, labels, .. } = run.clone();
    Ok(RunFacts {
        run: Id::stored("run_1"),
        asker,
        askers,
        depth,
        steps,
        calls,
        cost_cents: cost_cents.into(),
        labels,
        planned: false,
        token_id: None,
        under: None,
    })
}

fn known(world: &World, id: &str) -> Result<ActorId, String> {
    let actor = ActorId::from_str(id).ok().filter(|id| world.card(id).is_some());
    actor.ok_or_else(|| format!("`{id}` is not in this file's actors or teams"))
}

/// What a case is about: what it names, or the company, or the caller itself.
fn target(
    fixture: &Fixture,
    world: &World,
    case: &Case,
    caller: &Caller,
    about: &[&'static Noun],
) -> Result<Target, String> {
    let is = |name: &str| about.iter().any(|noun| noun.name == name);
    let id = match case.target.as_deref() {
        None | Some("company") if is("Company") => return Ok(Target::Company),
        None if is("KillSwitch") => "global",
        None => &caller.actor().to_string(),
        Some(id) => id,
    };
    if let Some(thing) = about.iter().find_map(|noun| noun.stage(id, &fixture.rows, world)) {
        let thing = thing?;
        return Ok(if case.around.release { thing.flag("engage", false).into() } else { thing.into() });
    }
    let somebody = known(world, id).ok().map(Target::Actor);
    somebody.filter(|target| about.iter().any(|noun| noun.has(target))).ok_or_else(|| {
        let kinds: Vec<&str> = about.iter().map(|noun| noun.name).collect();
        format!("`{}` is about {}, and this file has no such `{id}`", case.op, kinds.join(" or "))
    })
}
