//! Reads requests and writes replies in the subset of HTTP/1.1 that model clients use.

use std::io::{BufRead, BufReader, Error, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};

use serde_json::Value;

/// Answers all requests until the server ends, each connection on its own thread; `answer` returns
/// whether its connection stays open.
pub(super) fn serve(
    listener: TcpListener,
    is_over: Arc<AtomicBool>,
    answer: impl Fn(Request, &mut TcpStream) -> Result<bool> + Send + Sync + 'static,
) -> JoinHandle<()> {
    let answer = Arc::new(answer);
    spawn(move || {
        for connection in listener.incoming() {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let (is_over, answer) = (Arc::clone(&is_over), Arc::clone(&answer));
            // A killed client leaves a broken connection.
            spawn(move || {
                connection.and_then(|connection| converse(connection, &is_over, &*answer))
            });
        }
    })
}

/// Answers the requests of a connection in turn.
fn converse(
    mut connection: TcpStream,
    is_over: &AtomicBool,
    answer: &impl Fn(Request, &mut TcpStream) -> Result<bool>,
) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        if is_over.load(Ordering::Relaxed) || !answer(request, &mut connection)? {
            break;
        }
    }
    connection.shutdown(Shutdown::Both)
}

/// A request.
pub(super) struct Request {
    pub(super) path: String,
    /// The first line and the headers.
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// The next request; `None` if the client sends no more.
fn read(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let (mut head, mut length) = (String::new(), 0);
    if reader.read_line(&mut head)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        // The client was killed while it sent the head.
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(Error::other)?;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok(Some(Request { path, head, body }))
}

/// The head of a stream of events, which lasts until the connection ends.
pub(super) const EVENTS: &str =
    "HTTP/1.1 200 As said\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A reply.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let head = "Content-Type: application/json\r\n".to_owned();
        Self { status, head, body: body.to_string().into_bytes() }
    }

    fn bytes(&self) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {} As said\r\n{}Content-Length: {}\r\n\r\n",
            self.status,
            self.head,
            self.body.len()
        );
        [head.as_bytes(), &self.body].concat()
    }

    /// Writes the whole reply; the connection stays open.
    pub(super) fn write(&self, writer: &mut impl Write) -> Result<bool> {
        writer.write_all(&self.bytes())?;
        Ok(true)
    }

    /// Writes half of the reply, and closes.
    pub(super) fn cut(&self, writer: &mut impl Write) -> Result<bool> {
        let bytes = self.bytes();
        writer.write_all(bytes.get(..bytes.len() - self.body.len() / 2).unwrap_or_default())?;
        Ok(false)
    }
}
