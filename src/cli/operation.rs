//! A command that performs one operation, declared from that operation:
//! `query::<Show>().command("show").fields(columns!(…))`. The arguments and their documentation come from the input's
//! type; if they differ from the input, [`Operation::given`] names an argument type that converts into the input.
//! Commands with logic of their own call [`Operation::ask`].
//!
//! Always true: generic code here is thin, and everything that takes part in a call is compiled once, whatever the
//! operation.

use std::marker::PhantomData;

use clap::ArgMatches;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call::Refused;
use super::client::Session;
use super::column::{Column, Columns};
use super::command::{Command, Needs, Running, helped};
use super::declared::Declared;
use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::gate::{Change, Query};
use crate::types::page::{Listed, Page};

/// An operation with its input `I`, its output `O`, and the arguments `A` of its command.
pub struct Operation<I, O, A = I> {
    op: &'static str,
    name: &'static str,
    help: &'static str,
    example: &'static str,
    needs: Needs,
    /// Whether its answer is read page by page.
    is_paged: bool,
    shows: Shows<O>,
    spared: Option<Spares<O>>,
    ends: Option<Ends<O>>,
    of: PhantomData<fn(A) -> I>,
}

/// An answer as its type.
type Read<O> = fn(Value) -> Result<O, Failure>;

