//! Defines the faults of a model server and when they happen.

use std::io::Result;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Request, Response};
use super::kind::Kind;

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// HTTP 429.
    Busy,
    /// HTTP 500.
    Broken,
    /// HTTP 400 from a content filter that quotes the end of the request.
    Refused,
    /// HTTP 401 with the credentials of the request in its message, as some servers send.
    Unauthorized,
    /// No reply for [`Faults::hang`], then the connection ends.
    Hang,
    /// The reply comes after [`Faults::hang`].
    Slow,
    /// The connection ends without a reply.
    Dropped,
    /// The connection ends within the reply.
    Cut,
    /// HTTP 200 with a gateway's HTML page.
    Html,
    /// HTTP 200 with an empty body.
    Nothing,
    /// HTTP 200 with half of the JSON.
    HalfJson,
    /// A reply in another form than the prompt requests. Chat only.
    Malformed(Malformed),
    /// A malformed reply of any kind. Chat only.
    AnyMalformed,
    /// One vector fewer than texts. Vectors only.
    MissingVector,
    /// Vectors in another order with their correct indices, which is valid. Vectors only.
    ReorderedVectors,
    /// Zero vectors. Vectors only.
    ZeroVectors,
    /// One score fewer than documents. Reranking only, as the following ones.
    MissingScore,
    /// Two scores for one document.
    DoubleScore,
    /// A score for a document that was not sent.
    ForeignScore,
    /// `null` for a score.
    NoScore,
}

/// The malformation of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The reply is cut off.
    Truncated,
    /// Prose instead of JSON.
    Prose,
    /// Values of other types.
    WrongTypes,
    /// An empty reply.
    Empty,
    /// JSON within a code fence, with words around it.
    Fenced,
    /// A trailing comma.
    TrailingComma,
    /// `null` as content.
    Null,
}

impl Malformed {
    const ALL: [Self; 7] = [
        Self::Truncated,
        Self::Prose,
        Self::WrongTypes,
        Self::Empty,
        Self::Fenced,
        Self::TrailingComma,
        Self::Null,
    ];
}

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// In this share of the attempts of each request, drawn per attempt.
    Share(f64),
    /// At the first attempt of each request.
    FirstTime,
    /// At every attempt.
    Always,
}

/// The faults and when they happen; the same in each run, at any concurrency.
#[derive(Clone, Debug)]
pub struct Faults {
    /// The first matching rule decides.
    pub rules: Vec<(Fault, When)>,
    /// `Retry-After` of [`Fault::Busy`], in seconds; `None` sends no such header.
    pub retry_after: Option<u32>,
    /// How long [`Fault::Hang`] and [`Fault::Slow`] take.
    pub hang: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self { rules: Vec::new(), retry_after: Some(0), hang: Duration::from_mins(2) }
    }
}

impl From<Vec<(Fault, When)>> for Faults {
    fn from(rules: Vec<(Fault, When)>) -> Self {
        Self { rules, ..Self::default() }
    }
}

impl Faults {
    /// The fault of a request at its `nth` attempt, from 0.
    pub(super) fn draw(&self, key: &blake3::Hash, nth: u64, kind: Kind) -> Drawn {
        let drawn = blake3::hash(&[key.as_bytes().as_slice(), &nth.to_le_bytes()].concat());
        let number =
            |at: usize| u32::from_le_bytes(std::array::from_fn(|i| drawn.as_bytes()[at + i]));
        let mut share = f64::from(number(0)) / f64::from(u32::MAX);
        for (fault, when) in &self.rules {
            if !fault.concerns(kind) {
                continue;
            }
            let holds = match when {
                When::Share(part) => {
                    let holds = share < *part;
                    share -= part;
                    holds
                }
                When::FirstTime => nth == 0,
                When::Always => true,
            };
            if holds {
                let fault = match fault {
                    Fault::AnyMalformed => {
                        Fault::Malformed(Malformed::ALL[number(4) as usize % Malformed::ALL.len()])
                    }
                    fault => *fault,
                };
                return Drawn(Some(fault));
            }
        }
        Drawn(None)
    }
}

impl Fault {
    /// Whether it concerns only requests for vectors.
    #[must_use]
    pub fn is_of_vectors(self) -> bool {
        matches!(self, Self::MissingVector | Self::ReorderedVectors | Self::ZeroVectors)
    }

    fn concerns(self, kind: Kind) -> bool {
        match self {
            Self::Malformed(_) | Self::AnyMalformed => kind == Kind::Chat,
            Self::MissingScore | Self::DoubleScore | Self::ForeignScore | Self::NoScore => {
                kind == Kind::Order
            }
            other => kind == Kind::Vectors || !other.is_of_vectors(),
        }
    }
}

/// The fault that was drawn for a request.
#[derive(Clone, Copy)]
pub(super) struct Drawn(pub(super) Option<Fault>);

impl Drawn {
    pub(super) fn name(self) -> Option<String> {
        self.0.map(|fault| format!("{fault:?}"))
    }

