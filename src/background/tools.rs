//! Carries out calls of outside tools. A call is decided, and recorded as begun, before it arrives here; its outcome is
//! recorded afterwards. If that breaks off, the kind of the tool's effect determines what happens next.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::call::{change, next};
use super::mail::Mail;
use super::models::Chat;
use super::web::Web;
use crate::gate::Gate;
use crate::nouns::run::{Came, MAIL, Next, OneCall, SettleTool, Stage, ToolOutcome, WEB};
use crate::types::refusal::{Code, Stop};
use crate::types::run::ToolEffect;

/// How long a tool may take over one call.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a call that may be made again is made.
const TRIES: u32 = 3;
/// How long until it is made again.
const PAUSE: Duration = Duration::from_millis(500);
/// How often it is looked whether what comes of it is still wanted, at most.
const LOOK: Duration = Duration::from_millis(250);
/// How long until an outcome that could not be recorded is recorded again, and how often that is tried.
const AGAIN: Duration = Duration::from_millis(500);
const RECORDED: u32 = 20;

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    pub tool: String,
    pub arguments: Value,
    /// A key that is the same each time this very call is repeated, and differs from that of any other call.
    pub key: String,
}

/// What can be found out about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// It was made, with this answer.
    Done(Value),
    /// It was not made, and will not be.
    NotDone,
    /// That cannot be told now.
    Unknown(String),
}

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes calls of tools from elsewhere.
pub trait Tools: Send + Sync {
    fn call<'a>(&'a self, asked: &'a ToolCall) -> Answer<'a, Came>;
    /// What came of a call. Only tools whose effect is `reconcilable` are asked.
    fn look<'a>(&'a self, asked: &'a ToolCall) -> Answer<'a, Looked>;
    /// By what people find outside whether a call was made; none where there is nothing.
    fn trace(&self, asked: &ToolCall) -> Option<String>;
}

/// Those whom runs need outside: who answers prompts, and who carries out calls.
#[derive(Clone)]
pub struct Means {
    pub models: Arc<dyn Chat>,
    pub tools: Arc<dyn Tools>,
}

impl<C: Chat + 'static> From<Arc<C>> for Means {
    fn from(models: Arc<C>) -> Means {
        Means::from(models as Arc<dyn Chat>)
    }
}

impl From<Arc<dyn Chat>> for Means {
    fn from(models: Arc<dyn Chat>) -> Means {
        Means { models, tools: Arc::new(Elsewhere::default()) }
    }
}

/// The tools of this server: those of `--dev-echo-tools`, which return their input and do nothing; mail, if a mail
/// server is configured; and web pages, if they may be read.
#[derive(Default)]
pub struct Elsewhere {
    pub mail: Option<Mail>,
    pub web: Option<Web>,
}

impl Tools for Elsewhere {
    fn call<'a>(&'a self, asked: &'a ToolCall) -> Answer<'a, Came> {
        Box::pin(async {
            match asked.tool.as_str() {
                MAIL => match (&self.mail, given(asked)) {
                    (Some(mail), Ok(message)) => mail.send(&message, &asked.key).await,
                    (None, _) => Came::Failed("this server sends no mail".into()),
                    (_, Err(failed)) => failed,
                },
                WEB => match (&self.web, given(asked)) {
                    (Some(web), Ok(page)) => web.read(&page).await,
                    (None, _) => Came::Failed("this server reads no pages of the web".into()),
                    (_, Err(failed)) => failed,
                },
                _ => echo(&asked.arguments).await,
            }
        })
    }

    fn look<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Looked> {
        Box::pin(async { Looked::NotDone })
    }

    fn trace(&self, asked: &ToolCall) -> Option<String> {
        self.mail
            .as_ref()
            .filter(|_| asked.tool == MAIL)
            .map(|mail| format!("its Message-ID is {}", mail.id(&asked.key)))
    }
}

fn given<T: DeserializeOwned>(asked: &ToolCall) -> Result<T, Came> {
    T::deserialize(&asked.arguments).map_err(|error| Came::Failed(error.to_string()))
}

