//! What a caller has done, as policies see it in a question: `context.hist`.

use crate::decide::world::World;
use policy::Record;
use store::done::{MODEL_CALL, PLANNED};
use types::caller::Caller;
use types::history::{Done, History};
use types::time::Time;

/// What a caller has done within the hour, the day and the month of a time; nothing where no policy looks at it.
pub(crate) fn facts(world: &World, caller: &Caller, now: Time) -> Option<Record> {
    world.histories.as_ref()?.get(&caller.actor())?;
    let one = |(operation, done): (String, Done)| {
        let numbers = done.named().into_iter();
        (operation, numbers.fold(Record::new(), |record, (name, number)| record.long(name, number)))
    };
    let done = seen(world, caller, now).into_iter().map(one);
    Some(done.fold(Record::new(), |record, (operation, done)| record.record(&operation, done)))
}

/// Returns the same history in the form in which the case of a policy test states it.
pub(crate) fn said(world: &World, caller: &Caller, now: Time) -> History {
    seen(world, caller, now).into_iter().filter(|(_, done)| *done != Done::default()).collect()
}

/// What plans have cost, a plan alone sees.
fn seen(world: &World, caller: &Caller, now: Time) -> History {
    let Some(done) = world.histories.as_ref().and_then(|histories| histories.get(&caller.actor())) else {
        return History::new();
    };
    let real = done.iter().filter(|(operation, _)| *operation != PLANNED);
    let mut seen: History = real.map(|(operation, counts)| (operation.clone(), counts.at(now))).collect();
    let is_planned = caller.run.as_ref().is_some_and(|run| run.planned);
    if let Some(planned) = done.get(PLANNED).filter(|_| is_planned) {
        let cost = seen.entry(MODEL_CALL.to_owned()).or_default();
        *cost = cost.plus_cents(&planned.at(now));
    }
    seen
}
