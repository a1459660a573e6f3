//! Who answers? The stub server beside the project, if it is there and can run.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A stub server; it ends when this is dropped.
pub(crate) struct Stub {
    child: Child,
    pub(crate) port: u16,
}

/// Where the stub and its workload lie.
pub(crate) fn tools() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/llm_stub")
}

impl Stub {
    /// Starts a stub on a free port; the reason, for a person, where that cannot be.
    pub(crate) fn start(latency_ms: u32) -> Result<Self, String> {
        let script = tools().join("stub_server.py");
        if !script.exists() {
            return Err("the stub server is not beside this project".to_owned());
        }
        let mut probe = Command::new("python3");
        probe.args(["-c", "import aiohttp"]).stderr(Stdio::null());
        if !probe.status().is_ok_and(|status| status.success()) {
            return Err("python3 with aiohttp is not here".to_owned());
        }
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let child = Command::new("python3")
            .arg(script)
            .args(["--port", &port.to_string(), "--latency-ms", &latency_ms.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stub = Self { child, port };
        for _ in 0..300 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(stub);
            }
            sleep(Duration::from_millis(100));
        }
        Err("the stub does not listen after 30 s".to_owned())
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        // Nothing is lost if it is gone already.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}
