//! The only place that prints. Answers go to stdout, everything about them to stderr. What people or agents wrote may
//! hold anything: whatever the command and the format, characters that steer are written out, never passed on.

pub mod aside;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;

use clap::builder::TypedValueParser as _;
use clap::builder::styling::AnsiColor;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::Value;

use self::aside::Aside;
use super::column::{Column, Columns};
use super::exit::Failure;
use crate::config;
use crate::types::id;
use crate::types::token::masked;
use crate::types::visible as types;
pub use crate::types::visible::visible;

/// What a person reads, or what a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Human,
    Json,
    Junit,
    Sarif,
    /// Annotations of a workflow.
    Github,
}

/// The formats of every command; a check of policies has more.
pub fn common() -> impl clap::builder::TypedValueParser<Value = Format> {
    clap::builder::PossibleValuesParser::new(["human", "json"])
        .map(|name| if name == "json" { Format::Json } else { Format::Human })
}

/// Writes to stdout. That nobody reads it any more ends the command quietly.
fn out(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::NobodyReads,
        _ => Failure::new(format!("cannot write to stdout: {error}")),
    })
}

/// A line, or several.
pub fn text(text: &str) -> Result<(), Failure> {
    whole(&format!("{}\n", text.trim_end_matches('\n')))
}

/// A text to its last character.
pub fn whole(text: &str) -> Result<(), Failure> {
    out(types::visible(text).as_bytes())
}

/// What another program reads, as it is.
#[cfg(feature = "pdf")]
pub fn piped(bytes: &[u8]) -> Result<(), Failure> {
    out(bytes)
}

/// A text with colours of ours on a terminal: what was put between them must be visible already.
pub fn painted(text: &str) -> Result<(), Failure> {
    if is_coloured() { out(text.as_bytes()) } else { whole(text) }
}

/// Whether stdout shows colour.
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && config::NO_COLOR.value().is_none()
}

/// JSON on one line.
pub fn json(value: &Value) -> Result<(), Failure> {
    out(format!("{}\n", types::visible_json(&value.to_string())).as_bytes())
}

/// A remark beside the answer.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", visible(text));
}

/// Prints «Error: …». Tokens that somebody pasted in the wrong place are masked, because others may keep what programs
/// print.
pub fn error(message: &str) {
    let style = AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{style}Error:{style:#} {}", visible(&masked(message)));
}

/// An error as a program reads it, on one line.
pub fn json_error(value: &Value) {
    let _ = writeln!(io::stderr(), "{}", types::visible_json(&masked(&value.to_string())));
}

/// What clap has to say: help, the version, or what was not understood.
pub fn clap(error: &clap::Error) {
    let text = error.render().to_string();
    let is_plain = !text.chars().any(types::steers) && masked(&text) == text;
    let _ = match (is_plain, error.use_stderr()) {
        (true, _) => error.print(),
        (false, true) => writeln!(io::stderr(), "{}", types::visible(masked(&text).trim_end())),
        (false, false) => writeln!(io::stdout(), "{}", types::visible(text.trim_end())),
    };
}

/// A field of what is shown.
pub trait Field {
    fn title(&self) -> &str;
    fn of<'a>(&self, thing: &'a Value) -> Option<&'a Value>;
}

impl Field for Column {
    fn title(&self) -> &str {
        Column::title(self)
    }
    fn of<'a>(&self, thing: &'a Value) -> Option<&'a Value> {
        Column::of(self, thing)
    }
}

impl Field for &str {
    fn title(&self) -> &str {
        self
    }
    fn of<'a>(&self, thing: &'a Value) -> Option<&'a Value> {
        thing.get(self)
    }
}

/// Rows as an aligned table; a column is a field of the rows.
pub fn table(columns: &[impl Field], rows: &[Value]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let head = columns.iter().map(|column| column.title().to_uppercase().replace('_', " ")).collect();
    let cells = |row: &Value| columns.iter().map(|column| cell(column.of(row))).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    match width() {
        Some(width) if widest(&lines) > width => text(&wrapped(short(lines), width)),
        _ => text(&aligned(lines.into_iter())),
    }
}

/// Prints the list that somebody asked for, or the text `none` if it is empty.
pub fn list(none: &str, columns: &[impl Field], rows: &[Value]) -> Result<(), Failure> {
    if rows.is_empty() { text(none) } else { table(columns, rows) }
}

/// How many characters a line may have; any number where nobody looks.
fn width() -> Option<usize> {
    let said = config::COLUMNS.value().and_then(|columns| columns.trim().parse().ok());
    said.or_else(|| Table::new().width().map(usize::from)).filter(|width| *width >= NARROW)
}

/// No table is made narrower.
const NARROW: usize = 20;

fn widest(lines: &[Vec<String>]) -> usize {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count() + 2).max();
    (0..columns).filter_map(wide).sum::<usize>().saturating_sub(2)
}

/// Ids by a beginning that names each among those that are shown. Commands take a beginning where it is enough.
fn short(mut lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let ids: BTreeSet<String> = lines.iter().flatten().filter(|cell| id::is_whole(cell)).cloned().collect();
    let shared = ids
        .iter()
        .zip(ids.iter().skip(1))
        .map(|(one, other)| one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count());
    let length = shared.max().map_or(0, |shared| shared + 2).max(id::SHORT);
    for cell in lines.iter_mut().flatten().filter(|cell| ids.contains(*cell)) {
        cell.truncate(length);
    }
    lines
}

