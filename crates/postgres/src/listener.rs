//! Receives notifications that runs have more events, which any process sends.

use std::time::Duration;

use futures::{TryStreamExt, stream};
use pikerag_knowledge::StoreError;
use tokio::sync::watch;
use tokio_postgres::AsyncMessage;
use tracing::debug;

use crate::error::Context;
use crate::location::Location;
use crate::tls;

/// Wakes the followers of runs. It says nothing else: they read what is new.
pub(crate) const NOTIFY: &str = "NOTIFY pikerag_runs";
const LISTEN: &str = "LISTEN pikerag_runs";
const DOING: &str = "listening for new events of runs";
/// The pause before a lost connection is made again. Followers also read without being woken.
const PAUSE: Duration = Duration::from_secs(2);

/// A number that changes with each notification. One connection listens until nobody waits any more.
pub(crate) fn listen(location: &Location) -> watch::Receiver<u64> {
    let (sender, receiver) = watch::channel(0);
    let location = location.clone();
    tokio::spawn(async move {
        loop {
            let listening = async {
                if let Err(error) = listening(&location, &sender).await {
                    debug!(%error, "notifications of the database are not received now");
                }
                tokio::time::sleep(PAUSE).await;
            };
            tokio::select! {
                () = listening => {}
                () = sender.closed() => return,
            }
        }
    });
    receiver
}

/// Listens until the connection is lost.
async fn listening(location: &Location, sender: &watch::Sender<u64>) -> Result<(), StoreError> {
    let connected = location.config()?.connect(tls::encryption()?).await;
    let (client, mut connection) = connected.context(DOING)?;
    let messages = stream::poll_fn(move |context| connection.poll_message(context));
    // The first error is the last message.
    let received = messages.try_for_each(|message| {
        if matches!(message, AsyncMessage::Notification(_)) {
            sender.send_modify(|number| *number = number.wrapping_add(1));
        }
        std::future::ready(Ok::<(), tokio_postgres::Error>(()))
    });
    let begun = async {
        client.batch_execute(LISTEN).await.context(DOING)?;
        // The client keeps the connection open.
        std::future::pending::<Result<(), StoreError>>().await
    };
    tokio::select! {
        ended = received => ended.context(DOING),
        ended = begun => ended,
    }
}
