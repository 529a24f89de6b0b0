//! Collections as types, and what is wrong with their files.

use ok::policy::Bundle;
use ok::policy::brain::{read, schema_for};

const INVOICES: &str = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: invoices}\nspec:\n  key: [number]\n  fields:\n    number: {type: text, required: true}\n    total: {type: money}\n    iban: {type: text, label: personal}\n";

#[test]
fn a_collection_is_a_type_with_its_fields() {
    let product =
        "namespace Ok {\n  entity Record;\n  action \"record.read\" appliesTo {\n    resource: [Record],\n  };\n}\n";
    let schema = schema_for(product, &Bundle::new([("collections/invoices.yaml", INVOICES)]));
    assert!(schema.contains("resource: [Record, Brain::invoices],"), "{schema}");
    assert!(schema.contains("    number: String,\n    total?: decimal,\n  };"), "{schema}");
    assert!(!schema.contains("iban"), "what is personal is no attribute");
}

#[test]
fn what_is_wrong_with_a_collection_is_told_with_its_line() {
    let message = |text: &str| {
        let (_, findings) = read(&Bundle::new([("collections/invoices.yaml", text)]));
        findings.iter().map(|finding| format!("{}: {}", finding.line, finding.message)).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(message(INVOICES), "");
    assert!(
        message(&INVOICES.replace("number:", "if:")).starts_with("7: spec.fields.if: a field's name must have"),
        "{}",
        message(&INVOICES.replace("number:", "if:"))
    );
    assert!(message(&INVOICES.replace("name: invoices", "name: bills")).contains("the file of `bills` is"));
    assert!(
        message(&INVOICES.replace("{type: money}", "{type: ref, to: vendors}")).starts_with("8: spec.fields.total.to")
    );
    assert!(message(&INVOICES.replace("kind: Collection", "kind: Table")).starts_with("2: "));
}