/// The fields of an answer that say nothing to people: of this one they do not apply.
type Spares<O> = (Read<O>, fn(&O) -> &'static [Column]);

/// How a command ends by its answer.
type Ends<O> = (Read<O>, fn(&O) -> Exit);

/// What people read of its answer.
enum Shows<O> {
    Nothing,
    Fields(&'static [Column]),
    Table { none: &'static str, columns: &'static [Column] },
    Printed(Read<O>, fn(&O) -> Result<(), Failure>),
}

pub const fn query<Q: Query>() -> Operation<Q::Input, Q::Output> {
    Operation::of(Q::SPEC.name, Q::SPEC.doc)
}

pub const fn change<C: Change>() -> Operation<C::Input, C::Output> {
    Operation::of(C::SPEC.name, C::SPEC.doc)
}

/// An answer that is a list.
pub trait Rows {
    type Row;
    /// Whether it comes in pages.
    const IN_PAGES: bool;
}

impl<T> Rows for Vec<T> {
    type Row = T;
    const IN_PAGES: bool = false;
}

impl<T> Rows for Page<T> {
    type Row = T;
    const IN_PAGES: bool = true;
}

impl<T> Rows for Listed<T> {
    type Row = T;
    const IN_PAGES: bool = true;
}

impl<I, O> Operation<I, O> {
    const fn of(op: &'static str, help: &'static str) -> Operation<I, O> {
        Operation {
            op,
            name: "",
            help,
            example: "",
            needs: Needs::File,
            is_paged: false,
            shows: Shows::Nothing,
            spared: None,
            ends: None,
            of: PhantomData,
        }
    }
}

impl<I, O, A> Operation<I, O, A> {
    /// The word that it is called by.
    pub const fn command(self, name: &'static str) -> Operation<I, O, A> {
        Operation { name, ..self }
    }

    /// Other words for people than the operation's own.
    pub const fn help(self, help: &'static str) -> Operation<I, O, A> {
        Operation { help, ..self }
    }

    /// A command line that shows how it is used.
    pub const fn example(self, example: &'static str) -> Operation<I, O, A> {
        Operation { example, ..self }
    }

    /// It may be asked of a server too.
    pub const fn anywhere(self) -> Operation<I, O, A> {
        Operation { needs: Needs::FileOrServer, ..self }
    }

    /// Other arguments than the input's fields; the input is made from them.
    pub const fn given<B>(self) -> Operation<I, O, B> {
        let Operation { op, name, help, example, needs, is_paged, shows, spared, ends, .. } = self;
        Operation { op, name, help, example, needs, is_paged, shows, spared, ends, of: PhantomData }
    }

    /// Prints these fields of the answer, a line each.
    pub const fn fields(self, columns: Columns<O>) -> Operation<I, O, A> {
        Operation { shows: Shows::Fields(columns.list), ..self }
    }

    /// Reads the answer page by page, to its end or to `--limit` rows.
    pub const fn in_pages(self) -> Operation<I, O, A>
    where
        O: Rows,
    {
        Operation { is_paged: O::IN_PAGES, ..self }
    }

    /// Prints the answer's rows as a table, or that there is `none`.
    pub const fn table(self, none: &'static str, columns: Columns<O::Row>) -> Operation<I, O, A>
    where
        O: Rows,
    {
        Operation { is_paged: O::IN_PAGES, shows: Shows::Table { none, columns: columns.list }, ..self }
    }
}

impl<I, O: DeserializeOwned, A> Operation<I, O, A> {
    /// Prints the answer in its own way.
    pub const fn print(self, print: fn(&O) -> Result<(), Failure>) -> Operation<I, O, A> {
        Operation { shows: Shows::Printed(read, print), ..self }
    }

    /// Spares people fields that do not apply to this answer; programs get them all.
    pub const fn sparing(self, spared: fn(&O) -> &'static [Column]) -> Operation<I, O, A> {
        Operation { spared: Some((read, spared)), ..self }
    }

    /// How it ends hangs on the answer.
    pub const fn ends(self, ends: fn(&O) -> Exit) -> Operation<I, O, A> {
        Operation { ends: Some((read, ends)), ..self }
    }
}

fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| {
        let message = "the answer is not as this version of ok reads it; use the version that the server runs";
        Failure::new(format!("{message} ({error})"))
    })
}

/// An input as it is sent: what is not given is left out.
fn sent(input: &impl Serialize) -> Result<Value, Failure> {
    let mut input = serde_json::to_value(input)?;
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(input)
}

fn without(answer: &Value, spared: &[Column]) -> Value {
    let mut shown = answer.clone();
    let is_spared = |name: &str| spared.iter().any(|column| column.field() == name);
    shown.as_object_mut().into_iter().for_each(|fields| fields.retain(|name, _| !is_spared(name)));
    shown
}

impl<I, O, A> Declared for Operation<I, O, A>
where
    I: Serialize,
    A: clap::Args + TryInto<I>,
    Failure: From<A::Error>,
{
    fn op(&self) -> &'static str {
        self.op
    }

    fn input(&self, given: &ArgMatches) -> Result<Value, Failure> {
        sent(&A::from_arg_matches(given)?.try_into()?)
    }

    fn is_paged(&self) -> bool {
        self.is_paged
    }

    fn human(&self, answer: &Value) -> Result<(), Failure> {
        match self.shows {
            Shows::Nothing => Ok(()),
            Shows::Fields(columns) => match self.spared {
                None => show::fields(columns, answer),
                Some((read, spared)) => show::fields(columns, &without(answer, spared(&read(answer.clone())?))),
            },
            Shows::Table { none, columns } => show::list(none, columns, listed(answer)),
            Shows::Printed(read, print) => print(&read(answer.clone())?),
        }
    }

    fn exit(&self, answer: Value) -> Result<Exit, Failure> {
        match self.ends {
            None => Ok(Exit::Done),
            Some((read, ends)) => Ok(ends(&read(answer)?)),
        }
    }

    fn columns(&self) -> &'static [Column] {
        match self.shows {
            Shows::Fields(columns) | Shows::Table { columns, .. } => columns,
            Shows::Nothing | Shows::Printed(..) => &[],
        }
    }
}

impl<I, O, A> Command for Operation<I, O, A>
where
    I: Serialize,
    A: clap::Args + TryInto<I>,
    Failure: From<A::Error>,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn declared(&self) -> clap::Command {
        let command = A::augment_args(clap::Command::new(self.name));
        let command = if self.is_paged { command.arg(limit()) } else { command };
        helped(command, self.help, self.example)
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn run<'a>(&'a self, given: &'a ArgMatches, context: &'a Context) -> Running<'a> {
        Box::pin(performed(self, given, context))
    }

    fn operation(&self) -> Option<&dyn Declared> {
        Some(self)
    }
}

fn limit() -> clap::Arg {
    let count = clap::value_parser!(u32).range(1..);
    clap::Arg::new(LIMIT).long(LIMIT).value_name("N").value_parser(count).help("The maximum number of results")
}

const LIMIT: &str = "limit";

