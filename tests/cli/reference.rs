//! References that are written from the code and checked in. `UPDATE_REFERENCE=1` writes them anew.

#[test]
fn the_reference_of_settings_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/config.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, ok::config::reference()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), ok::config::reference());
}
