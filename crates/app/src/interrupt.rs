//! Handles Ctrl-C: the first asks the engine to stop and gives it a moment to store its results; the second ends the
//! program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use pikerag_engine::Engine;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::advice::go_on;
use crate::output::Output;
use crate::waiting;

/// The longest time that stopped work may take to end.
const GRACE: Duration = Duration::from_millis(900);

/// The exit code of the signal that has come; 0 while none has.
#[derive(Clone, Default)]
pub(crate) struct Interrupted(Arc<AtomicU8>);

impl Interrupted {
    /// The exit code, if a signal has come.
    pub(crate) fn code(&self) -> Option<u8> {
        Some(self.0.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }
}

/// Listens on a thread of the runtime, so that work which never waits is stopped as well.
pub(crate) fn listen(engine: &Engine, output: Output) -> std::io::Result<Interrupted> {
    let mut signals = Signals::received()?;
    let (engine, interrupted) = (engine.clone(), Interrupted::default());
    let state = interrupted.clone();
    tokio::spawn(async move {
        let code = signals.next().await;
        state.0.store(code, Ordering::SeqCst);
        engine.cancel();
        let go_on = go_on(false, output.language);
        output.note(
            format!("stopping; {go_on} (Ctrl-C again to quit now)"),
            format!("正在停止；{go_on}（再按一次 Ctrl-C 立即退出）"),
        );
        tokio::select! {
            _ = signals.next() => {}
            () = tokio::time::sleep(GRACE) => {}
        }
        waiting::set(None);
        std::process::exit(i32::from(code));
    });
    Ok(interrupted)
}

/// Waits for the first signal to end, from the call on; the one after it ends the program at once.
pub(crate) fn signalled() -> impl Future<Output = ()> {
    let signals = Signals::received();
    async {
        // If signals cannot be received, they end the program by themselves.
        let Ok(mut signals) = signals else { return std::future::pending().await };
        signals.next().await;
        tokio::spawn(async move {
            let code = signals.next().await;
            std::process::exit(i32::from(code));
        });
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// The signals that come from now on.
    fn received() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The exit code of the next one: 128 plus its number, as in shells.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
        }
    }
}
