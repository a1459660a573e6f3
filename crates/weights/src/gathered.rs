//! Embeds the short texts of requests that come at the same time as one batch. The weights are then
//! read from memory once for all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_knowledge::{ModelError, Vector};
use tokio::sync::{Semaphore, oneshot};

/// Requests of at most this many texts are gathered: questions and their parts. Larger ones are
/// batches of their own.
const FEW: usize = 8;
/// The largest number of requests in a batch.
const MOST: usize = 32;

/// The requests that wait for the next batch of one model.
#[derive(Clone)]
pub(super) struct Gathered {
    queue: Arc<Mutex<Queue>>,
    /// Places of batches that are embedded at a time, one for each processor: more requests wait,
    /// and gather.
    places: Arc<Semaphore>,
}

/// The waiting requests, in the order in which they came.
#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// The number of requests that came so far.
    came: u64,
}

struct Waiting {
    number: u64,
    texts: Vec<String>,
    reply: oneshot::Sender<Reply>,
}

/// The vectors of one request; `None` if its batch failed, so that it is embedded alone.
type Reply = Option<Vec<Vector>>;

impl Gathered {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_places(processors)
    }

    fn with_places(places: usize) -> Self {
        Self { queue: Arc::default(), places: Arc::new(Semaphore::new(places)) }
    }

    /// Whether a request of these texts is gathered with others.
    pub(super) fn takes(texts: &[String]) -> bool {
        (1..=FEW).contains(&texts.len())
    }

    /// Embeds the texts with those of other waiting requests by `embed`, which blocks its thread.
    /// Returns `None` if the batch failed: another request may be the cause.
    ///
    /// Each waiting request also waits for a place. Whichever gets one takes itself and others that
    /// wait, so none is left behind when a caller goes away.
    pub(super) async fn embed(
        &self,
        texts: &[String],
        embed: impl FnOnce(&[String]) -> Result<Vec<Vector>, ModelError> + Send + 'static,
    ) -> Option<Vec<Vector>> {
        let (reply, mut came) = oneshot::channel();
        let number = self.held().add(texts.to_vec(), reply);
        let place = tokio::select! {
            biased;
            vectors = &mut came => return vectors.ok().flatten(),
            place = Arc::clone(&self.places).acquire_owned() => place.ok()?,
        };
        let batch = self.held().next(number);
        match batch.is_empty() {
            // Another batch has this request; the place is for the next one meanwhile.
            true => drop(place),
            false => drop(tokio::task::spawn_blocking(move || {
                let _place = place;
                answer(batch, embed);
            })),
        }
        came.await.ok().flatten()
    }

    fn held(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Adds a request, and returns its number.
    fn add(&mut self, texts: Vec<String>, reply: oneshot::Sender<Reply>) -> u64 {
        self.came = self.came.wrapping_add(1);
        self.waiting.push(Waiting { number: self.came, texts, reply });
        self.came
    }

    /// The requests of the next batch: the longest waiting ones, and the one of this `number` if it
    /// waits, because it does not wait for a place any more. Callers that are gone are left out.
    fn next(&mut self, number: u64) -> Vec<Waiting> {
        self.waiting.retain(|request| !request.reply.is_closed());
        let own = self.waiting.iter().position(|request| request.number == number);
        if let Some(at) = own.filter(|at| MOST <= *at) {
            let own = self.waiting.remove(at);
            self.waiting.insert(0, own);
        }
        let n = self.waiting.len().min(MOST);
        self.waiting.drain(..n).collect()
    }
}

