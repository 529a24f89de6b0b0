//! Everything that can happen. An event is declared once, in its noun's `events.rs`, with all its consequences: its
//! subjects, how it is shown, what it does to the tables, and who is notified. Only the list of nouns gathers the
//! declarations.
//!
//! Always true: a fold reads neither clock nor network; its declaration of tables and memory is accurate (builds with
//! debug assertions check every fold). No event contains a secret: only the hash of a token.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use rusqlite::Connection;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

pub(super) use super::subject::Subject;

pub use super::moment::{Moment, Table};

use super::memory::{Memory, Touched};
use super::outbox::News;
use super::settles::{End, Settles, Standing};
use types::id::{ActorId, Id};

/// How the content of an event is treated.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// The fields that the log needs and readers do not, or may not see: left out where events are shown.
    pub hidden: &'static [&'static str],
    /// A list of objects that is shown in part, and only to readers of the whole log: these fields of its first
    /// [`MOST_SHOWN`] objects, and the number of objects in `count`. Others see neither, because they may not see every
    /// thing that the list names.
    pub partly: Option<(&'static str, &'static [&'static str])>,
    /// It can be erased without the tables losing anything.
    pub erasable: bool,
    /// Whether the event says how many recorded decisions would change. Only readers who may see all of those decisions
    /// see it.
    pub counts: bool,
    /// Whether it only accompanies what really happened, such as an attempt to deliver a message. Summaries leave it out.
    pub minor: bool,
}

impl Content {
    pub const SHOWN: Content = Content { hidden: &[], partly: None, erasable: false, counts: false, minor: false };
    pub const ERASABLE: Content = Content { erasable: true, ..Content::SHOWN };
    pub const COUNTED: Content = Content { counts: true, ..Content::SHOWN };

    pub const fn hiding(self, fields: &'static [&'static str]) -> Content {
        Content { hidden: fields, ..self }
    }

    pub const fn minor(self) -> Content {
        Content { minor: true, ..self }
    }

    pub const fn showing(self, list: &'static str, fields: &'static [&'static str]) -> Content {
        Content { partly: Some((list, fields)), ..self }
    }

    /// Leaves out what readers are not shown.
    pub fn reduce(&self, event: &mut Map<String, Value>) {
        self.hidden.iter().for_each(|hidden| drop(event.remove(*hidden)));
        let Some((list, shown)) = self.partly else { return };
        let Some(Value::Array(rows)) = event.get_mut(list) else { return };
        let count = rows.len();
        rows.truncate(MOST_SHOWN);
        rows.iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|row| row.retain(|name, _| shown.contains(&name.as_str())));
        event.insert(COUNT.into(), count.into());
    }

    /// Leaves out what is shown only to whoever may read the whole log.
    pub fn withhold(&self, event: &mut Map<String, Value>) {
        for field in self.partly.iter().flat_map(|(list, _)| [*list, COUNT]) {
            event.remove(field);
        }
    }
}

/// The field that says how many entries a list has.
const COUNT: &str = "count";
/// So many entries of a list are shown of one event.
pub const MOST_SHOWN: usize = 20;

