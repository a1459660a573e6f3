//! Watches the folders of a base: indexes changed files and removes deleted ones.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::EventKind;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use pikerag_engine::knowledge::JobKind;
use tracing::warn;

use crate::app::{App, Caller};
use crate::jobs::{Host, Work};

/// How long a folder must be quiet before it is scanned: a file is written in many steps.
const QUIET: Duration = Duration::from_secs(1);
/// The longest wait for a folder to become quiet.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often everything is scanned without an event: network folders send none.
const ANYWAY: Duration = Duration::from_mins(10);
/// How often to check whether the server stops, or a folder has appeared.
const STEP: Duration = Duration::from_millis(250);

/// Watches the folders of a base on a thread of its own until the server stops.
pub(crate) fn watch(app: &App, base: &str, folders: &[PathBuf]) {
    if !app.runs_jobs(base) {
        // Its scans would wait forever, because no worker knows the folders.
        warn!(base, "its folders are not watched: `server.run_jobs` is false");
        return;
    }
    let (app, name, folders) = (Arc::clone(app), base.to_owned(), folders.to_vec());
    let thread = std::thread::Builder::new().name(format!("watch {base}"));
    let begun = thread.spawn(move || Watch { app, base: name, folders }.until_stopped());
    if let Err(error) = begun {
        warn!(base, %error, "its folders are not watched");
    }
}

struct Watch {
    app: App,
    base: String,
    folders: Vec<PathBuf>,
}

impl Watch {
    fn until_stopped(&self) {
        let (sender, events) = channel();
        let mut watcher = match recommended_watcher(move |event| {
            // The receiver is gone after the end.
            let _ = sender.send(event);
        }) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                warn!(base = self.base, %error, "its folders are scanned only every ten minutes");
                None
            }
        };
        let mut absent = self.folders.clone();
        loop {
            self.listen_at(&mut watcher, &mut absent);
            self.scan();
            if !self.wait(&events, &mut watcher, &mut absent) {
                return;
            }
        }
    }

    /// Begins to watch the folders that have appeared.
    fn listen_at(&self, watcher: &mut Option<RecommendedWatcher>, absent: &mut Vec<PathBuf>) {
        absent.retain(|folder| {
            if !folder.is_dir() {
                return true;
            }
            let Some(watcher) = watcher else { return false };
            if let Err(error) = watcher.watch(folder, RecursiveMode::Recursive) {
                let folder = folder.display();
                warn!(base = self.base, %folder, %error, "it is scanned only every ten minutes");
            }
            false
        });
    }

    /// Indexes all folders that exist; an unchanged file costs only a check. A missing folder may
    /// be on a disk that is not mounted, so its documents stay.
    fn scan(&self) {
        let there = self.folders.iter().filter(|folder| folder.is_dir());
        let paths: Vec<PathBuf> = there.cloned().collect();
        if paths.is_empty() {
            return;
        }
        // A base that was removed from the settings is not watched any more.
        let Some(session) = self.app.owner_of(&self.base) else { return };
        let work = Work { kind: JobKind::Watch, paths, retry_refused: false };
        let nobody = Caller { key: None };
        let begun = self.app.begin(&nobody, &self.base, &session, work);
        if self.app.runtime.block_on(begun).is_err() {
            warn!(base = self.base, "changes of its folders are not indexed yet");
        }
    }

    /// Waits until a burst of events has ended, or a scan is due; false if the server stops.
    fn wait(
        &self,
        events: &Receiver<notify::Result<Event>>,
        watcher: &mut Option<RecommendedWatcher>,
        absent: &mut Vec<PathBuf>,
    ) -> bool {
        let began = Instant::now();
        let (mut first, mut last) = (None::<Instant>, began);
        loop {
            if self.app.stopping.is_cancelled() {
                return false;
            }
            match events.recv_timeout(STEP) {
                Ok(event) if is_change(&event) => {
                    last = Instant::now();
                    first.get_or_insert(last);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP),
            }
            let n_absent = absent.len();
            self.listen_at(watcher, absent);
            if absent.len() < n_absent {
                return true;
            }
            let is_over =
                first.is_some_and(|first| QUIET <= last.elapsed() || PATIENCE <= first.elapsed());
            // One scan at a time.
            if (is_over || ANYWAY <= began.elapsed()) && self.app.jobs.waiting(&self.base) == 0 {
                return true;
            }
        }
    }
}

/// Whether files may have changed; a lost event counts as a change.
fn is_change(event: &notify::Result<Event>) -> bool {
    event.as_ref().map_or(true, |event| !matches!(event.kind, EventKind::Access(_)))
}
