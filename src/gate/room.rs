//! How much room there is for the log. A full disk stops the gate altogether, also for whoever wants to stop somebody; so
//! below the low-water mark only what stops or revokes is accepted ([`Route::stops`](super::Route)), and what is refused
//! is not recorded either.

use std::path::PathBuf;

use nix::sys::statvfs::statvfs;

use crate::types::refusal::Refusal;

const MIB: u64 = 1 << 20;
/// The mark where none is set: 256 MiB, or this part of a small disk.
const DEFAULT: u64 = 256 * MIB;
const PART: u64 = 20;

pub(super) struct Room {
    folder: PathBuf,
    /// MiB that others than what stops must leave free.
    mark: Option<u64>,
    low: bool,
}

impl Room {
    /// `mark` in MiB; 0 for none at all.
    pub fn new(state: &std::path::Path, mark: Option<u64>) -> Room {
        let folder = state.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| PathBuf::from("."), PathBuf::from);
        Room { folder, mark, low: false }
    }

    /// Looks again. A disk that does not tell counts as roomy: what does not fit will fail by itself.
    #[allow(clippy::useless_conversion, reason = "some systems count in 32 bits")]
    pub fn look(&mut self) {
        let Ok(disk) = statvfs(&self.folder) else { return };
        let size = |blocks| u64::from(blocks) * u64::from(disk.fragment_size());
        let mark = self.mark.map_or_else(|| DEFAULT.min(size(disk.blocks()) / PART), |mib| mib.saturating_mul(MIB));
        let free = size(disk.blocks_available());
        let low = free < mark;
        if low != self.low {
            let (free_mib, mark_mib) = (free / MIB, mark / MIB);
            match low {
                true => tracing::error!(
                    free_mib,
                    mark_mib,
                    "the disk is nearly full: only what stops or revokes is accepted"
                ),
                false => tracing::info!(free_mib, mark_mib, "there is room on the disk again: everything is accepted"),
            }
        }
        self.low = low;
    }

    /// Whether anything but what stops may be recorded.
    pub fn suffices(&self) -> Result<(), Refusal> {
        match self.low {
            true => Err(Refusal::audit_unavailable(
                "the disk is nearly full, and only what stops or revokes is accepted; nothing was done",
            )),
            false => Ok(()),
        }
    }
}
