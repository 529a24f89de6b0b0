//! Kinds of approvals in the schema.

use ok::policy::Bundle;
use ok::policy::approvals::FILE;
use ok::policy::kinds::schema_for;

#[test]
fn the_schema_lists_the_kinds_of_both_sorted() {
    let product = "namespace Ok {\n  entity ApprovalKind enum [\"lead\", \"admin\"];\n  entity Role;\n}\n";
    let with = |text: &str| schema_for(product, &Bundle::new([(FILE, text)]));
    let listed = |text: &str| with(text).lines().nth(1).unwrap_or_default().trim().to_owned();
    let all = "entity ApprovalKind enum [\"admin\", \"board-2\", \"lead\"];";
    assert_eq!(listed("kinds: {board-2: {}, lead: {}}"), all);
    assert_eq!(listed("kinds: {board-2: {nonsense: 1}, 'x\"];entity Y;': {}, Board: {}, '': {}}"), all);
    assert_eq!(listed("kinds: ["), "entity ApprovalKind enum [\"admin\", \"lead\"];");
    assert_eq!(with("kinds: {a: {}}").lines().count(), product.lines().count());
    assert_eq!(schema_for(product, &Bundle::default()), product);
    assert_eq!(schema_for("entity X;", &Bundle::new([(FILE, "kinds: {a: {}}")])), "entity X;");
}
