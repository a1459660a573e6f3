//! Lets one large scan after the other use the pool of threads.
//!
//! A thread of the pool that waits for a part of its scan begins another scan meanwhile, on top of
//! its own. Under steady load, new scans would be done before old ones, which then wait without end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A line of threads: the one that came first goes first.
pub(super) struct Line {
    numbers: Mutex<Numbers>,
    called: Condvar,
}

struct Numbers {
    /// The number of the thread that comes next.
    next: u64,
    /// The number of the thread whose turn it is.
    now: u64,
}

/// The turn of a thread, until dropped.
pub(super) struct Turn<'a>(&'a Line);

impl Line {
    /// A line without threads.
    pub(super) const fn new() -> Self {
        Self { numbers: Mutex::new(Numbers { next: 0, now: 0 }), called: Condvar::new() }
    }

    /// Waits until all threads that came earlier have had their turn. A thread of the pool must not
    /// call this: it could wait for a turn that ends only after it.
    pub(super) fn wait(&self) -> Turn<'_> {
        let mut numbers = self.numbers();
        let own = numbers.next;
        numbers.next += 1;
        while numbers.now != own {
            numbers = self.called.wait(numbers).unwrap_or_else(PoisonError::into_inner);
        }
        Turn(self)
    }

    /// Every change is one addition, so the numbers are right even after a panic.
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.numbers().now += 1;
        self.0.called.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, yield_now};

    use super::*;

    #[test]
    fn threads_have_their_turns_in_the_order_in_which_they_came() {
        let (line, order) = (Line::new(), Mutex::new(Vec::new()));
        scope(|scope| {
            let first = line.wait();
            for n in 1..20 {
                let (line, order) = (&line, &order);
                scope.spawn(move || {
                    let _turn = line.wait();
                    order.lock().unwrap().push(n);
                });
                while line.numbers().next <= n {
                    yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), (1..20).collect::<Vec<u64>>());
    }

    #[test]
    fn a_turn_ends_with_a_panic() {
        let line = Line::new();
        scope(|scope| {
            let panics = scope.spawn(|| {
                let _turn = line.wait();
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
        });
        drop(line.wait());
    }
}
