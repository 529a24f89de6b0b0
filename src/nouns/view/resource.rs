//! The Cedar resource of views.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::testing::{Cast, Row, Sample};
use types::refusal::{Fault, Stop};

pub static VIEW: Resource = Resource {
    noun: Noun {
        name: "View",
        doc: "A question about a collection that has a name, whose id it is.",
        sight: Some("view.read"),
        own: None,
        facts: &[
            FactSpec::text("collection", "that it asks"),
            FactSpec::actor("person", "the only person it is for").optional(),
            FactSpec::team("team", "the only team it is for").optional(),
        ],
        staged: Staged::Rows { list: "views", complete: |thing, _| thing, samples },
    },
    title: None,
    version: None,
    brief: Resource::says_nothing,
    find,
    state,
};

/// Returns sample views: one's own, one for everybody, and a team's.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let view = |name: &str| Row::new("views", name).with("collection", "notes");
    let own = cast.everybody.iter().map(|who| Sample::of(who, view(&format!("view-of-{who}")).with("person", who)));
    let of_team = |name: &str, team: &str| view(name).with("team", team);
    let shared = [view("view-of-all"), of_team("view-of-ops", "team:ops"), of_team("view-of-teams", "team:all")];
    own.chain(shared.map(Sample::new)).collect()
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    Ok(read.view(id).map(|view| read.view_target(&view)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    Ok(json!(read.view(&target.id()).map(|view| view.spec.clone())))
}