    /// Whether the reply is sent as it is, at once.
    pub(super) fn is_delivered(self) -> bool {
        matches!(self.0, None | Some(Fault::Malformed(_)))
    }

    /// Whether the client gets a readable reply, and pays for it.
    pub(super) fn is_answered(self) -> bool {
        matches!(
            self.0,
            None | Some(
                Fault::Slow | Fault::Malformed(_) | Fault::AnyMalformed | Fault::ReorderedVectors
            )
        )
    }

    /// The text of a chat reply.
    pub(super) fn content(self, text: String) -> Option<String> {
        let Some(Fault::Malformed(how)) = self.0 else { return Some(text) };
        Some(match how {
            Malformed::Truncated => text.chars().take(text.chars().count() * 2 / 3).collect(),
            Malformed::Prose => "I cannot put it like that. {here is some text}".to_owned(),
            Malformed::WrongTypes => other_types(&text),
            Malformed::Empty => String::new(),
            Malformed::Fenced => format!("Of course:\n```json\n{text}\n```\nIs that all?"),
            Malformed::TrailingComma => match text.char_indices().next_back() {
                Some((last, end @ ('}' | ']'))) => format!("{},{end}", text.get(..last)?),
                _ => text,
            },
            Malformed::Null => return None,
        })
    }

    pub(super) fn vector(self, vector: Vec<f32>) -> Vec<f32> {
        match self.0 {
            Some(Fault::ZeroVectors) => vec![0.0; vector.len()],
            _ => vector,
        }
    }

    pub(super) fn list(self, data: &mut Vec<Value>) {
        match self.0 {
            Some(Fault::MissingVector) => drop(data.pop()),
            Some(Fault::ReorderedVectors) => data.reverse(),
            _ => {}
        }
    }

    pub(super) fn scores(self, results: &mut Vec<Value>) {
        let Some(first) = results.first_mut() else { return };
        match self.0 {
            Some(Fault::MissingScore) => drop(results.pop()),
            Some(Fault::DoubleScore) => {
                let first = first.clone();
                results.push(first);
            }
            Some(Fault::ForeignScore) => first["index"] = 1_000_000.into(),
            Some(Fault::NoScore) => first["relevance_score"] = Value::Null,
            _ => {}
        }
    }

    /// Sends the reply, or not. Returns whether the connection stays open.
    pub(super) fn write(
        self,
        faults: &Faults,
        request: &Request,
        reply: &Value,
        writer: &mut TcpStream,
    ) -> Result<bool> {
        let whole = Response::json(200, reply);
        let error = |message: &str| json!({"error": {"message": message, "type": "on_purpose"}});
        match self.0 {
            Some(Fault::Busy) => {
                let mut busy = Response::json(429, &error("Too many requests."));
                if let Some(seconds) = faults.retry_after {
                    busy.head += &format!("Retry-After: {seconds}\r\n");
                }
                busy.write(writer)
            }
            Some(Fault::Broken) => Response::json(500, &error("Broken.")).write(writer),
            Some(Fault::Refused) => {
                let body = String::from_utf8_lossy(&request.body);
                let from = body.char_indices().rev().nth(400).map_or(0, |(at, _)| at);
                let message = format!("The content filter said no: {}", &body[from..]);
                Response::json(400, &error(&message)).write(writer)
            }
            Some(Fault::Unauthorized) => {
                let sent = request.header("authorization").unwrap_or_default();
                let message = format!("Incorrect API key provided: {sent}");
                Response::json(401, &error(&message)).write(writer)
            }
            Some(Fault::Hang) => {
                sleep(faults.hang);
                Ok(false)
            }
            Some(Fault::Slow) => {
                sleep(faults.hang);
                whole.write(writer)
            }
            Some(Fault::Dropped) => Ok(false),
            Some(Fault::Cut) => whole.cut(writer),
            Some(Fault::Html) => {
                let head = "Content-Type: text/html\r\n".to_owned();
                let body = b"<html><body>Gateway</body></html>".to_vec();
                Response { status: 200, head, body }.write(writer)
            }
            Some(Fault::Nothing) => Response { body: Vec::new(), ..whole }.write(writer),
            Some(Fault::HalfJson) => {
                let half = whole.body.get(..whole.body.len() / 2).unwrap_or_default().to_vec();
                Response { body: half, ..whole }.write(writer)
            }
            _ => whole.write(writer),
        }
    }
}

/// Changes the types: numbers to text, lists to text, text to objects.
fn other_types(text: &str) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(text) else {
        return format!("1. {text}");
    };
    for value in object.values_mut() {
        *value = match value.take() {
            Value::Number(number) => number.to_string().into(),
            Value::Array(list) => {
                let plain =
                    |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
                let words: Vec<String> = list.iter().map(plain).collect();
                words.join("; ").into()
            }
            Value::String(text) => json!({ "text": text }),
            other => other,
        };
    }
    Value::Object(object).to_string()
}
