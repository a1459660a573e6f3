//! Keeps what filters admit from one question to the next.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_knowledge::Filter;

/// The admitted chunks of all kept scopes together, unless one alone has more.
pub(crate) const KEPT: usize = 1_000_000;
/// The most kept scopes.
pub(crate) const MOST: usize = 64;

/// A number that no other scope of this process has.
pub fn next_scope() -> u64 {
    static SCOPES: AtomicU64 = AtomicU64::new(0);
    SCOPES.fetch_add(1, Ordering::Relaxed)
}

/// What the last filters admitted, the last used first. `S` is a store's form of it.
#[derive(Debug)]
pub struct Scopes<S>(Mutex<VecDeque<Kept<S>>>);

#[derive(Debug)]
struct Kept<S> {
    filters: Filters,
    /// The state of the base: a number that grows with each change of what a filter reads.
    at: i64,
    scope: Arc<S>,
    /// The number of admitted chunks.
    size: usize,
}

/// The conditions of two filters: of what the caller may see, and of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters([Vec<String>; 2]);

impl Filters {
    /// The conditions of these filters, in their order.
    pub fn of(visible: &Filter, filter: &Filter) -> Self {
        Self([visible, filter].map(|of| of.conditions.iter().map(ToString::to_string).collect()))
    }
}

impl<S> Default for Scopes<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S> Scopes<S> {
    /// What these filters admit in a state of the base, if it is kept.
    pub fn get(&self, filters: &Filters, at: i64) -> Option<Arc<S>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|kept| kept.at == at && kept.filters == *filters)?;
        let found = kept.remove(place)?;
        let scope = Arc::clone(&found.scope);
        kept.push_front(found);
        Some(scope)
    }

    /// Keeps a scope with its number of chunks, in place of that of another state with the same
    /// filters.
    pub fn put(&self, filters: Filters, at: i64, scope: &Arc<S>, size: usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|kept| kept.filters != filters);
        kept.push_front(Kept { filters, at, scope: Arc::clone(scope), size });
        let mut total = 0;
        let fitting = kept.iter().take_while(|kept| {
            total += kept.size;
            total <= KEPT
        });
        let fitting = fitting.count().clamp(1, MOST);
        kept.truncate(fitting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_scopes_are_few_and_of_one_state() {
        let filters = |name: &str| Filters([vec![], vec![format!("folder={name}")]]);
        let scopes = Scopes::default();
        let put = |name: &str, at: i64, size: usize| {
            scopes.put(filters(name), at, &Arc::new(size), size);
        };
        let get = |name: &str, at: i64| scopes.get(&filters(name), at).map(|size| *size);
        let count = || scopes.0.lock().unwrap().len();
        put("a", 1, 3);
        assert_eq!((get("a", 1), get("a", 2), get("b", 1)), (Some(3), None, None));
        // A later state replaces it.
        put("a", 2, 4);
        assert_eq!((get("a", 1), get("a", 2)), (None, Some(4)));
        for number in 0..2 * MOST {
            put(&number.to_string(), 2, 1);
            assert_eq!(get("0", 2), Some(1), "the last used stays");
        }
        assert_eq!((count(), get("a", 2)), (MOST, None));
        // One that is too large for all others is kept alone.
        put("large", 2, KEPT + 1);
        assert_eq!((count(), get("large", 2)), (1, Some(KEPT + 1)));
        put("small", 2, 1);
        assert_eq!((get("large", 2), get("small", 2)), (None, Some(1)));
    }

    #[test]
    fn filters_differ_by_what_is_visible() {
        let filter = |text: &str| Filter { conditions: vec![text.parse().unwrap()] };
        let (all, law) = (Filter::default(), filter("folder=law"));
        assert_ne!(Filters::of(&law, &all), Filters::of(&all, &law));
        assert_eq!(Filters::of(&law, &all), Filters::of(&filter("folder=law"), &all));
    }
}
