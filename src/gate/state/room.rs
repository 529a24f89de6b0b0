//! Watches the disk space for the log. A full disk would stop the gate completely, even for a caller who wants to stop
//! somebody. So below the low-water mark only calls that stop or revoke are accepted ([`Route::stops`](crate::Route)),
//! and refusals are not recorded either. A reserve ([`Reserve`]) helps if other programs fill the disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;

use crate::state::reserve::Reserve;
use types::refusal::Refusal;

const MIB: u64 = 1 << 20;
/// The mark where none is set: 256 MiB, or this part of a small disk.
const DEFAULT: u64 = 256 * MIB;
const PART: u64 = 20;
/// The reserve: 32 MiB, or this part of a small disk.
const RESERVE: u64 = 32 * MIB;
/// How often it is tried to fill the reserve.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct Room {
    folder: PathBuf,
    /// MiB that others than what stops must leave free.
    mark: Option<u64>,
    low: bool,
    reserve: Reserve,
    /// The disk would take no more, whatever it told: until the reserve is whole again.
    full: bool,
    tried: Option<Instant>,
}

/// In bytes.
pub(crate) struct Disk {
    size: u64,
    free: u64,
}

impl Room {
    /// `mark` in MiB; 0 for neither a mark nor a reserve. Whoever asks owns the state file.
    pub fn new(state: &Path, mark: Option<u64>) -> Room {
        let folder = state.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| PathBuf::from("."), PathBuf::from);
        let size = match (mark, disk(&folder)) {
            (Some(0), _) | (_, None) => 0,
            (_, Some(disk)) => RESERVE.min(disk.size / PART),
        };
        Room { folder, mark, low: false, reserve: Reserve::beside(state, size), full: false, tried: None }
    }

    /// Releases enough of the reserve for the next transaction. If the free space cannot be determined, the disk counts
    /// as roomy: what does not fit will fail on its own.
    pub fn make_way(&mut self) -> Option<Disk> {
        let mut disk = disk(&self.folder)?;
        while disk.free < self.reserve.part() / 2 && self.reserve.holds() > 0 && self.give() {
            disk.free += self.reserve.part();
        }
        Some(disk)
    }

    /// Looks again.
    pub fn look(&mut self) {
        let Some(disk) = self.make_way() else { return };
        let mark = self.mark.map_or_else(|| DEFAULT.min(disk.size / PART), |mib| mib.saturating_mul(MIB));
        if disk.free >= mark.saturating_add(self.reserve.missing()) {
            self.fill();
        }
        self.update(disk.free, mark);
    }

    fn update(&mut self, free: u64, mark: u64) {
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

    /// Releases a part of the reserve, because the disk refused a write although it reports free space: because of a
    /// quota, or because another program was faster.
    pub fn is_full(&mut self) {
        self.full = self.reserve.holds() > 0 && self.give();
    }

    fn give(&mut self) -> bool {
        let given = self.reserve.give();
        let left_mib = self.reserve.holds() / MIB;
        match &given {
            Ok(()) => tracing::error!(left_mib, "the disk is full: a part of the reserve was given back"),
            Err(why) => tracing::error!(%why, "the disk is full, and the reserve cannot be given back"),
        }
        given.is_ok()
    }

    fn fill(&mut self) {
        let is_soon = self.tried.is_some_and(|tried| tried.elapsed() < AGAIN);
        if is_soon || (self.reserve.missing() == 0 && !self.full) {
            return;
        }
        match self.reserve.fill() {
            Ok(()) => self.full = false,
            Err(why) if self.tried.is_none() => tracing::warn!(%why, "no reserve can be kept on this disk"),
            Err(_) => {}
        }
        self.tried = Some(Instant::now());
    }

    /// Whether anything but what stops may be recorded.
    pub fn suffices(&self) -> Result<(), Refusal> {
        match self.low || self.full {
            true => Err(Refusal::audit_unavailable(
                "the disk is nearly full, and only what stops or revokes is accepted; nothing was done",
            )),
            false => Ok(()),
        }
    }
}

fn disk(folder: &Path) -> Option<Disk> {
    let disk = statvfs(folder).ok()?;
    // Some systems count in 32 bits, some in 64.
    let size = |blocks| u64::try_from(u128::from(blocks) * u128::from(disk.fragment_size())).unwrap_or(u64::MAX);
    Some(Disk { size: size(disk.blocks()), free: size(disk.blocks_available()) })
}
