//! The parts of an answer that people read, named by the fields of its type: [`columns!`] does not compile once a field
//! has been renamed. A test also checks each column against the answer's schema.

use std::marker::PhantomData;

use serde_json::Value;

/// A field of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The fields that lead to it.
    pub path: &'static [&'static str],
    /// What it is called, where that is not the field's name.
    pub title: &'static [&'static str],
}

/// Fields of one type.
pub struct Columns<T> {
    pub list: &'static [Column],
    of: PhantomData<fn(&T)>,
}

impl<T> Columns<T> {
    /// For [`columns!`]: `has` names the fields as the compiler knows them.
    pub const fn new(list: &'static [Column], _has: fn(&T)) -> Columns<T> {
        Columns { list, of: PhantomData }
    }
}

impl<T> Clone for Columns<T> {
    fn clone(&self) -> Columns<T> {
        *self
    }
}

impl<T> Copy for Columns<T> {}

/// `columns!(ShownActor; actor.id, actor.name, members)`: fields of a type, by the names that they have in Rust. Of what
/// lies within another field, the last name is the title unless `as "…"` says another.
macro_rules! columns {
    ($of:ty; $($($field:ident).+ $(as $title:literal)?),+ $(,)?) => {
        $crate::cli::column::Columns::<$of>::new(
            &[$($crate::cli::column::Column { path: &[$(stringify!($field)),+], title: &[$($title)?] }),+],
            |of| { $(let _ = &of.$($field).+;)+ },
        )
    };
}
pub(super) use columns;

/// `free!(name, version)`: fields of an answer that is JSON without a type.
macro_rules! free {
    ($($field:ident),+) => {
        $crate::cli::column::Columns::<serde_json::Value>::new(
            &[$($crate::cli::column::Column { path: &[stringify!($field)], title: &[] }),+],
            |_| {},
        )
    };
}
pub(super) use free;

impl Column {
    pub fn title(&self) -> &'static str {
        self.title.first().copied().unwrap_or_else(|| self.field())
    }

    /// The name of the field itself.
    pub fn field(&self) -> &'static str {
        self.path.last().map_or("", |field| plain(field))
    }

    pub fn of<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        let (last, before) = self.path.split_last()?;
        // A field that is not there was flattened: what it holds stands beside the others.
        let inner = |row: &'a Value, field| row.get(plain(field)).filter(|inner| inner.is_object()).unwrap_or(row);
        let within = before.iter().fold(row, |row, field| inner(row, *field));
        within.get(plain(last))
    }
}

/// `type`, which Rust writes `r#type`.
fn plain(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}
