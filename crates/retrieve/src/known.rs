//! Keeps what searches look up again and again. From one question to the next: the names in chunks,
//! and how title-like the titles of a base are. Within a question: its last look-ups.

mod stored;

use std::any::Any;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use pikerag_knowledge::{ChunkId, ChunkList, NameKey};

pub(crate) use self::stored::{NamedTitle, StoredNames};

/// About the most bytes that the names of chunks take, over all bases, and the same of the chunks
/// that mention names.
const MOST_BYTES: usize = 12 << 20;
/// The most states of bases whose titles are kept.
const MOST_STATES: usize = 64;
/// The most look-ups of one question that are kept.
const MOST_LOOKUPS: usize = 4;

/// What one question has looked up so far, and what earlier ones found out. It belongs to one state
/// of a base, and to one embedder.
#[derive(Default)]
pub struct Memory {
    known: Option<KnownState>,
    /// By what was looked up, the latest last.
    lookups: Mutex<Vec<(String, Arc<dyn Any + Send + Sync>)>>,
}

impl Memory {
    /// A memory of a question; `known` is what earlier ones found out that saw the same documents.
    pub fn new(known: Option<KnownState>) -> Self {
        Self { known, lookups: Mutex::default() }
    }

    pub(crate) fn known(&self) -> Option<&KnownState> {
        self.known.as_ref()
    }

    /// The result of a look-up, if it is kept. `what` names the look-up with all its parameters.
    pub(crate) fn lookup<T: Any + Send + Sync>(&self, what: &str) -> Option<Arc<T>> {
        let held = self.held();
        let (_, result) = held.iter().find(|(known, _)| known == what)?;
        Arc::clone(result).downcast().ok()
    }

    pub(crate) fn add_lookup<T: Any + Send + Sync>(&self, what: String, result: &Arc<T>) {
        let mut held = self.held();
        if held.len() == MOST_LOOKUPS {
            held.remove(0);
        }
        held.push((what, Arc::clone(result) as Arc<dyn Any + Send + Sync>));
    }

    fn held(&self) -> MutexGuard<'_, Vec<(String, Arc<dyn Any + Send + Sync>)>> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What questions found out about states of bases. Clones share it. It forgets what was unused for
/// the longest time when it takes more than about 24 MiB, and all when [`Known::forget`] is called.
#[derive(Clone)]
pub struct Known {
    held: Arc<Mutex<Held>>,
    hasher: RandomState,
}

/// One state of a base, as all see it who see the same part of it: an opening of the base, a
/// generation and what a filter admits.
#[derive(Clone)]
pub struct KnownState {
    known: Known,
    state: u64,
    /// [`Held::forgettings`] when the question began.
    forgettings: u64,
}

struct Held {
    /// How often all was forgotten.
    forgettings: u64,
    /// By state and chunk.
    names: Bounded<(u64, ChunkId), StoredNames>,
    /// The chunks that mention a name, by state, name, and the longest list.
    mentions: Bounded<(u64, NameKey, usize), ChunkList>,
    /// The share of its title that a chunk has for itself, by state.
    own_titles: LruCache<u64, f32>,
}

/// Values that are forgotten when they take too much.
struct Bounded<K: Eq + Hash, V> {
    /// With about the bytes of each.
    values: LruCache<K, (usize, Arc<V>)>,
    bytes: usize,
}

impl<K: Eq + Hash, V> Bounded<K, V> {
    fn new() -> Self {
        Self { values: LruCache::unbounded(), bytes: 0 }
    }

    fn get(&mut self, key: &K) -> Option<Arc<V>> {
        self.values.get(key).map(|(_, value)| Arc::clone(value))
    }

    fn put(&mut self, key: K, bytes: usize, value: &Arc<V>) {
        // A place in the table, with its neighbours in the order of use.
        let bytes = bytes + size_of::<K>() + 64;
        let before = self.values.put(key, (bytes, Arc::clone(value)));
        self.bytes += bytes;
        self.bytes -= before.map_or(0, |(bytes, _)| bytes);
        while MOST_BYTES < self.bytes
            && let Some((_, (bytes, _))) = self.values.pop_lru()
        {
            self.bytes -= bytes;
        }
    }
}

impl Default for Held {
    fn default() -> Self {
        Self {
            forgettings: 0,
            names: Bounded::new(),
            mentions: Bounded::new(),
            own_titles: LruCache::unbounded(),
        }
    }
}

impl Default for Known {
    fn default() -> Self {
        Self { held: Arc::default(), hasher: RandomState::new() }
    }
}

impl Known {
    /// About the most bytes that it takes.
    pub const MOST_BYTES: usize = 2 * MOST_BYTES;

    /// What is known of a state. `name` must differ between all bases, all their generations, and all
    /// that filters admit.
    pub fn of(&self, name: &str) -> KnownState {
        let forgettings = self.held().forgettings;
        KnownState { known: self.clone(), state: self.hasher.hash_one(name), forgettings }
    }

