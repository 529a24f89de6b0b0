//! The program's diagnostic messages, written by a thread of their own, so that a missing reader cannot block the
//! program. A pipe that nobody empties, a full disk or a closed terminal delays only that thread; messages that it
//! cannot take are dropped, and their number is reported as soon as somebody reads again.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Lines that wait.
pub const WAITING: usize = 1_024;
/// How long the end of the program waits for what was said last.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long it waits for a place in the queue.
const PAUSE: Duration = Duration::from_millis(5);

enum Said {
    Text(Vec<u8>),
    /// Everything before this was written.
    Then(SyncSender<()>),
}

/// A way to say something. It never waits.
#[derive(Clone)]
pub struct Aside {
    queue: SyncSender<Said>,
    dropped: Arc<AtomicU64>,
}

impl Aside {
    pub fn to(out: impl Write + Send + 'static) -> io::Result<Aside> {
        let (queue, said) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        Builder::new().name("stderr".into()).spawn(move || write(out, &said, &counted))?;
        Ok(Aside { queue, dropped })
    }

    pub fn say(&self, text: &[u8]) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Said::Text(text.to_vec())) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits a moment until all of it was written.
    pub fn finish(&self) {
        let (done, finished) = sync_channel(1);
        let until = Instant::now() + PATIENCE;
        while let Err(TrySendError::Full(_)) = self.queue.try_send(Said::Then(done.clone())) {
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        let _ = finished.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

impl Write for Aside {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.say(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(mut out: impl Write, said: &Receiver<Said>, dropped: &AtomicU64) {
    for said in said {
        match said {
            Said::Text(text) => {
                let _ = out.write_all(&text);
                let lost = dropped.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    let _ = writeln!(out, "output was not read for a while: {lost} lines were dropped");
                }
            }
            Said::Then(done) => {
                let _ = done.try_send(());
            }
        }
        let _ = out.flush();
    }
}
