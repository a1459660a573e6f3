//! Bounds how slowly a body may arrive, and how slowly a response may be read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use futures::{StreamExt, stream};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// The window over which the bytes of an arriving body are counted.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);
/// The fewest bytes in this window: 1 KiB a second.
pub(crate) const LEAST: usize = 10 << 10;
/// The longest time for a whole body.
pub(crate) const WHOLE: Duration = Duration::from_hours(1);
/// How long a reader may take fewer than `LEAST_READ` bytes of a response.
pub(crate) const STALLED: Duration = Duration::from_mins(1);
pub(crate) const LEAST_READ: usize = 60 << 10;

/// A body arrives too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body comes at less than 1 KiB a second, or takes more than an hour")]
pub(crate) struct SlowBody;

/// Whether an error comes from a body that is too slow.
pub(crate) fn is_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<SlowBody>() || error.source().is_some_and(is_slow)
}

/// A request's body, which is cut off if it arrives too slowly. The server's own processing time is
/// not counted.
pub(crate) fn paced(body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let pace =
        Pace { pieces: body.into_data_stream(), came: 0, waited: Duration::ZERO, whole: WHOLE };
    Body::from_stream(stream::unfold(Some(pace), async |pace| {
        let mut pace = pace?;
        match pace.next().await? {
            Ok(piece) => Some((Ok(piece), Some(pace))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

struct Pace {
    pieces: BodyDataStream,
    /// Bytes in this window.
    came: usize,
    waited: Duration,
    /// The remaining time.
    whole: Duration,
}

impl Pace {
    async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        loop {
            let began = Instant::now();
            let left = WINDOW.saturating_sub(self.waited).min(self.whole);
            let piece = timeout(left, self.pieces.next()).await;
            self.waited += began.elapsed();
            self.whole = self.whole.saturating_sub(began.elapsed());
            if let Ok(piece) = piece {
                self.came +=
                    piece.as_ref().and_then(|piece| piece.as_ref().ok()).map_or(0, Bytes::len);
                return piece;
            }
            if self.came < LEAST || self.whole.is_zero() {
                return Some(Err(axum::Error::new(SlowBody)));
            }
            (self.came, self.waited) = (0, Duration::ZERO);
        }
    }
}

/// A response's body that holds a value until the body is sent or its reader is gone.
pub(crate) struct Holding<T> {
    body: Body,
    _held: T,
}

pub(crate) fn holding<T: Send + Unpin + 'static>(body: Body, held: T) -> Body {
    Body::new(Holding { body, _held: held })
}

impl<T: Unpin> HttpBody for Holding<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that ends if its reader takes nothing for a minute.
pub(crate) struct Watched<S> {
    stream: S,
    stalled: Option<Stalled>,
}

struct Stalled {
    until: Pin<Box<Sleep>>,
    /// Bytes that were taken since.
    taken: usize,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, stalled: None }
    }

    /// Counts `taken` bytes of the `of` that were available.
    fn took(&mut self, taken: usize, of: usize) {
        match &mut self.stalled {
            Some(stalled) if taken < of => stalled.taken += taken,
            _ => self.stalled = None,
        }
    }

    /// Waits because nothing can be written now.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let begin = || Stalled { until: Box::pin(sleep(STALLED)), taken: 0 };
        let stalled = self.stalled.get_or_insert_with(begin);
        loop {
            ready!(stalled.until.as_mut().poll(context));
            if stalled.taken < LEAST_READ {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            stalled.taken = 0;
            stalled.until.as_mut().reset(Instant::now() + STALLED);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.wait(context),
            Poll::Ready(Ok(taken)) => {
                self.took(taken, bytes.len());
                Poll::Ready(Ok(taken))
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(context, parts) {
            Poll::Pending => self.wait(context),
            Poll::Ready(Ok(taken)) => {
                self.took(taken, parts.iter().map(|part| part.len()).sum());
                Poll::Ready(Ok(taken))
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// A body of pieces of `bytes` bytes, one after each pause.
    fn trickle(bytes: usize, each: Duration) -> Body {
        let pieces = stream::unfold(100, move |left: usize| async move {
            let left = left.checked_sub(1)?;
            sleep(each).await;
            Some((Ok::<_, Infallible>(vec![b'x'; bytes]), left))
        });
        Body::from_stream(pieces)
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickling_body_is_cut_off_and_a_steady_one_arrives() {
        let take = |body| axum::body::to_bytes(paced(body), usize::MAX);
        let slow = take(trickle(1, Duration::from_secs(3))).await.unwrap_err();
        assert!(is_slow(&slow));
        let idle = take(trickle(1 << 20, Duration::from_secs(30))).await.unwrap_err();
        assert!(is_slow(&idle));
        let steady = take(trickle(4 << 10, Duration::from_secs(3))).await.unwrap();
        assert_eq!(steady.len(), 400 << 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_for_a_minute_is_disconnected() {
        let (server, mut client) = duplex(1024);
        let mut server = Watched::new(server);
        let writing = tokio::spawn(async move { server.write_all(&vec![0; 1 << 20]).await });
        let failed = writing.await.unwrap().unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert!(client.read(&mut [0; 8]).await.is_ok());
        // A slow reader is still served.
        let (server, mut client) = duplex(64 << 10);
        let mut server = Watched::new(server);
        let writing = tokio::spawn(async move { server.write_all(&vec![0; 1 << 20]).await });
        let mut taken = 0;
        let mut piece = vec![0; 32 << 10];
        while taken < 1 << 20 {
            sleep(Duration::from_secs(20)).await;
            taken += client.read(&mut piece).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