/// Embeds all texts of a batch, and replies to each request.
fn answer(batch: Vec<Waiting>, embed: impl FnOnce(&[String]) -> Result<Vec<Vector>, ModelError>) {
    let texts: Vec<String> = batch.iter().flat_map(|request| request.texts.clone()).collect();
    let mut vectors = embed(&texts).ok().filter(|vectors| vectors.len() == texts.len());
    for Waiting { texts, reply, .. } in batch {
        let own = vectors.as_mut().map(|vectors| vectors.drain(..texts.len()).collect());
        // A caller that is gone needs no vectors.
        let _ = reply.send(own);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::future::join_all;
    use pikerag_doubles::HashEmbedder;

    use super::*;

    fn vectors(texts: &[String]) -> Vec<Vector> {
        HashEmbedder::new(8).vectors(texts)
    }

    /// All places are taken while the requests come, so they wait together.
    #[tokio::test]
    async fn requests_that_wait_are_one_batch_and_each_gets_its_own_vectors() {
        let gathered = Gathered::new();
        let (sizes, embedded) = mpsc::channel();
        let asked: Vec<Vec<String>> =
            (0..5).map(|n| (0..=n % 3).map(|at| format!("{n}.{at}")).collect()).collect();
        let requests = asked.iter().map(|texts| {
            let sizes = sizes.clone();
            gathered.embed(texts, move |all| {
                sizes.send(all.len()).unwrap();
                Ok(vectors(all))
            })
        });
        let all = u32::try_from(gathered.places.available_permits()).unwrap();
        let places = Arc::clone(&gathered.places).acquire_many_owned(all).await.unwrap();
        let release = async {
            tokio::task::yield_now().await;
            drop(places);
        };
        let (replies, ()) = tokio::join!(join_all(requests), release);
        for (texts, reply) in asked.iter().zip(replies) {
            assert_eq!(reply.unwrap(), vectors(texts));
        }
        let n_texts: usize = asked.iter().map(Vec::len).sum();
        assert_eq!(embedded.try_iter().collect::<Vec<_>>(), [n_texts]);
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_takes_no_other_with_it() {
        let gathered = Gathered::new();
        let all = u32::try_from(gathered.places.available_permits()).unwrap();
        let places = Arc::clone(&gathered.places).acquire_many_owned(all).await.unwrap();
        let texts = ["gone".to_owned()];
        let gone = gathered.embed(&texts, |all| Ok(vectors(all)));
        assert!(futures::poll!(std::pin::pin!(gone)).is_pending());
        assert_eq!(gathered.held().waiting.len(), 1);
        drop(places);
        let texts = ["here".to_owned()];
        let reply = gathered.embed(&texts, |all| {
            assert_eq!(all, ["here"]);
            Ok(vectors(all))
        });
        assert_eq!(reply.await.unwrap(), vectors(&texts));
        assert!(gathered.held().waiting.is_empty());
    }

    #[tokio::test]
    async fn a_request_in_another_batch_holds_no_place() {
        let gathered = Gathered::with_places(2);
        let both = Arc::clone(&gathered.places).acquire_many_owned(2).await.unwrap();
        let (go, wait) = mpsc::channel::<()>();
        let (one, two) = (["one".to_owned()], ["two".to_owned()]);
        let first = gathered.embed(&one, move |all| {
            wait.recv().unwrap();
            Ok(vectors(all))
        });
        let second = gathered.embed(&two, |all| Ok(vectors(all)));
        let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
        assert!(futures::poll!(first.as_mut()).is_pending());
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(both);
        // The first one takes both into its batch, and the second one then gets a place, too.
        assert!(futures::poll!(first.as_mut()).is_pending());
        assert!(futures::poll!(second.as_mut()).is_pending());
        assert_eq!(gathered.places.available_permits(), 1);
        go.send(()).unwrap();
        let replies = tokio::join!(first, second);
        assert_eq!(replies, (Some(vectors(&one)), Some(vectors(&two))));
    }

    /// A request that has a place but is in no batch would wait for ever.
    #[test]
    fn a_batch_contains_the_request_that_has_the_place() {
        let mut queue = Queue::default();
        let mut replies = Vec::new();
        for n in 0..=MOST {
            let (reply, came) = oneshot::channel();
            queue.add(vec![n.to_string()], reply);
            replies.push(came);
        }
        let last = queue.came;
        let batch = queue.next(last);
        assert_eq!(batch.len(), MOST);
        assert!(batch.iter().any(|request| request.number == last));
        assert_eq!(queue.next(last).len(), 1);
    }

    #[tokio::test]
    async fn a_batch_that_fails_or_panics_gives_no_vectors() {
        let gathered = Gathered::new();
        let texts = ["bad".to_owned()];
        let broken = |_: &[String]| {
            Err(ModelError::Broken { model: "tiny".to_owned(), source: "bad".into() })
        };
        assert_eq!(gathered.embed(&texts, broken).await, None);
        assert_eq!(gathered.embed(&texts, |_| Ok(Vec::new())).await, None);
        assert_eq!(gathered.embed(&texts, |_| panic!("a batch")).await, None);
        assert_eq!(gathered.embed(&texts, |all| Ok(vectors(all))).await, Some(vectors(&texts)));
    }
}