    /// Forgets all, because a text that must not stay in memory may be in it. Questions that began
    /// before add nothing more.
    pub fn forget(&self) {
        let mut held = self.held();
        let forgettings = held.forgettings + 1;
        *held = Held { forgettings, ..Held::default() };
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownState {
    /// What is held, to add to it; `None` if all was forgotten since the question began.
    fn current(&self) -> Option<MutexGuard<'_, Held>> {
        let held = self.known.held();
        (held.forgettings == self.forgettings).then_some(held)
    }

    /// The names in a chunk, if they are known.
    pub(crate) fn names(&self, chunk: ChunkId) -> Option<Arc<StoredNames>> {
        self.known.held().names.get(&(self.state, chunk))
    }

    pub(crate) fn add_names(&self, chunk: ChunkId, names: &Arc<StoredNames>) {
        let bytes = names.bytes();
        if let Some(mut held) = self.current() {
            held.names.put((self.state, chunk), bytes, names);
        }
    }

    /// The chunks that mention each name, as far as they are known, by name in order.
    pub(crate) fn mentions(&self, keys: &[NameKey], most: usize) -> Vec<Option<Arc<ChunkList>>> {
        let mut held = self.known.held();
        keys.iter().map(|key| held.mentions.get(&(self.state, *key, most))).collect()
    }

    pub(crate) fn add_mentions(&self, keys: &[NameKey], most: usize, lists: &[Arc<ChunkList>]) {
        let Some(mut held) = self.current() else { return };
        for (key, list) in keys.iter().zip(lists) {
            let bytes = size_of::<ChunkList>() + size_of_val(list.chunks.as_slice());
            held.mentions.put((self.state, *key, most), bytes, list);
        }
    }

    /// How title-like the base's titles are, if that is known.
    pub(crate) fn own_titles(&self) -> Option<f32> {
        self.known.held().own_titles.get(&self.state).copied()
    }

    pub(crate) fn add_own_titles(&self, own: f32) {
        let Some(mut held) = self.current() else { return };
        held.own_titles.put(self.state, own);
        while MOST_STATES < held.own_titles.len() {
            held.own_titles.pop_lru();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_are_separate_and_what_was_unused_for_long_goes() {
        let known = Known::default();
        let (one, other) = (known.of("a:1"), known.of("a:2"));
        let names = Arc::new(StoredNames::default());
        one.add_names(ChunkId(1), &names);
        assert!(known.of("a:1").names(ChunkId(1)).is_some() && other.names(ChunkId(1)).is_none());
        let each = known.held().names.bytes;
        assert!(names.bytes() < each);
        // Another time: the bytes count once.
        one.add_names(ChunkId(1), &names);
        assert_eq!(known.held().names.bytes, each);
        for chunk in 0..(MOST_BYTES / each) as u64 {
            other.add_names(ChunkId(chunk), &names);
        }
        assert!(one.names(ChunkId(1)).is_none() && other.names(ChunkId(0)).is_some());
        assert!(known.held().names.bytes <= MOST_BYTES);
    }

    #[test]
    fn nothing_is_left_or_added_after_all_was_forgotten() {
        let known = Known::default();
        let earlier = known.of("a:1");
        let (names, list) = (Arc::new(StoredNames::default()), Arc::new(ChunkList::default()));
        let lists = std::slice::from_ref(&list);
        let add = |state: &KnownState| {
            state.add_names(ChunkId(1), &names);
            state.add_mentions(&[NameKey(1)], 9, lists);
            state.add_own_titles(0.5);
        };
        let is_known = |state: &KnownState| {
            let mentions = state.mentions(&[NameKey(1)], 9).pop().flatten();
            [state.names(ChunkId(1)).is_some(), mentions.is_some(), state.own_titles().is_some()]
        };
        add(&earlier);
        assert_eq!(is_known(&earlier), [true; 3]);
        known.forget();
        assert_eq!(is_known(&earlier), [false; 3]);
        add(&earlier);
        assert_eq!(is_known(&known.of("a:1")), [false; 3]);
        let bytes = {
            let held = known.held();
            (held.names.bytes, held.mentions.bytes)
        };
        assert_eq!(bytes, (0, 0));
        add(&known.of("a:1"));
        assert_eq!(is_known(&known.of("a:1")), [true; 3]);
    }

    #[test]
    fn mentions_are_known_by_name_and_limit() {
        let state = Known::default().of("a:1");
        let list = Arc::new(ChunkList { count: 1, chunks: vec![ChunkId(7)] });
        let keys = [NameKey(1), NameKey(2)];
        state.add_mentions(&keys[1..], 9, std::slice::from_ref(&list));
        assert_eq!(state.mentions(&keys, 9), [None, Some(list)]);
        assert_eq!(state.mentions(&keys, 8), [None, None]);
    }

    #[test]
    fn a_question_keeps_its_last_look_ups() {
        let memory = Memory::default();
        for n in 0..=MOST_LOOKUPS {
            memory.add_lookup(n.to_string(), &Arc::new(n));
        }
        assert_eq!(memory.lookup::<usize>("0"), None);
        assert_eq!(memory.lookup::<usize>("1").as_deref(), Some(&1));
        assert_eq!(memory.lookup::<String>("1"), None);
    }

    #[test]
    fn titles_are_known_by_state() {
        let known = Known::default();
        known.of("a:1").add_own_titles(0.5);
        assert_eq!((known.of("a:1").own_titles(), known.of("b:1").own_titles()), (Some(0.5), None));
        for state in 0..=MOST_STATES {
            known.of(&format!("c:{state}")).add_own_titles(0.1);
        }
        assert_eq!(known.of("a:1").own_titles(), None);
    }
}
