//! What does Ctrl-C do? The first asks the engine to stop, and leaves it a moment to keep what there is; the
//! second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use pikerag_engine::Engine;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::advice::GO_ON;
use crate::output::note;

/// How long work that was stopped may take to end.
const GRACE: Duration = Duration::from_millis(900);

/// Which signal has come, as an exit code; 0 while none has.
#[derive(Clone, Default)]
pub(crate) struct Interrupted(Arc<AtomicU8>);

impl Interrupted {
    /// The exit code, if a signal has come.
    pub(crate) fn code(&self) -> Option<u8> {
        Some(self.0.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }
}

/// Listens on a thread of its own runtime's, so that work which never waits is stopped as well.
pub(crate) fn listen(engine: &Engine) -> std::io::Result<Interrupted> {
    let mut signals = Signals {
        interrupt: signal(SignalKind::interrupt())?,
        terminate: signal(SignalKind::terminate())?,
    };
    let (engine, interrupted) = (engine.clone(), Interrupted::default());
    let told = interrupted.clone();
    tokio::spawn(async move {
        let code = signals.next().await;
        told.0.store(code, Ordering::SeqCst);
        engine.cancel();
        note(&format!("stopping; {GO_ON} (once more ends it at once)"));
        tokio::select! {
            _ = signals.next() => {}
            () = tokio::time::sleep(GRACE) => {}
        }
        std::process::exit(i32::from(code));
    });
    Ok(interrupted)
}

/// Waits for the first signal to end; the one after it ends the program at once.
pub(crate) async fn signalled() {
    let signals = || -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    };
    // Where signals cannot be heard, they end the program by themselves.
    let Ok(mut signals) = signals() else { return std::future::pending().await };
    signals.next().await;
    tokio::spawn(async move {
        let code = signals.next().await;
        std::process::exit(i32::from(code));
    });
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// The exit code of the next one: 128 and its number, as shells have it.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
        }
    }
}
