//! A connection that must keep pace: a request's head has to arrive in time once it has begun, and the first one as soon
//! as the connection is open. hyper's own timer cannot tell a slow head from a quiet connection; it bounds both together.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::framing::Framing;

/// Whether a request is being answered: its head has arrived, and its body has timers of its own.
#[derive(Clone, Default)]
pub(super) struct Answering(Arc<Doing>);

#[derive(Default)]
struct Doing {
    answers: AtomicBool,
    leaves: AtomicBool,
}

impl Answering {
    pub fn begin(&self) {
        self.0.answers.store(true, Ordering::Release);
    }
    pub fn end(&self) {
        self.0.answers.store(false, Ordering::Release);
    }
    /// The connection will be closed although the peer may still be sending.
    pub fn leave_unread(&self) {
        self.0.leaves.store(true, Ordering::Release);
    }
    fn is_on(&self) -> bool {
        self.0.answers.load(Ordering::Acquire)
    }
    fn leaves_unread(&self) -> bool {
        self.0.leaves.load(Ordering::Acquire)
    }
}

pub(super) struct Paced {
    stream: TcpStream,
    answering: Answering,
    framing: Framing,
    limit: Duration,
    /// Runs while a head is arriving.
    head: Option<Pin<Box<Sleep>>>,
    /// Runs while the peer takes nothing of an answer.
    stuck: Option<Pin<Box<Sleep>>>,
    /// Runs once our end is closed, while the peer is still sending.
    parting: Option<Pin<Box<Sleep>>>,
}

/// A peer that takes nothing for so long is let go.
const TAKES_NOTHING: Duration = Duration::from_secs(30);
/// How long a peer may still send on a connection that is closed: it would lose the answer if it were cut off at once.
const PARTING: Duration = Duration::from_secs(2);

impl Paced {
    pub fn new(stream: TcpStream, limit: Duration, answering: Answering, framing: Framing) -> Paced {
        let head = Some(Box::pin(tokio::time::sleep(limit)));
        Paced { stream, answering, framing, limit, head, stuck: None, parting: None }
    }

    fn late(&mut self, cx: &mut Context<'_>) -> bool {
        self.head.as_mut().is_some_and(|head| head.as_mut().poll(cx).is_ready())
    }
}

impl Paced {
    /// Passes on what writing came to, unless it has come to nothing for too long.
    fn written<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(TAKES_NOTHING)));
        match stuck.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the answer")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Paced {
    /// Reads what the peer is still sending, and keeps nothing of it.
    fn part(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let parting = self.parting.get_or_insert_with(|| Box::pin(tokio::time::sleep(PARTING)));
        let mut some = [0; 4096];
        while parting.as_mut().poll(cx).is_pending() {
            let mut buf = ReadBuf::new(&mut some);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => {}
                Poll::Ready(_) => break,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Paced {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.answering.is_on() {
            self.head = None;
        } else if self.late(cx) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "a request's head took too long")));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.framing.read(buf.filled().get(before..).unwrap_or_default());
        let begins = buf.filled().len() > before && self.head.is_none();
        if begins && !self.answering.is_on() {
            self.head = Some(Box::pin(tokio::time::sleep_until(Instant::now() + self.limit)));
        }
        read
    }
}

impl AsyncWrite for Paced {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(cx, written)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.written(cx, flushed)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        if matches!(shut, Poll::Ready(Ok(()))) && self.answering.leaves_unread() {
            return self.part(cx).map(Ok);
        }
        shut
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(cx, written)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
