//! Defines the protocol between the parser's child and the main process. The child receives the
//! file, may request help of programs that it must not start itself, and ends with its result.
//!
//! To the child: a length (u64, little endian) and the file; then for each request `+` or `-`, a
//! length, and the result or the reason of the failure. From the child: `p` (recognise a picture),
//! `d` (convert a document) or `f` (take a file that was unpacked or drawn), a length, and bytes;
//! finally `s`, and JSON to the end.

use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

use pikerag_knowledge::Image;
use pikerag_parse::{ExternalTools, RecognizedWord, Unavailable};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::ocr;

/// The most pixels of a picture: more than a page at 600 dots per inch has.
const MOST_PIXELS: u64 = 40_000_000;
/// The fewest pixels on a side of a picture that can show a word.
const LEAST_SIDE: u32 = 8;
/// The most bytes of one request or reply.
const MOST: u64 = 64 << 20;
/// The most bytes of a file that is handed over, with its name.
const MOST_OF_FILE: u64 = 129 << 20;

/// The child's end of both pipes, through which the parser requests help.
pub(super) struct ChildConnection<R, W>(Mutex<(R, W)>);

impl<R: Read + Send, W: Write + Send> ChildConnection<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self(Mutex::new((input, output)))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// The pipe broke, or memory is too small (kind `OutOfMemory`).
    pub(super) fn receive_file(&self) -> std::io::Result<Vec<u8>> {
        let mut pipes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read_part(&mut pipes.0)
    }

    /// Hands over the outcome: the last message.
    pub(super) fn finish(self, outcome: &impl serde::Serialize) -> std::io::Result<()> {
        let (_, output) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut output = std::io::BufWriter::new(output);
        output.write_all(b"s")?;
        serde_json::to_writer(&mut output, outcome)?;
        output.flush()
    }

    /// Hands a file over; `Err` has the reason if it was refused.
    pub(super) fn hand_over(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let taken = self.request(b'f', &[name.as_bytes(), b"\0", bytes]);
        taken.map(drop).map_err(|Unavailable(reason)| reason)
    }

    fn request(&self, tag: u8, parts: &[&[u8]]) -> Result<Vec<u8>, Unavailable> {
        let broken =
            |error: std::io::Error| Unavailable(format!("the request for help failed: {error}"));
        let length = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let most = most(tag);
        if most < length {
            return Err(Unavailable(format!("it is larger than {} MiB", most >> 20)));
        }
        let mut pipes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = &mut *pipes;
        let mut exchange = || -> std::io::Result<(u8, Vec<u8>)> {
            output.write_all(&[tag])?;
            output.write_all(&length.to_le_bytes())?;
            for part in parts {
                output.write_all(part)?;
            }
            output.flush()?;
            let mut answer = [0];
            input.read_exact(&mut answer)?;
            Ok((answer[0], read_part(input)?))
        };
        match exchange().map_err(broken)? {
            (b'+', bytes) => Ok(bytes),
            (_, reason) => Err(Unavailable(String::from_utf8_lossy(&reason).into_owned())),
        }
    }
}

fn most(tag: u8) -> u64 {
    if tag == b'f' { MOST_OF_FILE } else { MOST }
}

fn read_part(input: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

impl<R: Read + Send, W: Write + Send> ExternalTools for ChildConnection<R, W> {
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        if let Some((width, height)) = pikerag_parse::pixels(&image.bytes) {
            if MOST_PIXELS < u64::from(width) * u64::from(height) {
                let reason = format!(
                    "the picture has {width} × {height} pixels, too many to recognise words on: save it smaller"
                );
                return Err(Unavailable(reason));
            }
            if width < LEAST_SIDE || height < LEAST_SIDE {
                return Ok(Vec::new());
            }
        }
        let table = self.request(b'p', &[&image.bytes])?;
        Ok(ocr::words(&String::from_utf8_lossy(&table), scale))
    }

    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        self.request(b'd', &[from.as_bytes(), b"\0", bytes])
    }
}

/// The child's next request, or its end.
pub(super) enum ChildRequest {
    /// Recognise the words on this picture.
    Recognize(Vec<u8>),
    /// Convert this document from the format with this extension.
    Convert { from: String, bytes: Vec<u8> },
    /// Take this file.
    Take { name: String, bytes: Vec<u8> },
    /// The outcome follows, as JSON (see [`read_outcome`]).
    Finished,
    /// The child ended without an outcome or broke the protocol.
    Closed,
}

/// Reads the child's next request in the main process.
pub(super) async fn read_request(output: &mut (impl AsyncRead + Unpin)) -> ChildRequest {
    let Ok(tag) = output.read_u8().await else { return ChildRequest::Closed };
    if tag == b's' {
        return ChildRequest::Finished;
    }
    let Ok(length) = output.read_u64_le().await else { return ChildRequest::Closed };
    if most(tag) < length {
        return ChildRequest::Closed;
    }
    let mut bytes = Vec::new();
    match output.take(length).read_to_end(&mut bytes).await {
        Ok(_) if bytes.len() as u64 == length => {}
        _ => return ChildRequest::Closed,
    }
    match tag {
        b'p' => ChildRequest::Recognize(bytes),
        b'd' | b'f' => {
            let Some(end) = bytes.iter().position(|byte| *byte == 0) else {
                return ChildRequest::Closed;
            };
            let name: Vec<u8> = bytes.drain(..=end).take(end).collect();
            let name = String::from_utf8_lossy(&name).into_owned();
            match tag {
                b'd' => ChildRequest::Convert { from: name, bytes },
                _ => ChildRequest::Take { name, bytes },
            }
        }
        _ => ChildRequest::Closed,
    }
}

