//! Validates semantics: ambiguous names, metrics that cannot be computed.

use std::collections::BTreeSet;

use super::{Agg, MOST, Metric, Semantics};
use crate::collection::{Collection, NAME, OWN, is_name};
use crate::expr::Expr;
use crate::figures::{figured, grouped, no_metric, short};
use crate::filter;
use crate::problems::Problems;
use crate::visible::{self, is_name as is_title};

/// The maximum number of names with synonyms; below, of synonyms per name.
const MOST_SYNONYMS: usize = 400;
const MOST_WORDS: usize = 20;

impl Semantics {
    /// Checks them against a collection's fields.
    pub(crate) fn problems(&self, of: &Collection, problems: &mut Problems) {
        let counts = [
            ("entities", self.entities.len(), MOST),
            ("dimensions", self.dimensions.len(), MOST),
            ("metrics", self.metrics.len(), MOST),
            ("synonyms", self.synonyms.len(), MOST_SYNONYMS),
        ];
        for (name, _, most) in counts.into_iter().filter(|(_, count, most)| count > most) {
            problems.0.push(format!("spec.semantics.{name}: must be at most {most}"));
        }
        let mut seen: BTreeSet<&str> = of.spec.fields.keys().map(String::as_str).chain(OWN.iter().copied()).collect();
        let mut named = |name, at: &str, title: &Option<String>, problems: &mut Problems| {
            problems.check(is_name(name), format!("{at}: a name {NAME}"));
            let message = format!("{at}: `{}` is already used; each name must be unique", short(name));
            problems.check(seen.insert(name), message);
            let title = title.as_ref().is_none_or(|title| is_title(title));
            problems.check(title, visible::NO_NAME.replacen("name", &format!("{at}.title"), 1));
        };
        for (name, entity) in self.entities.iter().take(MOST) {
            let at = place("entities", name);
            named(name, &at, &entity.title, problems);
            report(&at, "key", grouped(of, &entity.key, None), problems);
        }
        for (name, dimension) in self.dimensions.iter().take(MOST) {
            let at = place("dimensions", name);
            named(name, &at, &dimension.title, problems);
            report(&at, "field", grouped(of, &dimension.field, dimension.grain), problems);
        }
        for (name, metric) in self.metrics.iter().take(MOST) {
            let at = place("metrics", name);
            named(name, &at, &metric.title, problems);
            problems
                .check(name != Agg::Count.name(), format!("{at}: `count` already counts records; choose another name"));
            metric.problems(of, &at, problems);
            if let Some(expr) = &metric.expr {
                report(&at, "expr", self.made_of(of, expr), problems);
            }
        }
        for (name, words) in self.synonyms.iter().take(MOST_SYNONYMS) {
            let at = place("synonyms", name);
            let is_there = seen.contains(name.as_str()) || name == of.name();
            problems.check(is_there, format!("{at}: there is nothing named `{}`", short(name)));
            let fit = (1..=MOST_WORDS).contains(&words.len()) && words.iter().all(|word| is_title(word));
            problems.check(fit, format!("{at}: must be 1 to {MOST_WORDS} words, of 1 to 100 characters each"));
        }
    }

    /// Checks whether a metric can be computed from others.
    fn made_of(&self, of: &Collection, expr: &str) -> Result<(), String> {
        for name in Expr::parse(expr)?.names() {
            let part = self.metrics.get(name).ok_or_else(|| no_metric(of, name))?;
            let agg = part.agg.ok_or_else(|| format!("`{name}` is itself computed from other metrics"))?;
            let kind = part.field.as_ref().and_then(|field| Some(of.findable(field).ok()?.kind));
            let counts = matches!(agg, Agg::Count | Agg::Distinct);
            if !counts && kind.is_some_and(|kind| !kind.is_number()) {
                return Err(format!("`{name}` is no number"));
            }
        }
        Ok(())
    }
}

impl Metric {
    fn problems(&self, of: &Collection, at: &str, problems: &mut Problems) {
        match (self.agg, &self.expr) {
            (Some(agg), None) => report(at, "field", figured(of, agg, self.field.as_deref()), problems),
            (None, Some(_)) => problems.check(
                self.field.is_none() && self.filter.is_none(),
                format!("{at}: `field` and `filter` belong to the metrics that `expr` uses"),
            ),
            _ => problems.0.push(format!("{at}: must have either `agg` or `expr`")),
        }
        let filter = self.filter.as_ref().map(|filter| filter::check(of, filter, &format!("{at}.filter")));
        if let Some(Err((at, what))) = filter {
            problems.0.push(format!("{at}: {what}"));
        }
        let unit = self.unit.as_ref().is_none_or(|unit| is_title(unit));
        problems.check(unit, visible::NO_NAME.replacen("name", &format!("{at}.unit"), 1));
    }
}

/// Formats a position such as `spec.semantics.metrics.open_total`.
fn place(list: &str, name: &str) -> String {
    format!("spec.semantics.{list}.{}", short(name))
}

fn report(at: &str, key: &str, fits: Result<(), String>, problems: &mut Problems) {
    if let Err(what) = fits {
        problems.0.push(format!("{at}.{key}: {what}"));
    }
}
