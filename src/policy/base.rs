//! The default policies, as they stand in `policies/` when the binary is built.

use rust_embed::RustEmbed;

use super::Bundle;

#[derive(RustEmbed)]
#[folder = "../../policies/"]
#[include = "*.cedar"]
#[include = "approvals.yaml"]
#[include = "limits.yaml"]
#[include = "tests/*.yaml"]
struct Files;

impl Bundle {
    /// The bundle that a new company begins with.
    pub fn built_in() -> Bundle {
        let read = |path: std::borrow::Cow<'static, str>| {
            let file = Files::get(&path)?;
            Some((path.into_owned(), String::from_utf8_lossy(&file.data).into_owned()))
        };
        Bundle { files: Files::iter().filter_map(read).collect() }
    }
}