async fn performed(operation: &dyn Declared, given: &ArgMatches, context: &Context) -> Result<Exit, Failure> {
    let input = operation.input(given)?;
    let answer = match operation.is_paged() {
        true => client::list(context, operation.op(), input, given.get_one::<u32>(LIMIT).copied()).await?.into(),
        false => client::call(context, operation.op(), input).await?,
    };
    context.show(&answer, || operation.human(&answer))?;
    operation.exit(answer)
}

/// What was answered: as it came, which `--format json` prints, and as its type reads.
pub struct Answer<O> {
    pub value: Value,
    of: PhantomData<fn() -> O>,
}

impl<O> Answer<O> {
    /// Prints these fields, a line each.
    pub fn fields(&self, context: &Context, columns: Columns<O>) -> Result<Exit, Failure> {
        context.show(&self.value, || show::fields(columns.list, &self.value))
    }
}

impl<O: Rows> Answer<O> {
    /// Prints its rows as a table, or that there is `none`.
    pub fn table(&self, context: &Context, none: &str, columns: Columns<O::Row>) -> Result<Exit, Failure> {
        context.show(&self.value, || show::list(none, columns.list, listed(&self.value)))
    }

    pub fn rows(&self) -> impl Iterator<Item = Answer<O::Row>> {
        listed(&self.value).iter().map(|row| Answer { value: row.clone(), of: PhantomData })
    }
}

fn listed(answer: &Value) -> &[Value] {
    answer.as_array().map(Vec::as_slice).unwrap_or_default()
}

impl<O: Serialize> Answer<O> {
    /// What the operation would have answered.
    pub fn of(output: &O) -> Result<Answer<O>, Failure> {
        Ok(Answer { value: serde_json::to_value(output)?, of: PhantomData })
    }
}

impl<O: DeserializeOwned> Answer<O> {
    pub fn read(&self) -> Result<O, Failure> {
        read(self.value.clone())
    }
}

impl<O> Answer<O> {
    /// Returns the text in one of the answer's fields, or none.
    pub fn said(&self, columns: Columns<O>) -> Option<String> {
        let found = columns.list.iter().find_map(|column| column.of(&self.value));
        found.and_then(Value::as_str).map(str::to_owned)
    }

    /// These of its fields, as far as they hold anything.
    pub fn some(&self, columns: Columns<O>) -> Map<String, Value> {
        let found = columns.list.iter().filter_map(|column| Some((column.title().to_owned(), column.of(&self.value)?)));
        found.filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, value.clone())).collect()
    }

    /// Reads the value of one of the answer's fields.
    pub fn part<P: DeserializeOwned>(&self, columns: Columns<O>) -> Result<P, Failure> {
        let found = columns.list.iter().find_map(|column| column.of(&self.value));
        read(found.cloned().unwrap_or_default())
    }
}

impl<I: Serialize, O> Operation<I, O> {
    /// Performs it as the acting actor.
    pub async fn ask(self, context: &Context, input: &I) -> Result<Answer<O>, Failure> {
        Ok(self.attempt(context, input).await??)
    }

    /// Performs the operation in the same way, but returns a refusal as a value.
    pub async fn attempt(self, context: &Context, input: &I) -> Result<Result<Answer<O>, Refused>, Failure> {
        let answer = client::attempt(context, self.op, sent(input)?).await?;
        Ok(answer.map(|value| Answer { value, of: PhantomData }))
    }

    /// Calls the operation as one of several calls in a session.
    pub async fn within(
        self,
        session: &mut Session,
        context: &Context,
        input: &I,
    ) -> Result<Result<Answer<O>, Refused>, Failure> {
        let answer = session.call(context, self.op, sent(input)?).await?;
        Ok(answer.map(|value| Answer { value, of: PhantomData }))
    }

    /// Performs it as nobody but the holder of the state file.
    pub async fn ask_as_holder(self, context: &Context, input: &I) -> Result<Answer<O>, Failure> {
        let value = client::call_as_holder(context, self.op, sent(input)?).await?;
        Ok(Answer { value, of: PhantomData })
    }

    /// Reads a list, page by page, to its end or to `limit` rows.
    pub async fn all(self, context: &Context, input: &I, limit: Option<u32>) -> Result<Answer<O>, Failure>
    where
        O: Rows,
    {
        let rows = client::list(context, self.op, sent(input)?, limit).await?;
        Ok(Answer { value: rows.into(), of: PhantomData })
    }
}
