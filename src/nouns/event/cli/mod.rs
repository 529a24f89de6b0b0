//! Reads the log for people: as an actor who sees some of it or, for an actor that does not exist, as the holder of the state
//! file, who can read all of it anyway. A file that was moved without its key is read in the same way, because asking the
//! gate may write.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::column::columns;
use super::exit::{Exit, Failure};
use super::operation::{Answer, query};
use super::{Context, client, file, show};
use crate::gate::state::keys;
use crate::log::read::{self, Filter, Order};
use crate::nouns::event::{EventRecord, Events, List, Scan, Which, collect};
use crate::store::open::is_sealed;
use crate::types::id::ActorId;
use crate::types::json as input;
use crate::types::page::{DEFAULT_LIMIT, MAX_LIMIT};
use crate::types::refusal::{Code, Stop};
use crate::types::time::Time;

/// Events as the operation returns them.
pub struct Found {
    pub rows: Vec<Value>,
    pub last_seq: i64,
    /// Events before this time may not name the token asked for.
    unnamed_before: Option<Time>,
}

impl Found {
    pub fn show(&self, context: &Context) -> Result<Exit, Failure> {
        if let Some(since) = self.unnamed_before {
            show::note(&unnamed(since));
        }
        let answer = json!({ "events": self.rows, "last_seq": self.last_seq });
        context.show(&answer, || self.print())
    }

    /// Prints the events, if there are any.
    pub fn show_new(&self, context: &Context) -> Result<Exit, Failure> {
        if self.rows.is_empty() { Ok(Exit::Done) } else { self.show(context) }
    }

    fn print(&self) -> Result<(), Failure> {
        if self.rows.is_empty() { show::text("no events") } else { show::text(&lines(&self.rows)?) }
    }
}

/// Reads events: those after `which.since`, if given, to the end or to `limit`; otherwise the newest.
pub async fn read(context: &Context, mut which: Which, limit: Option<u32>) -> Result<Found, Failure> {
    let mut found = Found { rows: Vec::new(), last_seq: 0, unnamed_before: None };
    loop {
        let missing = limit.map(|limit| limit.saturating_sub(found.rows.len() as u32));
        let page = match which.since {
            Some(_) => missing.unwrap_or(MAX_LIMIT).min(MAX_LIMIT),
            None => missing.unwrap_or(DEFAULT_LIMIT),
        };
        which.limit = Some(page);
        let answer = one_page(context, &which).await?;
        let Events { events, last_seq, is_partial, unnamed_before } = answer.read()?;
        let is_full = events.len() >= page as usize;
        let whole = which.since.is_none() || !is_full && !is_partial;
        let last = events.last().map(|last| last.seq);
        which.since = if is_full { last } else { Some(last_seq) };
        found.last_seq = last_seq;
        found.unnamed_before = unnamed_before;
        found.rows.extend(answer.part::<Vec<Value>>(columns!(Events; events))?);
        if whole || limit.is_some_and(|limit| found.rows.len() >= limit as usize) {
            return Ok(found);
        }
    }
}

/// Explains which events may be missing when filtering by token.
pub fn unnamed(before: Time) -> String {
    format!(
        "Entries from before {before}, when this file was upgraded, do not name the token they were made with: `ok log --actor` lists what its holder did."
    )
}

async fn one_page(context: &Context, which: &Which) -> Result<Answer<Events>, Failure> {
    if context.server.is_none() && (keys::missing(&context.state).is_some() || is_sealed(&context.state)) {
        return unfiltered(context, which);
    }
    match query::<List>().attempt(context, which).await? {
        Err(refused) if refused.code == Code::Unauthorized.name() => {
            client::begin(context).await?;
            unfiltered(context, which)
        }
        answered => Ok(answered?),
    }
}

/// Reads all matching events from the file itself.
fn unfiltered(context: &Context, which: &Which) -> Result<Answer<Events>, Failure> {
    let mut conn = file::open(context)?;
    let moment = file::moment(&mut conn)?;
    let scan: Scan<'_> = &|order, filter, each| read::scan(&moment, order, filter, each);
    if let Some(id) = &which.only.token_id
        && !names(id, scan)?
    {
        return Err(Failure::new(format!("nothing in the log names a token `{id}`")));
    }
    match collect(which, read::last_seq(&moment)?, (scan, &ActorId::system()), |_| Ok(true)) {
        Ok(events) => Answer::of(&events),
        Err(Stop::Refused(refusal)) => Err(Failure::new(refusal.message)),
        Err(Stop::Failed(fault)) => Err(fault.into()),
    }
}

/// Checks whether any event refers to an id.
fn names(id: &str, scan: Scan<'_>) -> Result<bool, Failure> {
    let mut found = false;
    scan(Order::Newest, &Filter { refs: vec![id.to_owned()], ..Filter::default() }, &mut |_| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// The fields at the start of an event's line: its type and, if it stands for several, their number.
const TYPE: &str = "type";
const TIMES: &str = "count";

/// Formats one line per event: number, time, actor, decision, type, and details.
fn lines(events: &[Value]) -> Result<String, Failure> {
    let row = |event: &Value| {
        let EventRecord { seq, at, actor, on_behalf_of, decision, event, .. } = EventRecord::deserialize(event)?;
        let actor = match on_behalf_of.is_empty() {
            true => show::said(&actor),
            false => format!("{} (for {})", show::said(&actor), show::said(&on_behalf_of)),
        };
        let kind = show::cell(event.get(TYPE));
        let kind = match event.get(TIMES) {
            Some(times) => format!("{kind} {times} times"),
            None => kind,
        };
        Ok(vec![seq.to_string(), show::said(&at), actor, show::said(&decision), kind, details(&event)])
    };
    let rows: Vec<Vec<String>> = events.iter().map(row).collect::<Result<_, Failure>>()?;
    Ok(show::aligned(rows.into_iter()))
}

/// Formats a field's value; JSON within a text, such as a message to be sent, by its content.
fn describe(value: &Value) -> String {
    let inner = value.as_str().filter(|text| text.starts_with(['{', '[']));
    let inner = inner.and_then(|text| input::read::<Value>(text.as_bytes()).ok());
    show::cell(Some(inner.as_ref().unwrap_or(value)))
}

/// The maximum characters of one field on a line; `--format json` shows it whole.
const LONGEST: usize = 160;

fn shortened(mut value: String) -> String {
    if let Some((end, _)) = value.char_indices().nth(LONGEST) {
        value.truncate(end);
        value.push('…');
    }
    value
}

/// Formats the event's own fields as `name=value`, without absent or empty ones.
fn details(event: &Value) -> String {
    let fields = event.as_object().into_iter().flatten().filter(|(name, _)| ![TYPE, TIMES].contains(&name.as_str()));
    let said =
        fields.map(|(name, value)| (name, shortened(describe(value)))).filter(|(_, value)| value != show::NOTHING);
    said.map(
        |(name, value)| if value.contains(' ') { format!("{name}=\"{value}\"") } else { format!("{name}={value}") },
    )
    .collect::<Vec<_>>()
    .join(" ")
}
