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

/// Batches that are embedded at a time, one for each processor: more requests then wait, and
/// gather.
static BATCHES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)));

/// The requests that wait for the next batch of one model.
#[derive(Clone, Default)]
pub(super) struct Gathered(Arc<Mutex<Vec<Waiting>>>);

struct Waiting {
    texts: Vec<String>,
    reply: oneshot::Sender<Reply>,
}

/// The vectors of one request; `None` if its batch failed, so that it is embedded alone.
type Reply = Option<Vec<Vector>>;

impl Gathered {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { waiting: Arc::default(), places: Arc::new(Semaphore::new(processors)) }
    }

    /// Whether a request of these texts is gathered with others.
    pub(super) fn takes(texts: &[String]) -> bool {
        (1..=FEW).contains(&texts.len())
    }

    /// Embeds the texts with those of other waiting requests by `embed`, which blocks its thread.
    /// Returns `None` if the batch failed: another request may be the cause.
    ///
    /// Each waiting request also waits for a place. Whichever gets one takes all that wait, so none
    /// is left behind when a caller goes away.
    pub(super) async fn embed(
        &self,
        texts: &[String],
        embed: impl FnOnce(&[String]) -> Result<Vec<Vector>, ModelError> + Send + 'static,
    ) -> Option<Vec<Vector>> {
        let (reply, mut came) = oneshot::channel();
        self.held().push(Waiting { texts: texts.to_vec(), reply });
        let place = tokio::select! {
            biased;
            vectors = &mut came => return vectors.ok().flatten(),
            place = Arc::clone(&self.places).acquire_owned() => place.ok()?,
        };
        let batch = self.next();
        if !batch.is_empty() {
            tokio::task::spawn_blocking(move || {
                let _place = place;
                answer(batch, embed);
            });
        }
        came.await.ok().flatten()
    }

    /// The requests of the next batch, the longest waiting first. Callers that are gone are left
    /// out.
    fn next(&self) -> Vec<Waiting> {
        let mut waiting = self.held();
        waiting.retain(|request| !request.reply.is_closed());
        let n = waiting.len().min(MOST);
        waiting.drain(..n).collect()
    }

    fn held(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Embeds all texts of a batch, and replies to each request.
fn answer(batch: Vec<Waiting>, embed: impl FnOnce(&[String]) -> Result<Vec<Vector>, ModelError>) {
    let texts: Vec<String> = batch.iter().flat_map(|request| request.texts.clone()).collect();
    let mut vectors = embed(&texts).ok().filter(|vectors| vectors.len() == texts.len());
    for Waiting { texts, reply } in batch {
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
        assert_eq!(gathered.held().len(), 1);
        drop(places);
        let texts = ["here".to_owned()];
        let reply = gathered.embed(&texts, |all| {
            assert_eq!(all, ["here"]);
            Ok(vectors(all))
        });
        assert_eq!(reply.await.unwrap(), vectors(&texts));
        assert!(gathered.held().is_empty());
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
