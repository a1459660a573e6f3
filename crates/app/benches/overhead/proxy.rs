//! Forwards pikerag's requests and records them in the order of arrival.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A request that was sent.
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

impl Call {
    pub(crate) fn is_chat(&self) -> bool {
        self.path.ends_with("/chat/completions")
    }

    /// Only the last prompt of a question asks for a rationale.
    pub(crate) fn asks_for_the_answer(&self) -> bool {
        self.is_chat() && String::from_utf8_lossy(&self.body).contains("rationale")
    }
}

/// Listens until the process ends.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Proxy {
    /// Forwards to a port of this machine.
    pub(crate) fn start(upstream: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let kept = Arc::clone(&calls);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let calls = Arc::clone(&calls);
                // The program reports a broken connection.
                thread::spawn(move || forward(client, upstream, &calls).ok());
            }
        });
        Ok(Self { port, calls: kept })
    }

    /// Takes the calls since the last time.
    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn forward(mut client: TcpStream, upstream: u16, calls: &Mutex<Vec<Call>>) -> io::Result<()> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream))?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut asked, mut replied) =
        (BufReader::new(client.try_clone()?), BufReader::new(server.try_clone()?));
    while let Some((head, body)) = message(&mut asked)? {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        server.write_all(&[head.as_bytes(), &body].concat())?;
        calls.lock().unwrap_or_else(PoisonError::into_inner).push(Call { path, body });
        let Some((head, body)) = message(&mut replied)? else { break };
        client.write_all(&[head.as_bytes(), &body].concat())?;
    }
    Ok(())
}

/// Reads an HTTP/1.1 message with a declared length, as head and body; `None` at the end.
fn message(from: &mut impl BufRead) -> io::Result<Option<(String, Vec<u8>)>> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let begin = head.len();
        if from.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        let line = head.get(begin..).unwrap_or_default().trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some((head, body)))
}
