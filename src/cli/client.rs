//! How a command reaches the gate. If nobody has the state file, the command takes it and acts in process; if a server
//! has it, the same call goes over the server's admin socket; if another command has it, this one waits its turn.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Context;
use super::call::{self, Answer, Ask, Refused};
use super::column::{Column, columns};
use super::exit::Failure;
use super::remote::Remote;
use super::show;
use super::socket::Link;
use super::{models, systems};
use crate::adapters::{LONGEST, MOST_ROWS};
use crate::config;
use crate::gate::Query as _;
use crate::gate::state::lock::Holder;
use crate::gate::state::open::{self, CannotOpen, Company, Options};
use crate::log::journal::InFile;
use crate::nouns::{self, approval, break_glass, change, delegation, run, task, token};
use crate::policy::Bundle;
use crate::store::open::name;
use crate::types::entropy::SystemEntropy;
use crate::types::id;
use crate::types::page::{DEFAULT_LIMIT, MAX_LIMIT, MAX_LISTED, PageQuery};
use crate::types::refusal::{Code, Fault};
use crate::types::time::SystemClock;

/// How long a command waits for another one to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a server may take to answer; its own patience is shorter.
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may take over a long question, such as one about the whole log.
const LONG_ANSWER: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(20);

/// Who has the state file.
pub enum Opened {
    Ours(Box<Company>),
    /// A server that can be asked.
    Theirs(Holder, Link),
}

