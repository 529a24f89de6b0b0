//! Validates a collection on its own.

use std::collections::BTreeSet;

use super::{Collection, MOST_FIELDS, NAME, OWN, Source, is_name, is_part, is_table, short};
use crate::field::{FieldKind, Label};
use crate::problems::Problems;

impl Source {
    fn problems(&self, of: &Collection, problems: &mut Problems) {
        problems.check(is_name(&self.system), format!("spec.source.system: a system's name {NAME}"));
        let table = "spec.source.table: must be a table such as orders or public.orders";
        problems.check(is_table(&self.table), table);
        for (field, column) in self.columns.iter().take(MOST_FIELDS) {
            let at = format!("spec.source.columns.{}", short(field));
            problems.check(of.field(field).is_some(), format!("{at}: {}", of.no_field(field)));
            problems.check(is_part(column), format!("{at}: must be a column's name of 1 to 63 bytes"));
        }
        let key = of.spec.key.first().and_then(|key| of.field(key)).map(|field| field.kind);
        let is_one = of.spec.key.len() == 1 && matches!(key, Some(FieldKind::Text | FieldKind::Integer));
        problems.check(
            is_one,
            "spec.key: must be one text or whole number where records are kept elsewhere: it is their id",
        );
        for (name, field) in &of.spec.fields {
            let at = format!("spec.fields.{}", short(name));
            for (is_set, what) in
                [(field.unique, "unique"), (field.index, "index"), (field.default.is_some(), "default")]
            {
                problems.check(!is_set, format!("{at}.{what}: has no effect where records are kept elsewhere"));
            }
            problems.check(
                field.label != Some(Label::Personal),
                format!("{at}.label: `personal` is what can be erased here; where records are kept elsewhere, say `confidential`"),
            );
        }
    }
}

impl Collection {
    /// Checks what is invalid whatever other collections there are.
    pub fn problems(&self, problems: &mut Problems) {
        self.metadata.problems(problems);
        problems.check(is_name(self.name()), format!("metadata.name: {NAME}"));
        let fields = &self.spec.fields;
        problems.check(
            (1..=MOST_FIELDS).contains(&fields.len()),
            format!("spec.fields: must be 1 to {MOST_FIELDS} fields, not {}", fields.len()),
        );
        for (name, field) in fields.iter().take(MOST_FIELDS) {
            let short: String = name.chars().take(63).collect();
            let at = format!("spec.fields.{}", short.escape_debug());
            problems.check(is_name(name), format!("{at}: a field's name {NAME}"));
            problems.check(!OWN.contains(&name.as_str()), format!("{at}: every record has a `{short}` of its own"));
            field.problems(&at, problems);
        }
        problems.check(self.spec.key.len() <= 4, "spec.key: must be at most 4 fields");
        let mut seen = BTreeSet::new();
        for name in &self.spec.key {
            let short: String = name.chars().take(63).collect();
            let wrong = match self.field(name) {
                None => Some("is no field".to_owned()),
                Some(_) if !seen.insert(name) => Some("stands twice".to_owned()),
                Some(field) => field.no_key(),
            };
            problems
                .check(wrong.is_none(), format!("spec.key: `{}` {}", short.escape_debug(), wrong.unwrap_or_default()));
        }
        let lost = self.spec.renamed.iter().find(|(was, now)| self.field(was).is_some() || self.field(now).is_none());
        problems.check(lost.is_none(), "spec.renamed: leads from names that are no fields to names that are");
        if let Some(source) = &self.spec.source {
            source.problems(self, problems);
        }
        if let Some(retention) = &self.spec.retention {
            retention.problems(self.spec.source.is_some(), problems);
        }
        // Semantics of invalid fields need not be checked, and with many fields that would take long.
        if problems.0.is_empty() {
            self.spec.semantics.problems(self, problems);
        }
        problems.check(
            self.spec.smallest_group.is_none_or(|least| (1..=1_000).contains(&least)),
            "spec.smallest_group: must be 1 to 1000",
        );
    }
}
