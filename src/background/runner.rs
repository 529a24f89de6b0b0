//! Continues runs: asks the gate which ones can proceed, performs the next step of each as its agent, and asks again.
//! It keeps no state: what a run has done, and what it waits for, is in the log, so after a crash the next server
//! continues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::call::{change, in_words, next, query, read, together};
use super::thinking::think;
use super::tools::{Begun, Means, ToolCall, settle as settle_call};
use crate::gate::{Gate, Request};
use crate::nouns::run::rest::SOON;
use crate::nouns::run::{
    BegunOutside, Came, Dispatch, DueRun, Free, Next, OneCall, SettleStep, Spoken, Stage, StepOutcome, Wanted,
};
use crate::store::done::MODEL_CALL;
use crate::types::caller::{Channel, Credential, Presented};
use crate::types::id::ActorId;
use crate::types::refusal::{Code, Refusal, Stop};
use crate::types::run::{RunFacts, ToolEffect};

/// Runs under way at once.
const AT_ONCE: usize = 64;
/// It asks at least so often.
const PERIOD: Duration = Duration::from_secs(30);
/// It asks at most so often, however fast the log grows.
const PAUSE: Duration = Duration::from_millis(5);
/// After something went wrong with the gate.
const AFTER_FAULT: Duration = Duration::from_secs(5);
/// How long a step that the server was too busy for waits, unless it says.
const BUSY: Duration = Duration::from_millis(200);
/// As long as it waits at a time, whatever the server says: the run may have been cancelled meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How much longer than it takes to ask it rests before it asks again: it costs a fifth of a core at most.
const CALM: u32 = 4;
/// As much rest as it may owe: what comes after a quiet time does not wait for it.
const OWED: Duration = Duration::from_millis(20);
/// The longest such rest: a process that was stopped meanwhile has not worked all that time.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long what is under way may take when the server stops.
const STOPPING: Duration = Duration::from_secs(3);

/// Lets runs go on until `stop`.
pub async fn run(gate: Arc<Gate>, means: impl Into<Means>, stop: CancellationToken) {
    let mut grown = gate.grown();
    let mut under_way = UnderWay::new(gate.clone(), means.into(), AFTER_FAULT);
    let mut failing = false;
    let mut rested = Instant::now();
    loop {
        grown.mark_unchanged();
        let began = Instant::now();
        let wait = match under_way.start().await {
            Ok(wait) => {
                failing = false;
                wait
            }
            Err(why) => {
                let wait = if matches!(why, Stop::Refused(_)) { PERIOD } else { AFTER_FAULT };
                if !failing {
                    tracing::error!(why = in_words(why), "runnable runs cannot be read");
                }
                failing = true;
                wait
            }
        };
        rested = rested.max(began) + (began.elapsed() * CALM).clamp(PAUSE, LONGEST_PAUSE);
        let until = Instant::now() + wait;
        tokio::select! {
            () = stop.cancelled() => break,
            ended = under_way.ended(), if !under_way.is_empty() => if let Err(why) = ended {
                tracing::error!(why, "a run is tried again");
            },
            changed = grown.changed(), if !under_way.is_full() && !failing => if changed.is_err() { break },
            () = sleep_until(until) => {}
        }
        if stop.run_until_cancelled(sleep_until(rested - OWED)).await.is_none() {
            break;
        }
    }
    // A step that does not end in time is taken by the next server, unless it was recorded.
    let _ = timeout(STOPPING, async {
        while !under_way.is_empty() {
            let _ = under_way.ended().await;
        }
    })
    .await;
}

/// Lets runs go on until none can by itself at this time; those that did.
pub async fn settle(gate: &Arc<Gate>, means: impl Into<Means>) -> Result<BTreeSet<String>, String> {
    let mut under_way = UnderWay::new(gate.clone(), means.into(), Duration::ZERO);
    let mut moved = BTreeSet::new();
    loop {
        under_way.start().await.map_err(in_words)?;
        if under_way.is_empty() {
            return Ok(moved);
        }
        moved.extend(under_way.runs.values().map(|run| run.run.clone()));
        under_way.ended().await?;
    }
}

/// The runs that are under way.
struct UnderWay {
    gate: Arc<Gate>,
    means: Means,
    tasks: JoinSet<Result<(), String>>,
    runs: BTreeMap<Id, DueRun>,
    /// How long a run that cannot go on is left alone; the others do not wait for it.
    rest: Duration,
    /// Whether it has not asked yet what another server left undone.
    begins: bool,
}

