//! Lists the grants that the caller may see.

use super::BREAK_GLASS;
use super::{ShownGrant, shown};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::break_glass::{self, BreakGlass};
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;

/// List break-glass grants.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "break_glass.list",
        doc: "List break-glass grants, newest first.",
        scope: Reach::READ,
        route: get("/policy/break-glass").listed(),
        about: &[&COMPANY, &BREAK_GLASS],
        events: &[],
    };
    type Input = PageQuery;
    type Output = Page<ShownGrant>;

    fn target(_: &PageQuery, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: PageQuery, read: &Reader<'_>) -> Result<Page<ShownGrant>, Stop> {
        let seen = |grant: &BreakGlass| read.may("break_glass.list", &read.break_glass_target(grant));
        let page = read.list(&break_glass::LIST, &input, "break_glass.list".into(), seen)?;
        let rows = page.rows.into_iter().map(|grant| shown(grant, read.now())).collect();
        Ok(Page { rows, next: page.next })
    }

    fn next(output: &Page<ShownGrant>) -> Option<String> {
        output.next.clone()
    }
}
