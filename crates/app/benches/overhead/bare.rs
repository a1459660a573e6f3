//! Measures the time of recorded requests by a client that does nothing else. It sends recorded
//! bodies and reads the replies without parsing them.

use std::time::{Duration, Instant};

use anyhow::Result;
use futures::stream::{self, StreamExt, TryStreamExt};
use reqwest::Client;
use tokio::runtime::Builder;

use crate::process::{Used, processor_seconds};
use crate::proxy::Call;

/// Sends all chat calls, then all embedding calls, as indexing does.
pub(crate) fn index(port: u16, calls: &[Call], chats: usize, embeddings: usize) -> Result<Used> {
    timed(port, async |wire| {
        let (chat, embed): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|call| call.is_chat());
        for (calls, at_once) in [(chat, chats), (embed, embeddings)] {
            let replies = stream::iter(calls).map(|call| wire.post(call)).buffer_unordered(at_once);
            replies.try_collect::<()>().await?;
        }
        Ok(())
    })
}

/// Sends `at_once` questions at a time; the calls of one question follow each other.
pub(crate) fn ask(port: u16, questions: &[Vec<Call>], at_once: usize) -> Result<Used> {
    timed(port, async |wire| {
        let answers = stream::iter(questions).map(|calls| async move {
            for call in calls {
                wire.post(call).await?;
            }
            Ok(())
        });
        answers.buffer_unordered(at_once).try_collect().await
    })
}

fn timed(port: u16, work: impl AsyncFnOnce(&Wire) -> Result<()>) -> Result<Used> {
    let (began, cpu) = (Instant::now(), processor_seconds("self")?);
    // pikerag sets up its own runtime in the same way.
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let client = Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .tls_built_in_root_certs(false)
        .pool_idle_timeout(Duration::from_secs(4));
    let wire = Wire { client: client.build()?, origin: format!("http://127.0.0.1:{port}") };
    runtime.block_on(work(&wire))?;
    let cpu = processor_seconds("self")? - cpu;
    Ok(Used { wall: began.elapsed().as_secs_f64(), cpu, peak_mib: 0.0 })
}

struct Wire {
    client: Client,
    origin: String,
}

impl Wire {
    async fn post(&self, call: &Call) -> Result<()> {
        let request = self.client.post(format!("{}{}", self.origin, call.path));
        let request = request.header("content-type", "application/json").body(call.body.clone());
        request.send().await?.error_for_status()?.bytes().await?;
        Ok(())
    }
}
