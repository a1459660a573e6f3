//! What happens in the folders that a base is made of? What is changed there is indexed, what is gone is taken out.

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

/// How long nothing may happen before what happened is looked at: a file is written in many steps.
const QUIET: Duration = Duration::from_secs(1);
/// How long something may go on happening.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often all is looked at whatever was heard: folders of other machines tell nothing.
const ANYWAY: Duration = Duration::from_mins(10);
/// How often it is seen whether the server stops, or a folder has come.
const STEP: Duration = Duration::from_millis(250);

/// Watches the folders of a base on a thread of its own until the server stops.
pub(crate) fn watch(app: &App, base: &str, folders: &[PathBuf]) {
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
        let (sender, heard) = channel();
        let mut watcher = match recommended_watcher(move |event| {
            // After the end nobody listens.
            let _ = sender.send(event);
        }) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                warn!(base = self.base, %error, "changes of its folders are found every ten minutes only");
                None
            }
        };
        let mut absent = self.folders.clone();
        loop {
            self.listen_at(&mut watcher, &mut absent);
            self.look();
            if !self.wait(&heard, &mut watcher, &mut absent) {
                return;
            }
        }
    }

    /// Begins to listen at those folders that have come.
    fn listen_at(&self, watcher: &mut Option<RecommendedWatcher>, absent: &mut Vec<PathBuf>) {
        absent.retain(|folder| {
            if !folder.is_dir() {
                return true;
            }
            let Some(watcher) = watcher else { return false };
            if let Err(error) = watcher.watch(folder, RecursiveMode::Recursive) {
                let folder = folder.display();
                warn!(base = self.base, %folder, %error, "its changes are found every ten minutes only");
            }
            false
        });
    }

    /// Indexes all that are there: what is as it was costs a look. One that is gone as a whole may be on a disk that is not
    /// there now: what came from it stays.
    fn look(&self) {
        let there = self.folders.iter().filter(|folder| folder.is_dir());
        let paths: Vec<PathBuf> = there.cloned().collect();
        if paths.is_empty() {
            return;
        }
        // A base that the settings do not name any more is watched for nobody.
        let Some(session) = self.app.owner_of(&self.base) else { return };
        let work = Work { kind: JobKind::Watch, paths, retry_refused: false };
        let nobody = Caller { key: None };
        let begun = self.app.begin(&nobody, &self.base, &session, work);
        if self.app.runtime.block_on(begun).is_err() {
            warn!(base = self.base, "what changed in its folders waits");
        }
    }

    /// Waits until something has happened and is over, or it is time to look anyway; false where the server stops.
    fn wait(
        &self,
        heard: &Receiver<notify::Result<Event>>,
        watcher: &mut Option<RecommendedWatcher>,
        absent: &mut Vec<PathBuf>,
    ) -> bool {
        let began = Instant::now();
        let (mut first, mut last) = (None::<Instant>, began);
        loop {
            if self.app.stopping.is_cancelled() {
                return false;
            }
            match heard.recv_timeout(STEP) {
                Ok(event) if tells(&event) => {
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
            // One look after the other.
            if (is_over || ANYWAY <= began.elapsed()) && self.app.jobs.waiting(&self.base) == 0 {
                return true;
            }
        }
    }
}

/// Whether something may be another now; what could not be heard may be as well.
fn tells(event: &notify::Result<Event>) -> bool {
    event.as_ref().map_or(true, |event| !matches!(event.kind, EventKind::Access(_)))
}
