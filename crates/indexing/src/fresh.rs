//! Passes newly stored atoms to the embedder at once, while the channel has capacity; the others are read
//! from the base later.

use std::sync::{Mutex, PoisonError};

use futures::channel::mpsc;
use pikerag_knowledge::{Atom, AtomId, AtomKind};

/// The most new atoms in the channel.
const CAPACITY: usize = 4096;

/// A newly stored atom without a vector.
pub(crate) struct NewAtom {
    pub(crate) kind: AtomKind,
    pub(crate) id: AtomId,
    pub(crate) text: String,
}

impl NewAtom {
    pub(crate) fn of(atom: &Atom) -> Self {
        Self { kind: atom.kind, id: atom.id, text: atom.text.clone() }
    }
}

/// The sending end for new atoms. Dropping it closes the channel.
pub(crate) struct AtomSender(Mutex<mpsc::Sender<NewAtom>>);

/// The two ends of a channel for new atoms.
pub(crate) fn channel() -> (AtomSender, mpsc::Receiver<NewAtom>) {
    let (sender, atoms) = mpsc::channel(CAPACITY);
    (AtomSender(Mutex::new(sender)), atoms)
}

impl AtomSender {
    /// Whether the receiving end is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_closed()
    }

    /// Sends atoms in order, up to the first that exceeds the capacity.
    pub(crate) fn send(&self, atoms: Vec<NewAtom>) {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for atom in atoms {
            if sender.try_send(atom).is_err() {
                break;
            }
        }
    }
}
