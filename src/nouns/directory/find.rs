//! Finds people and agents by skill, id and name, best match first.
//!
//! Always true: no search reads every actor. Skills and people are found by the directory's index, the beginning of an id by
//! the table's; what no index serves, such as a part of a name, is scanned a stretch at a time, and the page ends with a
//! cursor when it has cost enough.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::Position;
use store::actors::{Actor, Status};
use types::actor::{ActorKind, Role, Trust};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::{Fault, Stop};
use types::scope::Reach;

/// How many candidates without a match count as one row without a hit.
const STRETCH: usize = 40;

/// Who is sought.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Sought {
    /// Skills, separated by commas; any match counts, and more matches rank higher.
    #[serde(default)]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub skills: Vec<String>,
    /// Only people.
    #[serde(default)]
    #[arg(long)]
    pub humans: bool,
    /// Part of an id or a name, case-insensitive; ids that begin with it rank first.
    #[arg(long)]
    pub text: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

#[derive(Clone, Serialize, JsonSchema)]
pub struct Found {
    pub actor: ActorId,
    pub name: String,
    pub kind: ActorKind,
    pub team: Option<ActorId>,
    /// The skills asked for that it has.
    pub matched: Vec<String>,
    pub trust: Trust,
    /// Why it was found.
    pub why: String,
}

/// Find actors by what they can do.
pub enum Find {}

impl Query for Find {
    const SPEC: Spec = Spec {
        name: "directory.find",
        doc: "Find people and agents by skill or name, best match first.",
        scope: Reach::READ,
        route: get("/directory/find").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Sought;
    type Output = Page<Found>;

    fn target(_: &Sought, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Sought, read: &Reader<'_>) -> Result<Page<Found>, Stop> {
        let what = format!("directory.find {} {} {:?}", input.skills.join(","), input.humans, input.text);
        let search = Search { text: input.text.as_ref().map(|text| text.to_lowercase()), sought: &input, read };
        let fetch = |from: &Position, limit| search.after(from, limit);
        let seen = |look: &Look| {
            look.found.as_ref().is_some_and(|one| read.may("actor.read", &Target::Actor(one.actor.clone())))
        };
        let page = read.page(&input.page, what, fetch, seen, |look| look.at.clone())?;
        Ok(Page { rows: page.rows.into_iter().filter_map(|look| look.found).collect(), next: page.next })
    }

    fn next(output: &Page<Found>) -> Option<String> {
        output.next.clone()
    }
}

/// An actor found, or the position up to which none was.
struct Look {
    at: Position,
    found: Option<Found>,
}

struct Search<'a> {
    sought: &'a Sought,
    /// The search text in lower case.
    text: Option<String>,
    read: &'a Reader<'a>,
}

/// The quality of a match: more matching skills are better; of equals, ids that start with the text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fit {
    skills: usize,
    begins: bool,
}

impl Fit {
    fn rank(self) -> i64 {
        self.skills as i64 * 2 + i64::from(self.begins)
    }
}

impl Search<'_> {
    /// Returns at most `limit` looks, best matches first, then by id.
    fn after(&self, from: &Position, limit: usize) -> Result<Vec<Look>, Fault> {
        let mut looks = Vec::new();
        for fit in self.fits().into_iter().filter(|fit| fit.rank() <= from.at) {
            let after = if fit.rank() == from.at { from.id.as_str() } else { "" };
            self.of_a_fit(fit, after, limit, &mut looks)?;
            if looks.len() == limit {
                break;
            }
        }
        Ok(looks)
    }

    /// Returns every possible quality of match, best first.
    fn fits(&self) -> Vec<Fit> {
        let most = self.sought.skills.len();
        let skills = (most.min(1)..=most).rev();
        let begins = [true, false].into_iter().filter(|begins| !begins || self.text.is_some());
        skills.flat_map(|skills| begins.clone().map(move |begins| Fit { skills, begins })).collect()
    }

    fn of_a_fit(&self, fit: Fit, after: &str, limit: usize, looks: &mut Vec<Look>) -> Result<(), Fault> {
        let (mut after, mut in_vain) = (after.to_owned(), 0);
        loop {
            let candidates = self.candidates(fit, &after)?;
            for id in &candidates {
                let found = self.read.card(id).and_then(|card| self.fitting(&card.actor, fit));
                in_vain = if found.is_some() { 0 } else { in_vain + 1 };
                if found.is_some() || in_vain == STRETCH {
                    in_vain = 0;
                    looks.push(Look { at: Position { at: fit.rank(), id: id.to_string() }, found });
                }
                if looks.len() == limit {
                    return Ok(());
                }
            }
            match candidates.last() {
                Some(last) if candidates.len() == STRETCH => after = last.to_string(),
                _ => return Ok(()),
            }
        }
    }

    /// Returns the next candidates by id: a full stretch, fewer only at the end.
    fn candidates(&self, fit: Fit, after: &str) -> Result<Vec<ActorId>, Fault> {
        let Search { sought, text, read } = self;
        if !sought.skills.is_empty() {
            return Ok(read.with_any(&sought.skills, after).take(STRETCH).cloned().collect());
        }
        if sought.humans {
            return Ok(read.people_of(Role::ALL, after).take(STRETCH).cloned().collect());
        }
        let beginning = text.as_deref().filter(|_| fit.begins).unwrap_or_default();
        read.ids_after(after, beginning, STRETCH)
    }

    /// Returns the actor as shown, if it matches with exactly this quality.
    fn fitting(&self, actor: &Actor, fit: Fit) -> Option<Found> {
        let kind = actor.kind == ActorKind::Person || (actor.kind == ActorKind::Agent && !self.sought.humans);
        if !kind || actor.status != Status::Active {
            return None;
        }
        let has = |skill: &&String| actor.skills.iter().any(|own| own.eq_ignore_ascii_case(skill));
        let matched: Vec<String> = self.sought.skills.iter().filter(has).cloned().collect();
        let begins = self.text.as_ref().is_some_and(|text| actor.id.as_str().starts_with(text));
        let is_named = |text: &String| actor.id.as_str().contains(text) || actor.name.to_lowercase().contains(text);
        let is_it = Fit { skills: matched.len(), begins } == fit && self.text.as_ref().is_none_or(is_named);
        is_it.then(|| Found {
            actor: actor.id.clone(),
            name: actor.name.clone(),
            kind: actor.kind,
            team: actor.team.clone(),
            why: why(&matched, self.text.as_deref()),
            matched,
            trust: actor.trust,
        })
    }
}

fn why(matched: &[String], text: Option<&str>) -> String {
    let skills = (!matched.is_empty()).then(|| format!("skills: {}", matched.join(", ")));
    let text = text.map(|text| format!("id or name contains `{text}`"));
    let parts: Vec<String> = skills.into_iter().chain(text).collect();
    if parts.is_empty() { "is active".into() } else { parts.join("; ") }
}
