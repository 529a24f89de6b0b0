//! The company's views, as files beside the policies: `views/<name>.yaml`.
//!
//! Always true: a view that is read fits the collection that it asks, so a collection cannot change from under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::brain::Collections;
use super::finding::code;
use super::{Bundle, Finding, yaml};
use types::problems::Problems;
use types::view::{MOST_VIEWS, View};

/// The folder of a bundle that holds its views.
pub const FOLDER: &str = "views/";

/// Views by name.
pub type Views = BTreeMap<String, Arc<View>>;

/// Whether a file of a bundle is a view.
pub fn is_view(path: &str) -> bool {
    name_of(path).is_some()
}

fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".yaml").filter(|name| !name.contains('/'))
}

/// The file of a view.
pub fn path_of(name: &str) -> String {
    format!("{FOLDER}{name}.yaml")
}

/// The views of a bundle, and what is wrong with the others.
pub fn read(bundle: &Bundle, collections: &Collections) -> (Views, Vec<Finding>) {
    let (mut views, mut findings) = (Views::new(), Vec::new());
    for (path, text) in bundle.files.iter().filter(|(path, _)| is_view(path)) {
        match one(path, text, collections) {
            Ok(view) => drop(views.insert(view.name().to_owned(), Arc::new(view))),
            Err(mut found) => findings.append(&mut found),
        }
    }
    if views.len() > MOST_VIEWS {
        findings.push(Finding::new(code::VIEW, FOLDER, 1, (0, 0), format!("more than {MOST_VIEWS} views")));
    }
    (views, findings)
}

fn one(path: &str, text: &str, collections: &Collections) -> Result<View, Vec<Finding>> {
    let finding = |line, message: String| Finding::new(code::VIEW, path, line, (0, 0), message);
    let read = yaml::read::<View>(text).map_err(|error| vec![finding(error.line, error.message)])?;
    let mut problems = Problems::default();
    read.problems(&mut problems);
    problems.check(
        name_of(path) == Some(read.name()),
        format!("metadata.name: the file of `{}` is `{}`", read.name(), path_of(read.name())),
    );
    let asked = &read.spec.query.collection;
    match collections.get(asked) {
        Some(of) => read.spec.misfits(of, &mut problems),
        None => problems.0.push(no_collection(asked)),
    }
    let to_finding = |problem: String| {
        let key: Vec<&str> = problem.split(':').next().unwrap_or_default().split('.').collect();
        finding(yaml::line_of(text, &key), problem)
    };
    if problems.0.is_empty() { Ok(read) } else { Err(problems.0.into_iter().map(to_finding).collect()) }
}

/// What is wrong with a view of a collection that is not there.
pub fn no_collection(asked: &str) -> String {
    let short: String = asked.chars().take(63).collect();
    format!("spec.query.collection: there is no collection `{}`", short.escape_debug())
}