/// All that follows from an event. Each line is written, also where nothing follows: what is forgotten does not compile.
pub struct Means<E: 'static> {
    /// What it says of whoever did it, as a sentence without its subject: see [`EventKind::says`].
    pub says: &'static str,
    pub content: Content,
    /// The tables that its fold may write, or that cannot be made again without it.
    pub tables: &'static [Table],
    /// What of the directory in memory its fold may change.
    pub memory: Memory,
    /// What it says about other things: that one is over, how a request or a run's step stands.
    pub settles: Settles<E>,
    pub fold: Option<fn(&E, &Moment<'_>) -> rusqlite::Result<Touched>>,
    /// What it puts into inboxes, or settles there; done before its fold.
    pub notify: Notify<E>,
    /// Returns what is sent outside about this event, if it is sent at all.
    pub news: Option<fn(&E, &Author<'_>) -> Option<News>>,
}

/// What an event puts into inboxes, or settles there.
pub enum Notify<E: 'static> {
    Nobody,
    /// Whoever's inbox it reaches may read the event, too.
    AndShow(fn(&E, &Moment<'_>) -> rusqlite::Result<()>),
    /// Whoever's inbox it reaches reads the event only if they may anyway.
    Only(fn(&E, &Moment<'_>) -> rusqlite::Result<()>),
}

/// The author of an event that is sent outside.
pub struct Author<'a> {
    pub by: &'a ActorId,
    pub is_person: bool,
}

/// A declared event; `events!` makes the rest of it.
pub trait Declared: Clone + Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const KIND: EventKind;
    const MEANS: Means<Self>;
    fn about(&self, ids: &mut BTreeSet<String>);
}

/// A type of event.
#[derive(Clone, Copy, Debug)]
pub struct EventKind {
    pub name: &'static str,
    /// One sentence for the reference.
    pub doc: &'static str,
    /// The event as a sentence, after the name of whoever did it. `{name}` is a field of the event, `{role|kind}` the first
    /// of several that is given, `{rows.0.id}` what a field holds. `@{name}` is an actor, `` `{name}` `` an identifier,
    /// `«{name}»` what somebody wrote, `{name:a change}` a link to what it names. `{flag?yes|no}` and `{field=value?yes|no}`
    /// choose words, or the field after a colon: `{kind=person?:role|:kind}`. `{events#event}` counts. A part in brackets is
    /// omitted if a field in it is not given; one that begins with ` of @`, also if that actor is the one who did it.
    pub says: &'static str,
    pub fields: &'static [&'static str],
    pub content: Content,
    pub memory: Memory,
    /// Whether those whose inbox it reaches may read it.
    pub shows: bool,
    /// Whether the call that led to it was carried out, and not held by a budget.
    pub is_done: bool,
    notifies: bool,
    tables: &'static [Table],
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    read: fn(Value) -> serde_json::Result<Event>,
    logged: fn(&[u8]) -> serde_json::Result<Event>,
}

/// What an entry of the log holds, as far as its event goes.
#[derive(serde::Deserialize)]
struct Payload<E> {
    event: E,
}

impl EventKind {
    pub(super) const fn of<E: Declared>(
        name: &'static str,
        doc: &'static str,
        fields: &'static [&'static str],
    ) -> EventKind {
        EventKind {
            name,
            doc,
            says: E::MEANS.says,
            fields,
            content: E::MEANS.content,
            memory: E::MEANS.memory,
            shows: matches!(E::MEANS.notify, Notify::AndShow(_)),
            is_done: !matches!(E::MEANS.settles, Settles::Held(_)),
            notifies: !matches!(E::MEANS.notify, Notify::Nobody),
            tables: E::MEANS.tables,
            schema: |generator| generator.subschema_for::<E>(),
            read: |value| Ok(Event::from(serde_json::from_value::<E>(value)?)),
            logged: |payload| Ok(Event::from(serde_json::from_slice::<Payload<E>>(payload)?.event)),
        }
    }

    /// Every type of event, noun by noun.
    pub fn all() -> impl Iterator<Item = EventKind> {
        super::EVENTS.iter().copied().flatten().copied()
    }

    pub fn named(name: &str) -> Option<EventKind> {
        static NAMED: LazyLock<BTreeMap<&str, EventKind>> =
            LazyLock::new(|| EventKind::all().map(|kind| (kind.name, kind)).collect());
        NAMED.get(name).copied()
    }

    /// The event of this type in an entry's payload, read in one go.
    pub fn logged(&self, payload: &[u8]) -> serde_json::Result<Event> {
        (self.logged)(payload)
    }

    /// The tables that it may change.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        let inbox = self.notifies.then_some(super::inbox::TABLE);
        let history = self.memory.is_directory().then_some(super::history::TABLE);
        self.tables.iter().copied().chain(inbox).chain(history)
    }
}

impl PartialEq for EventKind {
    fn eq(&self, other: &EventKind) -> bool {
        self.name == other.name
    }
}

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event(Arc<dyn Happening>);