/// Rows in columns, no wider than this: what is long goes on below.
fn wrapped(lines: Vec<Vec<String>>, width: usize) -> String {
    let whole = kept_whole(&lines, width);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(lines);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::try_from(width).unwrap_or(u16::MAX));
    for (column, is_whole) in table.column_iter_mut().zip(whole) {
        column.set_padding((0, 2));
        if is_whole {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.trim_fmt()
}

/// Which columns are not broken: those of one word a cell, such as ids and times, as long as the others have some room.
fn kept_whole(lines: &[Vec<String>], width: usize) -> Vec<bool> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let mut left = width.saturating_sub(NARROW);
    let mut whole = Vec::new();
    for at in 0..columns {
        let cells = || lines.iter().filter_map(move |line| line.get(at));
        let wide = cells().map(|cell| cell.chars().count() + 2).max().unwrap_or_default();
        let is_whole = wide <= left && cells().skip(1).all(|cell| !cell.contains(char::is_whitespace));
        left = left.saturating_sub(if is_whole { wide } else { 0 });
        whole.push(is_whole);
    }
    whole
}

/// The fields of one thing, a line each; fields that are absent or empty are left out.
pub fn fields(columns: &[impl Field], thing: &Value) -> Result<(), Failure> {
    let said =
        columns.iter().map(|column| (column.title(), cell(column.of(thing)))).filter(|(_, value)| value != NOTHING);
    text(&aligned(said.map(|(name, value)| vec![name.replace('_', " "), value])))
}

/// The same, by the fields of its type.
pub fn one<T: Serialize>(columns: Columns<T>, thing: &T) -> Result<(), Failure> {
    fields(columns.list, &serde_json::to_value(thing)?)
}

/// Texts below a title.
pub fn column(title: &str, texts: &[String]) -> Result<(), Failure> {
    let rows: Vec<Value> = texts
        .iter()
        .map(|text| Value::Object([(title.to_owned(), text.clone().into())].into_iter().collect()))
        .collect();
    table(&[title], &rows)
}

/// Things of one type as a table.
pub fn rows<T: Serialize>(columns: Columns<T>, things: &[T]) -> Result<(), Failure> {
    let rows: Vec<Value> = things.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    table(columns.list, &rows)
}

/// Rows in columns, each as wide as it must be.
pub fn aligned(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows);
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    table.trim_fmt()
}

/// Returns the text of a field, as a table shows it.
pub fn said(field: &impl Serialize) -> String {
    cell(serde_json::to_value(field).ok().as_ref())
}

pub const NOTHING: &str = "-";

/// A value in a table.
pub fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => NOTHING.into(),
        Some(Value::String(text)) if text.is_empty() => NOTHING.into(),
        Some(Value::String(text)) => one_line(&whole_seconds(text)),
        Some(Value::Bool(yes)) => (if *yes { "yes" } else { "no" }).into(),
        Some(Value::Array(items)) if items.is_empty() => NOTHING.into(),
        Some(Value::Array(items)) => items.iter().map(|item| cell(Some(item))).collect::<Vec<_>>().join(", "),
        Some(Value::Object(fields)) => {
            let said =
                fields.iter().map(|(name, value)| (name, cell(Some(value)))).filter(|(_, value)| value != NOTHING);
            let said: Vec<String> = said.map(|(name, value)| format!("{}: {value}", one_line(name))).collect();
            if said.is_empty() { NOTHING.into() } else { said.join("; ") }
        }
        Some(other) => visible(&other.to_string()),
    }
}

/// A time without its fraction, so that all are equally wide; any other text as it is.
fn whole_seconds(text: &str) -> Cow<'_, str> {
    let fraction = text.get(20..).and_then(|rest| rest.strip_suffix('Z'));
    let is_time = text.get(10..11) == Some("T") && text.get(19..20) == Some(".");
    match (fraction.is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit())), is_time, text.get(..19)) {
        (true, true, Some(seconds)) => Cow::Owned(format!("{seconds}Z")),
        _ => Cow::Borrowed(text),
    }
}

fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// What the program says beside its work, once it has begun.
static ASIDE: OnceLock<Aside> = OnceLock::new();

/// A remark of a server, which waits for nobody to read it.
pub fn remark(text: &str) {
    match ASIDE.get() {
        Some(aside) => aside.say(format!("{}\n", visible(text)).as_bytes()),
        None => note(text),
    }
}

/// Starts the program's diagnostic output on stderr. Dropping the returned value waits until the last messages are
/// written.
pub fn trace() -> Result<Tracing, Failure> {
    let filter = config::LOG.value().unwrap_or_else(|| config::LOG.default.into());
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .map_err(|error| Failure::Usage(format!("{}: {error}", config::LOG.variable)))?;
    let colour = io::stderr().is_terminal() && config::NO_COLOR.value().is_none();
    let aside = Aside::to(io::stderr()).map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let aside = ASIDE.get_or_init(|| aside);
    let made = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| aside.clone());
    made.with_ansi(colour).init();
    // The usual hook waits until it is read.
    std::panic::set_hook(Box::new(|panic| remark(&panic.to_string())));
    Ok(Tracing(aside))
}

/// That the program tells about itself.
pub struct Tracing(&'static Aside);

impl Drop for Tracing {
    fn drop(&mut self) {
        self.0.finish();
    }
}
