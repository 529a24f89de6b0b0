//! Why a recorded question is not asked again.

pub(super) const OLD: &str = "recorded before questions were kept";
pub(super) const ERASED: &str = "its content was erased";
pub(super) const GONE: &str = "its operation no longer exists";
pub(super) const NOBODY: &str = "who asked is not in the directory";
pub(super) const NOT_KEPT: &str = "what its operation was given was not kept";
pub(super) const BY_PART: &str = "a part of it was decided while it ran";
pub(super) const UNREADABLE: &str = "its question is not understood";
pub(super) const NOT_SAID: &str = "what another program asked was not kept";
pub(super) const UNFIT: &str = "what another program asked does not fit the schema of both sides";