async fn echo(arguments: &Value) -> Came {
    let seconds = arguments.get("seconds").and_then(Value::as_u64).unwrap_or_default();
    sleep(Duration::from_secs(seconds)).await;
    Came::Done(arguments.get("text").cloned().unwrap_or_default())
}

/// A call that is recorded as begun.
pub(super) struct Begun<'a> {
    pub run: &'a str,
    pub step: u32,
    pub asked: ToolCall,
    pub effect: ToolEffect,
    /// Why it is unknown whether the call was already made. None if it was not.
    pub doubt: Option<String>,
}

impl Begun<'_> {
    /// Makes it, unless it must not be made again, and has recorded what came of it.
    pub async fn carry_out(self, gate: &Arc<Gate>, tools: &Arc<dyn Tools>) -> Result<(), Stop> {
        let came = match self.effect {
            // To break it off would not undo it: nobody would know any more.
            ToolEffect::Once => self.outcome(&**tools).await,
            ToolEffect::Read | ToolEffect::Idempotent | ToolEffect::Reconcilable => tokio::select! {
                came = self.outcome(&**tools) => came,
                () = is_over(gate, self.run, self.step) => return Ok(()),
            },
        };
        settle(gate, self.run, self.step, came).await
    }

    async fn outcome(&self, tools: &dyn Tools) -> Came {
        let mut doubt = self.doubt.clone();
        for _ in 0..TRIES {
            if let Some(why) = &doubt {
                match self.effect {
                    ToolEffect::Once => break,
                    ToolEffect::Reconcilable => match timeout(PATIENCE, tools.look(&self.asked)).await {
                        Ok(Looked::Done(answer)) => return Came::Done(answer),
                        Ok(Looked::NotDone) => {}
                        Ok(Looked::Unknown(why)) => return Came::Unknown(why),
                        Err(_) => return Came::Unknown(format!("{why}, and it does not answer")),
                    },
                    ToolEffect::Read | ToolEffect::Idempotent => {}
                }
            }
            doubt = match timeout(PATIENCE, tools.call(&self.asked)).await {
                Ok(Came::Unknown(why)) => Some(why),
                Err(_) => Some(format!("it did not answer within {} seconds", PATIENCE.as_secs())),
                Ok(came) => return came,
            };
            if self.effect != ToolEffect::Once {
                sleep(PAUSE).await;
            }
        }
        let trace = tools.trace(&self.asked).map(|trace| format!(" ({trace})")).unwrap_or_default();
        let why = doubt.unwrap_or_default() + &trace;
        // Whether something was read makes no difference to anybody.
        if self.effect == ToolEffect::Read { Came::Failed(why) } else { Came::Unknown(why) }
    }
}

/// Has the outcome of a call recorded. Nothing is needed for a run that has moved on meanwhile.
pub(super) async fn settle(gate: &Arc<Gate>, run: &str, step: u32, came: Came) -> Result<(), Stop> {
    let outcome = ToolOutcome { id: run.to_owned(), step, came };
    let mut tries = 0;
    loop {
        tries += 1;
        match change::<SettleTool>(gate, &outcome).await {
            Err(Stop::Refused(refusal)) if refusal.code == Code::Conflict => return Ok(()),
            Err(Stop::Refused(refusal))
                if tries < RECORDED && matches!(refusal.code, Code::Unavailable | Code::AuditUnavailable) =>
            {
                sleep(refusal.retry_after.map_or(AGAIN, Duration::from_secs)).await;
            }
            settled => return settled.map(drop),
        }
    }
}

/// Waits until a run does not wait for what comes of this step any more.
async fn is_over(gate: &Arc<Gate>, run: &str, step: u32) {
    let mut grown = gate.grown();
    loop {
        sleep(LOOK).await;
        if grown.changed().await.is_err() {
            return;
        }
        match next(gate, run).await {
            Ok(Next::Calls { calls, .. }) if calls.iter().any(|call| is_still_made(call, step)) => {}
            Ok(_) => return,
            // Whether it is over cannot be told now.
            Err(_) => {}
        }
    }
}

/// Whether a call is the one of this step, under way, and may still be made: no kill switch stops its tool.
fn is_still_made(call: &OneCall, step: u32) -> bool {
    call.facts.step() == step && call.stage == Stage::Dispatched && call.input.is_some()
}