impl UnderWay {
    fn new(gate: Arc<Gate>, means: Means, rest: Duration) -> UnderWay {
        UnderWay { gate, means, tasks: JoinSet::new(), runs: BTreeMap::new(), rest, begins: true }
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn is_full(&self) -> bool {
        self.runs.len() >= AT_ONCE
    }

    /// Starts what can go on, and says when to ask again. Nothing is asked where no run goes on by itself: policies that do not
    /// know of runs would refuse, and refusals are recorded.
    async fn start(&mut self) -> Result<Duration, Stop> {
        if !self.gate.works(self.begins)? {
            return Ok(PERIOD);
        }
        let busy: Vec<DueRun> = self.runs.values().cloned().collect();
        let free = Free { most: AT_ONCE.saturating_sub(busy.len()), busy, begins: self.begins };
        let due = query::<Dispatch>(&self.gate, &free).await?;
        for run in due.runs {
            let (gate, means, id, rest) = (self.gate.clone(), self.means.clone(), run.run.clone(), self.rest);
            let task = self.tasks.spawn(async move {
                let outcome = go_on(&gate, &means, &id).await;
                if outcome.is_err() {
                    sleep(rest).await;
                }
                outcome.map_err(|why| format!("{id} cannot continue: {}", in_words(why)))
            });
            self.runs.insert(task.id(), run);
        }
        // What another server left unasked, once the runs go on that can. What cannot be asked now is asked the next time.
        let mut asked = true;
        for wish in due.wants {
            asked &= ask_for(&self.gate, wish).await?;
        }
        self.begins &= !asked;
        Ok(due.wait_ms.map_or(PERIOD, |ms| Duration::from_millis(ms.unsigned_abs()).min(PERIOD)))
    }

    /// Waits until one of them has stopped, and says why it could not go on, if it could not.
    async fn ended(&mut self) -> Result<(), String> {
        let (id, outcome) = match self.tasks.join_next_with_id().await {
            Some(Ok(ended)) => ended,
            Some(Err(broken)) => (broken.id(), Err(format!("a run broke off: {broken}"))),
            None => return Ok(()),
        };
        self.runs.remove(&id);
        outcome
    }
}

/// Takes one step after the other until the run waits, is held or has ended.
async fn go_on(gate: &Arc<Gate>, means: &Means, run: &str) -> Result<(), Stop> {
    let models = &means.models;
    loop {
        match next(gate, run).await? {
            Next::Calls { calls, agent } => {
                together(calls.into_iter().map(|one| call_tool(gate, means, (run, one), agent.clone()))).await?;
            }
            Next::Think { call: question, prompt, agent, facts } => {
                let step = facts.step();
                match call(gate, MODEL_CALL, json!(question), (agent, facts)).await? {
                    Called::Done(answer) if read::<Spoken>(&answer)?.dispatched => {
                        think(gate, models, (run, step), &prompt).await?;
                    }
                    Called::Done(_) | Called::Settled => {}
                    Called::Unable(reason) => drop(settle_step(gate, run, step, Some(reason)).await?),
                }
            }
            Next::Send { step, prompt } => {
                if settle_with(gate, StepOutcome { id: run.to_owned(), step, sends: true, failed: None }).await? {
                    think(gate, models, (run, step), &prompt).await?;
                }
            }
            Next::Settle { step, .. } => drop(settle_step(gate, run, step, None).await?),
            Next::Nothing => return Ok(()),
        }
    }
}

/// Makes a call, or has recorded why it cannot be made, where the gate has recorded nothing of it.
async fn call_tool(gate: &Arc<Gate>, means: &Means, (run, one): (&str, OneCall), agent: ActorId) -> Result<(), Stop> {
    let OneCall { operation, input, facts, stage } = one;
    let step = facts.step();
    let effect = gate.entry(&operation).and_then(|entry| entry.spec.route.external).map(|tool| tool.effect);
    let begun = |arguments: &Value, effect, doubt| {
        let asked = ToolCall { tool: operation.clone(), arguments: arguments.clone(), key: format!("{run}/{step}") };
        Begun { run, step, asked, effect, doubt }
    };
    let reason = match (input, effect, stage) {
        (Some(input), Some(effect), Stage::Dispatched) => {
            let doubt = Some("the server or the run was stopped while it was under way".to_owned());
            return begun(&input, effect, doubt).carry_out(gate, &means.tools).await;
        }
        (_, effect, Stage::Dispatched) => {
            let why = "it was in progress, and may no longer be called".to_owned();
            // Whether something was read makes no difference to anybody.
            let came = if effect == Some(ToolEffect::Read) { Came::Failed(why) } else { Came::Unknown(why) };
            return settle_call(gate, run, step, came).await;
        }
        (Some(input), Some(effect), Stage::Decided) => {
            if settle_with(gate, StepOutcome { id: run.to_owned(), step, sends: true, failed: None }).await? {
                begun(&input, effect, None).carry_out(gate, &means.tools).await?;
            }
            return Ok(());
        }
        (Some(input), effect, _) => match call(gate, &operation, input.clone(), (agent, facts)).await? {
            Called::Unable(reason) => Some(reason),
            Called::Done(answer) => match effect {
                Some(effect) if read::<BegunOutside>(&answer)?.dispatched => {
                    return begun(&input, effect, None).carry_out(gate, &means.tools).await;
                }
                _ => return Ok(()),
            },
            Called::Settled => return Ok(()),
        },
        (None, ..) => None,
    };
    settle_step(gate, run, step, reason).await.map(drop)
}

/// What a call came to.
enum Called {
    /// It was done, with this answer.
    Done(Vec<u8>),
    /// The gate has recorded what it came to, or it is to be made again.
    Settled,
    /// It could not be performed, and nothing is recorded of it.
    Unable(String),
}

/// Performs one operation as the agent. What comes of it is recorded with it; why it could not be performed, where the gate
/// has recorded nothing, is for the run to know.
async fn call(
    gate: &Arc<Gate>,
    operation: &str,
    input: Value,
    (agent, facts): (ActorId, RunFacts),
) -> Result<Called, Stop> {
    let unable = |reason: String| Ok(Called::Unable(reason));
    let Some(entry) = gate.entry(operation) else { return unable(format!("there is no tool `{operation}`")) };
    let credential = Credential::Run(agent, Arc::new(gate.begun_with(facts)?));
    let presented = Presented { credential, channel: Channel::Run, address: None, under: None };
    let caller = match gate.admit(&presented, &entry.spec) {
        Ok(caller) => caller,
        Err(refusal) => return unable(describe(&refusal)),
    };
    let call = match entry.prepare(input) {
        Ok(call) => call,
        Err(bad) => return unable(bad.to_string()),
    };
    match gate.perform(Request { caller, call, idem: None }).await {
        Ok(reply) => {
            if operation == MODEL_CALL
                && let Some(wish) = read::<Spoken>(&reply.body)?.wants
            {
                ask_for(gate, wish).await.map(drop)?;
            }
            Ok(Called::Done(reply.body))
        }
        Err(Stop::Refused(refusal)) => match refusal.code {
            Code::NeedsApproval => Ok(Called::Settled),
            Code::Denied | Code::NotApprover if refusal.decision.is_some() => Ok(Called::Settled),
            Code::RateLimited
                if operation != MODEL_CALL && refusal.retry_after.is_some_and(|wait| wait > SOON.unsigned_abs()) =>
            {
                unable(describe(&refusal))
            }
            Code::RateLimited | Code::Unavailable | Code::AuditUnavailable => {
                wait_for(&refusal).await;
                Ok(Called::Settled)
            }
            _ => unable(describe(&refusal)),
        },
        Err(failed) => Err(failed),
    }
}

/// Asks people, as the agent whose run is held, to let it spend more; whether that was answered. Where the policies do not let it
/// ask, it stays held until somebody raises its budget unasked.
async fn ask_for(gate: &Arc<Gate>, Wanted { agent, raised }: Wanted) -> Result<bool, Stop> {
    let Some(entry) = gate.entry("budget.raise") else { return Ok(true) };
    let presented =
        Presented { credential: Credential::Holder(agent), channel: Channel::Run, address: None, under: None };
    let Ok(caller) = gate.admit(&presented, &entry.spec) else { return Ok(true) };
    let Ok(call) = entry.prepare(json!(raised)) else { return Ok(true) };
    match gate.perform(Request { caller, call, idem: None }).await {
        Err(Stop::Failed(failed)) => Err(failed.into()),
        Err(Stop::Refused(refusal)) => Ok(!matches!(refusal.code, Code::Unavailable | Code::AuditUnavailable)),
        Ok(_) => Ok(true),
    }
}

/// Waits until there may be room again.
async fn wait_for(refusal: &Refusal) {
    sleep(refusal.retry_after.map_or(BUSY, Duration::from_secs).min(LONGEST_WAIT)).await;
}

fn describe(refusal: &Refusal) -> String {
    format!("{}: {}", refusal.code.name(), refusal.message)
}

/// Has a step recorded; whether it was. A run that is elsewhere by now needs nothing more.
async fn settle_step(gate: &Arc<Gate>, run: &str, step: u32, failed: Option<String>) -> Result<bool, Stop> {
    settle_with(gate, StepOutcome { id: run.to_owned(), step, failed, sends: false }).await
}

async fn settle_with(gate: &Arc<Gate>, outcome: StepOutcome) -> Result<bool, Stop> {
    match change::<SettleStep>(gate, &outcome).await {
        Err(Stop::Refused(refusal)) if refusal.code == Code::Conflict => Ok(false),
        Err(Stop::Refused(refusal)) if matches!(refusal.code, Code::Unavailable | Code::AuditUnavailable) => {
            wait_for(&refusal).await;
            Ok(false)
        }
        settled => {
            let settled = settled?;
            if let Some(wish) = settled.wants {
                ask_for(gate, wish).await?;
            }
            Ok(settled.settled)
        }
    }
}
