//! Replies with fixed bytes, and records the exact requests.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use super::http::{self, Request, Response};

/// A prepared reply.
#[derive(Clone)]
pub enum Canned {
    /// A status, header lines, and a body.
    Reply(u16, &'static str, String),
    /// HTTP 200 with a body shorter than its announced length; then the connection is cut.
    Cut(&'static str),
    /// HTTP 200 with server-sent events, written in these pieces; then the connection ends.
    Events(Vec<String>),
    /// No reply, however long the client waits.
    Silence,
}

/// A stream with an event for each of `data`.
#[must_use]
pub fn events(data: &[&str]) -> Canned {
    Canned::Events(data.iter().map(|data| format!("data: {data}\n\n")).collect())
}

/// HTTP 200 with JSON.
#[must_use]
pub fn ok(body: impl Into<String>) -> Canned {
    Canned::Reply(200, "content-type: application/json\r\n", body.into())
}

/// Another status with a message.
#[must_use]
pub fn error(status: u16, body: &str) -> Canned {
    Canned::Reply(status, "", body.to_owned())
}

/// A server on a free port; it listens until the process ends.
pub struct Server {
    /// Host and port.
    pub address: String,
    /// The base URL for clients.
    pub base_url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Sends the replies in this order, over one or several connections; the last one is repeated.
    ///
    /// # Panics
    /// No port is free, or there is no reply.
    #[must_use]
    pub fn start(replies: Vec<Canned>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let base_url = format!("http://{address}/v1");
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&requests);
        drop(http::serve(listener, Arc::default(), move |request, writer| {
            let turn = {
                let mut kept = lock(&kept);
                kept.push(request);
                kept.len() - 1
            };
            match replies.get(turn).or(replies.last()).unwrap() {
                Canned::Reply(status, head, body) => {
                    let (head, body) = ((*head).to_owned(), body.clone().into_bytes());
                    Response { status: *status, head, body }.write(writer)
                }
                Canned::Cut(body) => {
                    let head = "HTTP/1.1 200 As said\r\ncontent-length: 1000\r\n\r\n";
                    writer.write_all(format!("{head}{body}").as_bytes())?;
                    Ok(false)
                }
                Canned::Events(pieces) => {
                    writer.write_all(http::EVENTS.as_bytes())?;
                    for piece in pieces {
                        writer.write_all(piece.as_bytes())?;
                        writer.flush()?;
                    }
                    Ok(false)
                }
                Canned::Silence => {
                    sleep(Duration::from_mins(1));
                    Ok(true)
                }
            }
        }));
        Self { address, base_url, requests }
    }

    /// Head and body of each request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        lock(&self.requests).iter().map(|it| format!("{}\r\n{}", it.head, text(&it.body))).collect()
    }

    /// The bodies so far.
    #[must_use]
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        lock(&self.requests).iter().map(|request| request.body.clone()).collect()
    }

    /// The bodies so far as text, one per line.
    #[must_use]
    pub fn bodies(&self) -> String {
        let bodies = self.bytes();
        let bodies = bodies.iter().map(|body| String::from_utf8_lossy(body));
        bodies.collect::<Vec<_>>().join("\n")
    }
}

fn lock(requests: &Mutex<Vec<Request>>) -> MutexGuard<'_, Vec<Request>> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}
