//! A schema as it is written, before its names are looked up.

use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::json_schema::Fragment;
use cedar_policy_core::validator::{CedarSchemaError, RawName};

/// What a schema declares.
pub(super) type Declared = Fragment<RawName>;

pub fn declared(text: &str) -> Result<Declared, Box<CedarSchemaError>> {
    let parsed = Declared::from_cedarschema_str(text, Extensions::all_available());
    Ok(parsed.map_err(Box::new)?.0)
}

/// The JSON form of a schema.
pub fn as_json(text: &str) -> Option<String> {
    serde_json::to_string(&declared(text).ok()?).ok().map(|json| json + "\n")
}
