//! Measures the time that a child may take, without the time of the programs that help it.

use std::time::Duration;

use pikerag_indexing::FileError;

/// The wall time that a child has left.
pub(super) struct Clock {
    left: Duration,
    wall: Duration,
}

impl Clock {
    /// A clock that has not run yet.
    pub(super) fn new(wall: Duration) -> Self {
        Self { left: wall, wall }
    }

    /// Runs a step as long as time is left.
    pub(super) async fn run<T>(&mut self, step: impl Future<Output = T>) -> Result<T, FileError> {
        let started = tokio::time::Instant::now();
        let done = tokio::time::timeout(self.left, step).await;
        self.left = self.left.saturating_sub(started.elapsed());
        done.map_err(|_| FileError::TooSlow { seconds: self.wall.as_secs() })
    }
}
