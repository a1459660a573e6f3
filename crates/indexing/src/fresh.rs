//! Which atoms have just been stored? They go to whoever makes vectors, at once, as far as there is room;
//! the rest are found in the base.

use std::sync::{Mutex, PoisonError};

use futures::channel::mpsc;
use pikerag_knowledge::{Atom, AtomId, AtomKind};

/// New atoms that may wait for their vectors.
const ROOM: usize = 4096;

/// An atom that was just stored and has no vector yet.
pub(crate) struct Fresh {
    pub(crate) kind: AtomKind,
    pub(crate) id: AtomId,
    pub(crate) text: String,
}

impl Fresh {
    pub(crate) fn of(atom: &Atom) -> Self {
        Self { kind: atom.kind, id: atom.id, text: atom.text.clone() }
    }
}

/// Where new atoms are offered; the other end hears of its end when this is dropped.
pub(crate) struct Offer(Mutex<mpsc::Sender<Fresh>>);

/// An offer and its other end.
pub(crate) fn channel() -> (Offer, mpsc::Receiver<Fresh>) {
    let (offer, fresh) = mpsc::channel(ROOM);
    (Offer(Mutex::new(offer)), fresh)
}

impl Offer {
    /// Whether nobody listens any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_closed()
    }

    /// Offers atoms in order, up to the first that there is no room for.
    pub(crate) fn send(&self, atoms: Vec<Fresh>) {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for atom in atoms {
            if sender.try_send(atom).is_err() {
                break;
            }
        }
    }
}
