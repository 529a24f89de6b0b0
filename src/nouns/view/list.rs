//! Lists views and shows one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VIEW;
use super::run::{Answer, Opened, opened};
use crate::brain::is_kept_elsewhere;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::view::{Layout, View, ViewQuery};

/// A view.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownView {
    /// Its name.
    pub id: String,
    pub title: Option<String>,
    pub query: ViewQuery,
    pub layout: Layout,
    /// The team or the person that it is for; everybody inside, where there is none.
    pub visibility: Option<ActorId>,
}

impl ShownView {
    fn of(view: &View) -> ShownView {
        ShownView {
            id: view.name().to_owned(),
            title: view.metadata.title.clone(),
            query: view.spec.query.clone(),
            layout: view.spec.layout.clone(),
            visibility: view.spec.visibility.clone(),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only those of this collection.
    #[arg(long, value_name = "COLLECTION")]
    pub collection: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List the views.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "view.list",
        doc: "List the views that the caller may see, by name.",
        scope: Reach::READ,
        route: get("/views").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownView>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownView>, Stop> {
        let Which { collection, page } = input;
        let (limit, what) = (page.limit()?, format!("view.list {}", collection.as_deref().unwrap_or_default()));
        let after = page.cursor.map(|cursor| read.opened(what.clone(), &cursor)).transpose()?.unwrap_or_default();
        let wanted = |view: &View| collection.as_ref().is_none_or(|name| *name == view.spec.query.collection);
        let seen = read.views_after(&after).filter(|view| wanted(view) && may_see(view, read));
        let mut rows: Vec<ShownView> = seen.take(limit + 1).map(|view| ShownView::of(view)).collect();
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).and_then(|last| read.sealed(what, &last.id));
        Ok(Page { rows, next })
    }

    fn next(output: &Page<ShownView>) -> Option<String> {
        output.next.clone()
    }
}

/// Checks whether the caller may see a view, which requires access to its collection.
pub fn may_see(view: &View, read: &Reader<'_>) -> bool {
    let of = read.collection_target(&view.spec.query.collection);
    read.may("view.read", &read.view_target(view)) && read.may("collection.read", &of)
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneView {
    /// The view.
    #[arg(value_name = "VIEW")]
    pub id: String,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// Show a view.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "view.read",
        doc: "Show a view with its results: of each record and field only what the caller may read (`record.read`, `field.read`).",
        scope: Reach::READ,
        route: get("/views/{id}").listed().partial(),
        about: &[&VIEW],
        events: &[],
    };
    type Input = OneView;
    type Output = Opened<ShownView>;

    fn target(input: &OneView, read: &Reader<'_>) -> Result<Target, Stop> {
        let view = read.view(&input.id).ok_or_else(Refusal::not_found)?;
        let of = read.collection_target(&view.spec.query.collection);
        // The gate decides whether they may see the view.
        if read.sees(&of) { Ok(read.view_target(&view)) } else { Err(Refusal::not_found().into()) }
    }

    fn is_elsewhere(input: &OneView, read: &Reader<'_>) -> bool {
        read.view(&input.id).is_some_and(|view| is_kept_elsewhere(&view.spec.query.collection, read))
    }

    fn run(_: Permit<Self>, input: OneView, read: &Reader<'_>) -> Result<Opened<ShownView>, Stop> {
        let view = read.view(&input.id).ok_or_else(Refusal::not_found)?;
        let Answer { rows, next } = opened(&view.spec, input.page, read)?;
        Ok(Opened { of: ShownView::of(&view), rows, next })
    }

    fn next(output: &Opened<ShownView>) -> Option<String> {
        output.next.clone()
    }
}
