//! The two forms of the schema.

use ok::policy::engine::built_in;
use ok::policy::engine::fragment::declared;
use ok::policy::{Bundle, kinds};

#[test]
fn both_forms_of_the_built_in_schema_say_the_same() {
    let notes = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: notes}\nspec: {fields: {text: {type: text}, cost: {type: money}}}\n";
    let files = [("approvals.yaml", "kinds: {board: {}}"), ("collections/notes.yaml", notes)];
    for bundle in [Bundle::default(), Bundle::built_in(), Bundle::new(files)] {
        let text = declared(&kinds::schema_for(built_in::SCHEMA, &bundle)).unwrap();
        assert_eq!(built_in::declared_for(built_in::SCHEMA, &bundle).unwrap(), text);
    }
    assert!(built_in::declared_for("namespace Ok {}", &Bundle::default()).is_none());
}
