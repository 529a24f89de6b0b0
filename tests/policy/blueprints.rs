//! The starting companies are models too: formatted, clean, tested, and each of their own policies is covered.

use std::collections::BTreeSet;

use ok::gate::explain::fixture;
use ok::nouns::blueprint::{Source, onto};
use ok::policy::check::Options;
use ok::policy::{Bundle, blueprints};

use crate::harness::prove::proves;

#[test]
fn every_blueprint_is_clean_tested_and_covered() {
    assert!(blueprints::ids().len() >= 4);
    for id in blueprints::ids() {
        let source = Source::named(&id).unwrap_or_else(|refusal| panic!("{id}: {}", refusal.message));
        assert_eq!(source.blueprint.metadata.name, id);
        let (bundle, skipped) = onto(&Bundle::built_in(), &source.files);
        assert!(skipped.is_empty(), "{id} repeats {skipped:?}");
        // The default policies are mutated by themselves.
        let own = source.files.keys().filter_map(|path| path.strip_prefix("policies/")).map(str::to_owned);
        let own: BTreeSet<String> = own.collect();
        let mutated = (!proves()).then_some(&own);
        let options = Options { min_coverage: Some(100), mutate: true, mutated, ..Options::default() };
        let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &options);
        let told: Vec<String> = report.findings.iter().chain(report.tests()).map(ToString::to_string).collect();
        assert!(told.is_empty(), "{id}: {}", told.join("\n"));
        let has_policies = own.iter().any(|path| path.ends_with(".cedar"));
        assert!(!has_policies || report.mutation.as_ref().unwrap().mutants > 0, "{id}: nothing was mutated");
        let open: Vec<String> = report
            .open()
            .iter()
            .filter(|finding| !Bundle::built_in().files.contains_key(&finding.file))
            .map(ToString::to_string)
            .collect();
        assert!(open.is_empty(), "{id}: {}", open.join("\n"));
        let folder = format!("{}/blueprints/{id}/README.md", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read_to_string(folder).unwrap().len() > 200, "{id} has no README.md");
    }
}