/// An event whose type is erased.
trait Happening: Debug + Send + Sync {
    fn kind(&self) -> EventKind;
    fn about(&self, ids: &mut BTreeSet<String>);
    fn content(&self) -> serde_json::Result<Value>;
    fn notify(&self, moment: &Moment<'_>) -> rusqlite::Result<()>;
    fn fold(&self, moment: &Moment<'_>) -> rusqlite::Result<Touched>;
    fn news(&self, author: &Author<'_>) -> Option<News>;
    fn ends(&self, conn: &Connection) -> rusqlite::Result<Vec<End>>;
    fn request(&self) -> Option<(&Id, Standing)>;
    fn step_of(&self) -> Option<&Id>;
    fn as_any(&self) -> &dyn Any;
}

impl<E: Declared> Happening for E {
    fn kind(&self) -> EventKind {
        E::KIND
    }
    fn about(&self, ids: &mut BTreeSet<String>) {
        Declared::about(self, ids);
    }
    fn content(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
    fn notify(&self, moment: &Moment<'_>) -> rusqlite::Result<()> {
        match E::MEANS.notify {
            Notify::Nobody => Ok(()),
            Notify::AndShow(notify) | Notify::Only(notify) => notify(self, moment),
        }
    }
    fn fold(&self, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
        E::MEANS.fold.map_or(Ok(Touched::Nothing), |fold| fold(self, moment))
    }
    fn news(&self, author: &Author<'_>) -> Option<News> {
        E::MEANS.news.and_then(|news| news(self, author))
    }
    fn ends(&self, conn: &Connection) -> rusqlite::Result<Vec<End>> {
        if let Settles::Ends(ends) = E::MEANS.settles { ends(self, conn) } else { Ok(Vec::new()) }
    }
    fn request(&self) -> Option<(&Id, Standing)> {
        if let Settles::Request(request) = E::MEANS.settles { Some(request(self)) } else { None }
    }
    fn step_of(&self) -> Option<&Id> {
        match E::MEANS.settles {
            Settles::Step(run) | Settles::Held(run) => Some(run(self)),
            Settles::Nothing | Settles::Ends(_) | Settles::Request(_) => None,
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<E: Declared> From<E> for Event {
    fn from(event: E) -> Event {
        Event(Arc::new(event))
    }
}

impl Event {
    pub fn kind(&self) -> EventKind {
        self.0.kind()
    }

    /// The event, if it is one of this type.
    pub fn get<E: Declared>(&self) -> Option<&E> {
        self.0.as_any().downcast_ref()
    }

    /// Returns the ids that the event is about. `GET /events` filters by them, and the event's visibility depends on
    /// them.
    pub fn subjects(&self) -> Vec<String> {
        let mut ids = BTreeSet::new();
        self.0.about(&mut ids);
        ids.into_iter().filter(|id| !id.is_empty()).collect()
    }

    /// Returns what is sent outside about the event, if anything.
    pub fn news(&self, author: &Author<'_>) -> Option<News> {
        self.0.news(author)
    }

    /// What is over with it, as the tables stand before it is folded.
    pub fn ends(&self, conn: &Connection) -> rusqlite::Result<Vec<End>> {
        self.0.ends(conn)
    }

    /// The request for approval that it settles or adds to, and how that stands.
    pub fn request(&self) -> Option<(&Id, Standing)> {
        self.0.request()
    }

    /// The run of whose current step it says how it stands.
    pub fn step_of(&self) -> Option<&Id> {
        self.0.step_of()
    }

    /// Tells inboxes of it and folds it into the tables.
    pub fn fold(&self, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
        self.0.notify(moment)?;
        let touched = self.0.fold(moment)?;
        let EventKind { name, memory, .. } = self.kind();
        let declared = [Memory::Nothing, memory].contains(&touched.memory());
        debug_assert!(declared, "the fold of {name} leads to {touched:?}, and it declares {memory:?}");
        super::history::keep(&touched, moment)?;
        Ok(touched)
    }

    /// An event as the log keeps it.
    pub fn read(value: Value) -> serde_json::Result<Event> {
        let name = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let kind = EventKind::named(name);
        let kind = kind.ok_or_else(|| {
            <serde_json::Error as serde::de::Error>::custom(format!("there is no event type `{name}`"))
        })?;
        (kind.read)(value)
    }
}

/// As the log keeps it: its fields, and its `type`.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut content = self.0.content().map_err(S::Error::custom)?;
        if let Some(fields) = content.as_object_mut() {
            fields.insert("type".into(), self.kind().name.into());
        }
        content.serialize(serializer)
    }
}

/// Declares the events of a noun: each with its sentence, its type in the log, its fields, those that name what it is about,
/// and all that follows from it; and `ALL`, which `store::EVENTS` names.
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $event:ident = $name:literal {
        $($(#[$meta:meta])* $field:ident: $type:ty,)*
    } about [$($about:ident),*] => { $($means:tt)* })*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
            pub struct $event { $($(#[$meta])* pub $field: $type,)* }

            impl $event {
                pub const KIND: $crate::event::EventKind = <$event as $crate::event::Declared>::KIND;
            }

            impl $crate::event::Declared for $event {
                const KIND: $crate::event::EventKind = $crate::event::EventKind::of::<$event>(
                    $name, concat!($($doc),+), &[$(stringify!($field),)*],
                );
                const MEANS: $crate::event::Means<$event> = $crate::event::Means { $($means)* };

                fn about(&self, ids: &mut std::collections::BTreeSet<String>) {
                    let about: &[&dyn $crate::event::Subject] = &[$(&self.$about),*];
                    about.iter().for_each(|one| one.name(ids));
                }
            }
        )*

        pub const ALL: &[$crate::event::EventKind] = &[$($event::KIND,)*];
    };
}

pub(super) use events;
