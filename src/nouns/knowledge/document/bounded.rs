//! Limits the text of a file.

/// The maximum bytes of a text.
pub(super) const MOST_TEXT: usize = 1 << 20;

pub(super) fn is_bounded(text: &str) -> Result<(), String> {
    if text.len() <= MOST_TEXT {
        Ok(())
    } else {
        Err(format!("contains more than {MOST_TEXT} bytes of text: split it"))
    }
}