/// Opens the company, or finds the server that has it.
pub async fn open(context: &Context) -> Result<Opened, Failure> {
    let options = options(context)?;
    let (mut patient_until, mut awaited) = (Instant::now() + PATIENCE, None);
    loop {
        let holder = match open::open(&options) {
            Ok(company) => return Ok(Opened::Ours(Box::new(company))),
            Err(CannotOpen::Held(holder)) => holder,
            // Who holds the file reads it, whatever they have not.
            Err(missing @ CannotOpen::NoKey(_)) => {
                return Ok(Opened::Ours(Box::new(open::open_to_read(&options, &missing)?)));
            }
            Err(error @ CannotOpen::HeldElsewhere(_)) => return Err(Failure::busy(error.to_string())),
            Err(CannotOpen::Fault(Fault::Sqlite(error))) => return Err(name(&context.state, error).into()),
            Err(error) => return Err(error.into()),
        };
        // What a dead owner wrote may still be there: a socket counts only if somebody is behind it.
        if let Some(socket) = &holder.socket
            && let Ok(link) = Link::connect(socket).await
        {
            return Ok(Opened::Theirs(holder, link));
        }
        // Commands that follow each other are each given time to end.
        if awaited.replace(holder.pid).is_some_and(|pid| pid != holder.pid) {
            patient_until = Instant::now() + PATIENCE;
        }
        if Instant::now() >= patient_until {
            return Err(silent(&holder));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether a server has the company now.
pub async fn is_served(context: &Context) -> Result<bool, Failure> {
    let opened = open(context).await?;
    let is_served = matches!(opened, Opened::Theirs(..));
    Session::Here(opened).close().await;
    Ok(is_served)
}

pub fn options(context: &Context) -> Result<Options, Failure> {
    Ok(Options {
        path: context.state.clone(),
        entries: &nouns::OPERATIONS,
        policies: Bundle::built_in(),
        compiled: Vec::new(),
        dev_auth: context.dev_auth,
        tools: Arc::new(context.tools()),
        loopback: context.loopback(),
        secrets: context.secrets.clone(),
        ports: context.ports.clone(),
        models: Arc::clone(&context.models().catalog),
        systems: Arc::new(systems::read(context)?),
        embedder: models::embedder(context.models())?,
        journal: Arc::new(InFile),
        low_water: context.low_water,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    })
}

/// Creates a new company if there is none yet.
pub async fn begin(context: &Context) -> Result<(), Failure> {
    if context.server.is_none() && !context.state.exists() {
        Session::Here(open(context).await?).close().await;
    }
    Ok(())
}

/// What helps somebody whom the company does not know.
fn way_in(context: &Context) -> String {
    let (actor, state) = (&context.actor, context.state.display());
    if context.server.is_some() {
        String::new()
    } else if !context.state.exists() {
        format!("\nThere is no company at {state}: `ok init --admin <id>` begins one, --state names another file.")
    } else if context.by_login {
        format!("\n`{actor}` is the login name: --as or {} says who acts.", config::AS.variable)
    } else {
        String::new()
    }
}

fn silent(holder: &Holder) -> Failure {
    let what = match holder.socket {
        Some(_) => "which does not answer",
        None => "a command that has not ended yet; try again",
    };
    Failure::busy(format!("the state file is in use by process {}, {what}", holder.pid))
}

/// One or more calls in a row. Close it, or the last checkpoint is not published.
pub enum Session {
    Here(Opened),
    /// A server on the network.
    There(Remote),
    /// There is no company, so there is nobody in it; being asked leaves none behind.
    Nowhere,
}

impl Session {
    pub async fn open(context: &Context) -> Result<Session, Failure> {
        match &context.server {
            Some(address) => Remote::new(address).map(Session::There),
            None if !context.state.exists() => Ok(Session::Nowhere),
            None => open(context).await.map(Session::Here),
        }
    }

    pub async fn close(self) {
        if let Session::Here(Opened::Ours(company)) = self {
            company.close().await;
        }
    }

    /// Waits, and leaves the state file to others meanwhile.
    pub async fn pause(&mut self, context: &Context, length: Duration) -> Result<(), Failure> {
        let is_ours = matches!(self, Session::Here(Opened::Ours(_)));
        if is_ours {
            std::mem::replace(self, Session::Nowhere).close().await;
        }
        tokio::time::sleep(length).await;
        if is_ours {
            *self = Session::open(context).await?;
        }
        Ok(())
    }

    /// Performs an operation as the acting actor.
    pub async fn call(&mut self, context: &Context, op: &str, input: Value) -> Result<Result<Value, Refused>, Failure> {
        let ask =
            Ask { op: op.to_owned(), input, actor: Some(context.actor.clone()), under: context.delegation.clone() };
        let mut answer = self.send(context, ask).await?;
        Ok(answer.error.take().map_or(Ok(answer.body), Err))
    }

    async fn send(&mut self, context: &Context, mut ask: Ask) -> Result<Answer, Failure> {
        let mut short = Vec::new();
        call::abbreviated(&mut ask, &mut |id| short.push(id.clone()));
        for id in short {
            let whole = self.whole(context, &id, &ask).await?;
            call::abbreviated(&mut ask, &mut |other| {
                if *other == id {
                    other.clone_from(&whole);
                }
            });
        }
        let mut answer = self.ask(context, ask.clone()).await?;
        for seconds in BUSY {
            if !answer.error.as_ref().is_some_and(is_busy) {
                break;
            }
            show::note(&format!("The server is busy; trying again in {seconds} s."));
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            answer = self.ask(context, ask.clone()).await?;
        }
        if let Some(adapter) = &answer.partial_from {
            show::note(&format!(
                "This is not all: {adapter} is read for at most {MOST_ROWS} rows and {} seconds, and rows that do not fit their \
                 collection are left out. Ask for fewer.",
                LONGEST.as_secs()
            ));
        }
        match &mut answer.error {
            Some(refused) if refused.code == Code::Unauthorized.name() => refused.message.push_str(&way_in(context)),
            // The answer is the same whatever is not there: here it is known what was asked for.
            Some(refused) if refused.code == Code::NotFound.name() && refused.message == call::NOT_FOUND => {
                refused.message.push_str(&call::named_in(&ask.op, ask.input.clone()));
            }
            _ => {}
        }
        Ok(answer)
    }

    /// The one id that begins so, of those that the acting actor sees; where there is none, what was given. Looked up once: who
    /// follows a run asks again and again.
    async fn whole(&mut self, context: &Context, short: &str, of: &Ask) -> Result<String, Failure> {
        if let Some(whole) = context.ids().get(short) {
            return Ok(whole.clone());
        }
        let whole = self.looked_up(context, short, of).await?;
        context.ids().insert(short.to_owned(), whole.clone());
        Ok(whole)
    }

    async fn looked_up(&mut self, context: &Context, short: &str, of: &Ask) -> Result<String, Failure> {
        let list = id::beginning(short);
        let Some((list, id)) = LISTS.into_iter().find(|(name, _)| Some(*name) == list) else {
            return Ok(short.to_owned());
        };
        let (mut found, mut cursor) = (BTreeSet::new(), None);
        for _ in 0..MOST_PAGES {
            let page = PageQuery { limit: Some(MAX_LIMIT), cursor };
            let under = of.under.clone().filter(|under| under != short);
            let ask = Ask { op: list.to_owned(), input: json!(page), actor: of.actor.clone(), under };
            let answer = self.ask(context, ask).await?;
            let rows = answer.body.as_array().into_iter().flatten();
            let ids = rows.flat_map(|row| id.iter().filter_map(|id| id.of(row)?.as_str()));
            found.extend(ids.filter(|id| id.starts_with(short)).map(str::to_owned));
            cursor = answer.next;
            if cursor.is_none() {
                break;
            }
        }
        match found.len() {
            0 => Ok(short.to_owned()),
            1 => Ok(found.pop_first().unwrap_or_default()),
            _ => {
                let more = found.len().saturating_sub(SHOWN);
                let more = if more == 0 { String::new() } else { format!(", and {more} more") };
                // Who gives a part of an id has seen it lately.
                let newest: Vec<String> = found.into_iter().rev().take(SHOWN).collect();
                Err(Failure::new(format!("several begin with `{short}`: {}{more}", newest.join(", "))))
            }
        }
    }

    async fn ask(&mut self, context: &Context, ask: Ask) -> Result<Answer, Failure> {
        match self {
            Session::Nowhere => Ok(Answer::from(call::unknown(&context.actor))),
            Session::There(remote) => remote.ask(&ask).await,
            Session::Here(Opened::Ours(company)) => Ok(call::perform(&company.gate, ask).await),
            Session::Here(Opened::Theirs(holder, link)) => {
                let slow =
                    nouns::OPERATIONS.iter().any(|entry| entry.spec.name == ask.op && entry.spec.route.slow.is_some());
                let patience = if slow { LONG_ANSWER } else { ANSWER };
                match tokio::time::timeout(patience, link.ask(&ask)).await {
                    Ok(Ok(answer)) => Ok(answer),
                    Ok(Err(_)) | Err(_) => Err(silent(holder)),
                }
            }
        }
    }
}

async fn once(context: &Context, ask: Ask) -> Result<Result<Answer, Refused>, Failure> {
    // Whoever holds the state file may begin a company.
    let begins = ask.actor.is_none() && context.server.is_none();
    let mut session = if begins { Session::Here(open(context).await?) } else { Session::open(context).await? };
    let answer = session.send(context, ask).await;
    session.close().await;
    let mut answer = answer?;
    Ok(answer.error.take().map_or(Ok(answer), Err))
}

/// After how many seconds a server that was too busy for a call is asked again.
const BUSY: [u64; 3] = [1, 2, 4];

/// Whether nothing was done because too much was asked at once.
fn is_busy(refused: &Refused) -> bool {
    refused.code == Code::Unavailable.name() && refused.retry_after.is_some()
}

/// Performs an operation as the acting actor and gives its answer.
pub async fn call(context: &Context, op: &str, input: Value) -> Result<Value, Failure> {
    Ok(attempt(context, op, input).await??)
}

/// Performs an operation in the same way, but returns a refusal as a value.
pub async fn attempt(context: &Context, op: &str, input: Value) -> Result<Result<Value, Refused>, Failure> {
    let ask = Ask { op: op.to_owned(), input, actor: Some(context.actor.clone()), under: context.delegation.clone() };
    Ok(once(context, ask).await?.map(|answer| answer.body))
}

/// Performs an operation as nobody but the holder of the state file.
pub async fn call_as_holder(context: &Context, op: &str, input: Value) -> Result<Value, Failure> {
    Ok(once(context, Ask { op: op.to_owned(), input, actor: None, under: None }).await??.body)
}

/// Reads a list, page by page, to its end or to `limit` rows.
pub async fn list(context: &Context, op: &str, input: Value, limit: Option<u32>) -> Result<Vec<Value>, Failure> {
    let mut session = Session::open(context).await?;
    let rows = pages(&mut session, context, op, input, limit).await;
    session.close().await;
    rows
}

async fn pages(
    session: &mut Session,
    context: &Context,
    op: &str,
    mut input: Value,
    limit: Option<u32>,
) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    // Under `/v1`, pages are smaller.
    let listed = nouns::OPERATIONS.iter().any(|entry| entry.spec.name == op && !entry.spec.route.is_in_api());
    let (usual, most) = if listed { (MAX_LISTED, MAX_LISTED) } else { (DEFAULT_LIMIT, MAX_LIMIT) };
    loop {
        let missing = limit.map_or(usual, |limit| limit.saturating_sub(rows.len() as u32).min(most));
        set(&mut input, "limit", missing);
        let ask = Ask {
            op: op.to_owned(),
            input: input.clone(),
            actor: Some(context.actor.clone()),
            under: context.delegation.clone(),
        };
        let answer = session.send(context, ask).await?;
        if let Some(refused) = answer.error {
            return Err(refused.into());
        }
        match answer.body {
            Value::Array(page) => rows.extend(page),
            Value::Object(mut page) => {
                if let Some(Value::Array(page)) = page.remove("data") {
                    rows.extend(page);
                }
            }
            _ => {}
        }
        let full = limit.is_some_and(|limit| rows.len() >= limit as usize);
        match answer.next {
            Some(cursor) if !full => set(&mut input, "cursor", cursor),
            _ => return Ok(rows),
        }
    }
}

/// Where the ids are in what is listed of each kind of which the beginning of an id is enough.
pub const LISTS: [(&str, &[Column]); 7] = [
    (token::List::SPEC.name, columns!(token::ListedToken; id).list),
    (approval::list::List::SPEC.name, columns!(approval::shown::ShownApproval; id).list),
    (change::list::List::SPEC.name, columns!(change::ShownChange; id).list),
    (delegation::list::List::SPEC.name, columns!(delegation::shown::ShownDelegation; id).list),
    (break_glass::list::List::SPEC.name, columns!(break_glass::ShownGrant; id).list),
    (task::List::SPEC.name, columns!(task::ShownTask; id).list),
    (run::List::SPEC.name, columns!(run::ShownRun; id).list),
];

/// Of several ids that begin alike, so many are listed.
const SHOWN: usize = 5;
/// Pages that are looked through for it.
const MOST_PAGES: usize = 50;

/// Sets a field of an input.
pub fn set(input: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = input.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