/// The reason why there is no outcome.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoOutcome {
    /// It has more bytes than the limit.
    TooMuch,
    /// It ends too early or is not an outcome.
    Broken,
}

/// Reads the outcome, of at most `most` bytes, as it arrives. Its JSON is never in memory as a
/// whole.
pub(super) async fn read_outcome<T: DeserializeOwned + Send + 'static>(
    output: &mut (impl AsyncRead + Unpin),
    most: u64,
) -> Result<T, NoOutcome> {
    let (pieces, received) = mpsc::channel(PIECES);
    let reading = tokio::task::spawn_blocking(move || {
        let pieces = Pieces { received, piece: Vec::new(), at: 0 };
        serde_json::from_reader(std::io::BufReader::new(pieces))
    });
    let mut bytes = 0;
    let mut is_too_much = false;
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        match output.read_buf(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(read) => bytes += read as u64,
        }
        is_too_much = most < bytes;
        // If the receiver has ended, the JSON was not an outcome; that is reported below.
        if is_too_much || pieces.send(piece).await.is_err() {
            break;
        }
    }
    drop(pieces);
    match reading.await {
        _ if is_too_much => Err(NoOutcome::TooMuch),
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(_)) | Err(_) => Err(NoOutcome::Broken),
    }
}

/// The bytes of one piece of an outcome, and the most pieces in the queue.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;

/// The received pieces in order, for a blocking reader.
struct Pieces {
    received: mpsc::Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.piece.len() <= self.at {
            let Some(piece) = self.received.blocking_recv() else { return Ok(0) };
            (self.piece, self.at) = (piece, 0);
        }
        let read = Read::read(&mut self.piece.get(self.at..).unwrap_or_default(), into)?;
        self.at += read;
        Ok(read)
    }
}

/// Sends the child its file.
pub(super) async fn send_file(
    input: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> std::io::Result<()> {
    input.write_u64_le(bytes.len() as u64).await?;
    input.write_all(bytes).await?;
    input.flush().await
}

/// Answers the last request: with the program's output, or the reason of the failure.
pub(super) async fn write_reply(
    input: &mut (impl AsyncWrite + Unpin),
    outcome: Result<Vec<u8>, String>,
) -> std::io::Result<()> {
    let (tag, bytes) = match outcome {
        Ok(bytes) => (b'+', bytes),
        Err(reason) => (b'-', reason.into_bytes()),
    };
    input.write_u8(tag).await?;
    send_file(input, &bytes).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child requests help twice and ends; the main process serves it.
    #[tokio::test]
    async fn child_and_main_process_understand_each_other() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let child = std::thread::spawn(move || {
            let parent = ChildConnection::new(theirs.try_clone().unwrap(), theirs);
            let file = parent.receive_file().unwrap();
            let image = Image { media_type: "image/png".to_owned(), bytes: b"pixels".to_vec() };
            let seen = parent.recognize(&image, 1.0).unwrap();
            let refused = parent.convert(b"old", "doc").unwrap_err();
            let seen: Vec<_> = seen.into_iter().map(|word| word.text).collect();
            parent.finish(&(file, seen, refused.0)).unwrap();
        });
        ours.set_nonblocking(true).unwrap();
        let (mut output, mut input) = tokio::net::UnixStream::from_std(ours).unwrap().into_split();
        send_file(&mut input, b"abc").await.unwrap();
        let ChildRequest::Recognize(picture) = read_request(&mut output).await else { panic!() };
        assert_eq!(picture, b"pixels");
        let table = b"5\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96\tHello\n".to_vec();
        write_reply(&mut input, Ok(table)).await.unwrap();
        let ChildRequest::Convert { from, bytes } = read_request(&mut output).await else {
            panic!()
        };
        assert_eq!((from.as_str(), bytes.as_slice()), ("doc", b"old".as_slice()));
        write_reply(&mut input, Err("no LibreOffice".to_owned())).await.unwrap();
        assert!(matches!(read_request(&mut output).await, ChildRequest::Finished));
        let outcome: serde_json::Value = read_outcome(&mut output, 999).await.unwrap();
        assert_eq!(outcome.to_string(), r#"[[97,98,99],["Hello"],"no LibreOffice"]"#);
        child.join().unwrap();
        assert!(matches!(read_request(&mut output).await, ChildRequest::Closed));
    }

    #[tokio::test]
    async fn an_outcome_is_read_piece_by_piece_up_to_its_limit() {
        let long = vec!["many words".to_owned(); 50_000];
        let json = serde_json::to_vec(&long).unwrap();
        let read = async |json: &[u8], most: usize| {
            read_outcome::<Vec<String>>(&mut &json[..], most as u64).await
        };
        assert_eq!(read(&json, json.len()).await, Ok(long));
        assert_eq!(read(&json, json.len() - 1).await, Err(NoOutcome::TooMuch));
        assert_eq!(read(&json[..json.len() - 1], json.len()).await, Err(NoOutcome::Broken));
        assert_eq!(read(b"{}", 999).await, Err(NoOutcome::Broken));
    }
}
