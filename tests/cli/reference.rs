//! References that are written from the code and checked in. `UPDATE_REFERENCE=1` writes them anew.

fn assert_current(name: &str, text: &str) {
    let path = format!("{}/docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "UPDATE_REFERENCE=1 writes {name} anew");
}

#[test]
fn the_reference_of_settings_is_that_of_the_code() {
    assert_current("config.md", &ok::config::reference());
}

#[test]
fn the_reference_of_commands_is_that_of_the_code() {
    assert_current("cli.md", &ok::cli::reference::reference());
}

#[test]
fn the_reference_of_findings_is_that_of_the_code() {
    assert_current("findings.md", &ok::policy::codes::reference());
}
