//! Runs the program as a server, and sends it requests.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Place;

/// The longest time that a request may take, even on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// The file in the user's own folder to which a server logs.
pub(crate) const LOG: &str = "server.log";

/// A server on a free port; it is killed when it is dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) address: String,
    _stdout: BufReader<ChildStdout>,
}

/// The reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The data of each event of a stream, with its name.
    pub(crate) fn events(&self) -> Vec<(String, String)> {
        let blocks = self.text.split("\n\n").filter(|block| block.contains("data:"));
        let field = |block: &str, name: &str| {
            // A line of an event stream may end with CR alone.
            let found = block.split(['\n', '\r']).find_map(|line| line.strip_prefix(name));
            found.unwrap_or_default().trim_start().to_owned()
        };
        blocks.map(|block| (field(block, "event:"), field(block, "data:"))).collect()
    }
}

impl Place {
    /// Starts the program as a server with these further arguments.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Serving {
        let all = [&["--base", "base", "serve", "--port", "0"], arguments].concat();
        self.serve_by(self.command(&all))
    }

    /// Starts a server by this command; its log goes to `LOG` in the user's own folder.
    pub(crate) fn serve_by(&self, mut command: Command) -> Serving {
        let log = std::fs::File::create(self.own_path(LOG)).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address =
            line.strip_prefix("listening on http://").and_then(|rest| rest.split_once(';'));
        let Some((address, _)) = address else {
            let _ = child.kill();
            panic!("it does not listen: {line:?}");
        };
        Serving { address: address.to_owned(), child, _stdout: stdout }
    }

    /// Makes a key with these arguments.
    pub(crate) fn key(&self, name: &str, arguments: &[&str]) -> String {
        let all = [&["--json", "keys", "make", name], arguments].concat();
        self.run_to(0, &all).json()["key"].as_str().unwrap().to_owned()
    }
}

impl Serving {
    /// Sends a request without waiting for the reply.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let _ = write!(head, "Host: {}\r\n", self.address);
        }
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses a body need not read it.
        let _ = stream.write_all(body);
        stream
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        read(self.send(method, path, headers, body))
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> Reply {
        self.request("GET", path, &[("Authorization", &format!("Bearer {key}"))], b"")
    }

    pub(crate) fn post(&self, path: &str, key: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        self.request("POST", path, &headers, body.to_string().as_bytes())
    }

    /// Sends a message of the Model Context Protocol.
    pub(crate) fn mcp(&self, key: &str, method: &str, params: &Value) -> Reply {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let bearer = format!("Bearer {key}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        self.request("POST", "/mcp", &headers, message.to_string().as_bytes())
    }

    /// Gets the JSON of `path` again and again until `is_so` holds for it.
    pub(crate) fn wait_until(
        &self,
        path: &str,
        key: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let began = Instant::now();
        loop {
            let body = self.get(path, key).json();
            if is_so(&body) {
                return body;
            }
            assert!(began.elapsed() < DEADLINE, "{path}: {body}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(id, signal).unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the reply until the server closes the connection.
pub(crate) fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A server that has refused a body may reset the connection after its reply.
    let _ = stream.read_to_end(&mut bytes);
    let _ = stream.shutdown(Shutdown::Both);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a reply");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head[9..12].parse().unwrap();
    let body = &bytes[end + 4..];
    let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_vec(),
    };
    Reply { status, head, text: String::from_utf8_lossy(&body).into_owned() }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).ok();
        let Some(size) = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()) else {
            break;
        };
        let from = end + 2;
        let to = (from + size).min(body.len());
        whole.extend_from_slice(&body[from..to]);
        if size == 0 || body.len() < to + 2 {
            break;
        }
        body = &body[to + 2..];
    }
    whole
}
