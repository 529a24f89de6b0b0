//! Views as policies see them.

use serde_json::{Value, json};

use gate::{FactSpec, Noun, Reader, Resource, Staged, Target};
use types::refusal::{Fault, Stop};

pub static VIEW: Resource = Resource {
    noun: Noun {
        name: "View",
        doc: "A question about a collection that has a name, whose id it is.",
        sight: Some("view.read"),
        own: None,
        facts: &[
            FactSpec::text("collection", "that it asks"),
            FactSpec::actor("person", "whom alone it is for").optional(),
            FactSpec::team("team", "which alone it is for").optional(),
        ],
        staged: Staged::Rows { list: "views", complete: |thing, _| thing },
    },
    title: None,
    brief: Resource::says_nothing,
    find,
    state,
};

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    Ok(read.view(id).map(|view| read.view_target(&view)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    Ok(json!(read.view(&target.id()).map(|view| view.spec.clone())))
}
