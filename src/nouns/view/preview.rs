//! Previews a view before it is saved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::{Answer, Opened, opened};
use crate::brain::{COLLECTION, is_kept_elsewhere};
use gate::{Permit, Query, Reader, Spec, Target, post};
use types::page::PageQuery;
use types::problems::Problems;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::view::{Layout, ViewQuery, ViewSpec};

/// A view that is not saved.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Unsaved {
    pub query: ViewQuery,
    #[serde(default)]
    pub layout: Layout,
    #[serde(flatten)]
    pub page: PageQuery,
}

/// Run an unsaved view.
pub enum Preview {}

impl Query for Preview {
    const SPEC: Spec = Spec {
        name: "view.preview",
        doc: "Preview a view without saving it: its results for the caller, or its errors.",
        scope: Reach::Full,
        route: post("/views/preview").listed().partial(),
        about: &[&COLLECTION],
        events: &[],
    };
    type Input = Unsaved;
    type Output = Opened<Unsaved>;

    fn target(input: &Unsaved, read: &Reader<'_>) -> Result<Target, Stop> {
        let of = read.collection(&input.query.collection).ok_or_else(Refusal::not_found)?;
        Ok(read.collection_target(of.name()))
    }

    fn is_elsewhere(input: &Unsaved, read: &Reader<'_>) -> bool {
        is_kept_elsewhere(&input.query.collection, read)
    }

    fn run(_: Permit<Self>, input: Unsaved, read: &Reader<'_>) -> Result<Opened<Unsaved>, Stop> {
        let Unsaved { query, layout, page } = input;
        let of = read.collection(&query.collection).ok_or_else(Refusal::not_found)?;
        let spec = ViewSpec { query, layout, visibility: None };
        let mut problems = Problems::default();
        spec.problems(&mut problems);
        if problems.0.is_empty() {
            spec.misfits(&of, &mut problems);
        }
        if !problems.0.is_empty() {
            let problems = problems.0.into_iter().map(|problem| problem.trim_start_matches("spec.").to_owned());
            return Err(Refusal::invalid(problems.collect()).into());
        }
        let Answer { rows, next } = opened(&spec, page, read)?;
        let of = Unsaved { query: spec.query, layout: spec.layout, page: PageQuery::default() };
        Ok(Opened { of, rows, next })
    }

    fn next(output: &Opened<Unsaved>) -> Option<String> {
        output.next.clone()
    }
}
