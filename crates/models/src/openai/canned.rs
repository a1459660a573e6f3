//! What did we send, exactly? A server that replies with canned bytes and keeps what it got.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone)]
pub(super) enum Canned {
    /// A status, header lines, and a body.
    Reply(u16, &'static str, String),
    /// HTTP 200, and a body announced longer than it is; then the connection is cut.
    Cut(&'static str),
    /// Nothing, for as long as anybody waits.
    Silence,
}

/// Listens until the test ends.
pub(super) struct Server {
    pub(super) base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

pub(super) fn ok(body: impl Into<String>) -> Canned {
    Canned::Reply(200, "content-type: application/json\r\n", body.into())
}

pub(super) fn error(status: u16, body: &str) -> Canned {
    Canned::Reply(status, "", body.to_owned())
}

impl Server {
    /// Replies in this order, one request per connection or many; the last one over and over.
    pub(super) async fn start(replies: Vec<Canned>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, replies.clone(), kept.clone()));
            }
        });
        Self { base_url, requests }
    }

    /// Head and body of each request so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The bodies so far, a line each.
    pub(super) fn bodies(&self) -> String {
        let requests = self.requests();
        let bodies = requests.iter().map(|request| request.split_once("\r\n\r\n").unwrap().1);
        bodies.collect::<Vec<_>>().join("\n")
    }
}

async fn serve(mut stream: TcpStream, replies: Vec<Canned>, kept: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read(&mut stream).await {
        let turn = {
            let mut kept = kept.lock().unwrap();
            kept.push(request);
            kept.len() - 1
        };
        match replies.get(turn).or(replies.last()).unwrap() {
            Canned::Reply(status, headers, body) => {
                let n = body.len();
                let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {n}\r\n\r\n");
                let whole = [head.as_bytes(), body.as_bytes()].concat();
                if stream.write_all(&whole).await.is_err() {
                    return; // The client had enough.
                }
            }
            Canned::Cut(body) => {
                let head = "HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n";
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
                return;
            }
            Canned::Silence => tokio::time::sleep(Duration::from_mins(1)).await,
        }
    }
}

/// One request; None at the end of the connection.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if length.unwrap().parse::<usize>().unwrap() <= body.len() {
                return Some(text.into_owned());
            }
        }
        let mut piece = vec![0; 65_536];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
        }
    }
}
