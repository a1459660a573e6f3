//! Serves the graph: the surroundings of a node, an overview, or an export, each limited to what
//! the caller may see.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use std::io::{self, Write};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures::stream;
use pikerag_engine::{GraphAround, GraphAroundRequest, GraphOverview};
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};
use tracing::warn;
use utoipa::IntoParams;

use crate::app::App;
use crate::opened::Seen;
use crate::problem::{Fault, Problem, Query};

/// The largest distance in edges.
const DEPTH: u8 = 3;
/// The default number of nodes.
const NODES: usize = 300;
/// Bytes of one piece of an export, and the number of pieces that may wait.
const PIECE: usize = 1 << 16;
const PIECES: usize = 4;
/// How long an export waits for others to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The node, and how much of its surroundings to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Around {
    /// An identifier, a document's path or title, or the name of an entity.
    of: String,
    /// The distance in edges: 1 to 3; 1 by default.
    depth: Option<u8>,
    /// The largest number of nodes: 1 to 500; 300 by default.
    most: Option<usize>,
}

/// A node of the graph with its surroundings. Only these are read, even in a large base.
#[utoipa::path(get, path = "/api/v1/bases/{base}/graph", operation_id = "getGraphAround", tag = "look", params(("base" = String, Path), Around),
    responses((status = 200, body = GraphAround), (status = 404, body = Problem)))]
pub(crate) async fn around(
    State(app): State<App>,
    Seen(session): Seen,
    Query(Around { of, depth, most }): Query<Around>,
) -> Result<Json<GraphAround>, Problem> {
    app.within(&[&of], &[])?;
    let depth = depth.unwrap_or(1).clamp(1, DEPTH);
    let request = GraphAroundRequest { of, depth, most: most.unwrap_or(NODES) };
    Ok(Json(pikerag_engine::graph_around(&session, request).await?))
}

/// The size of an overview.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Overviewed {
    /// The largest number of nodes: 1 to 500; 300 by default.
    most: Option<usize>,
}

/// An overview of the graph: the documents with the most connections, what they contain, and what
/// was derived from that. It reads the whole graph, which takes seconds for a million nodes.
#[utoipa::path(get, path = "/api/v1/bases/{base}/graph/overview", operation_id = "getGraphOverview", tag = "look", params(("base" = String, Path), Overviewed),
    responses((status = 200, body = GraphOverview), (status = 404, body = Problem)))]
pub(crate) async fn overview(
    Seen(session): Seen,
    Query(Overviewed { most }): Query<Overviewed>,
) -> Result<Json<GraphOverview>, Problem> {
    Ok(Json(pikerag_engine::graph_overview(&session, most.unwrap_or(NODES)).await?))
}

/// The whole graph as JSON lines, sent while it is read. The stream is cut off if the base cannot
/// be read to the end.
#[utoipa::path(get, path = "/api/v1/bases/{base}/export", operation_id = "exportGraph", tag = "look", params(("base" = String, Path)),
    responses((status = 200, body = String, content_type = "application/x-ndjson"), (status = 404, body = Problem)))]
pub(crate) async fn export(Seen(session): Seen) -> Result<Response, Problem> {
    let place =
        tokio::time::timeout(PATIENCE, session.engine().export()).await.map_err(|_| {
            Problem::new(503, "too-busy", Fault::Server)
                .saying("other exports are under way")
                .hint("try again when they have ended")
        })??;
    let export = pikerag_engine::export(&session).await?;
    let (sender, pieces) = channel(PIECES);
    let failed = sender.clone();
    let write = move || {
        let mut writer = io::BufWriter::with_capacity(PIECE, Pieces(sender.clone()));
        let written = export.write(&mut writer);
        if let Err(error) = written
            && !sender.is_closed()
        {
            warn!(%error, "an export was cut off");
            let _ = sender.blocking_send(Err(io::Error::other(error)));
        }
    };
    tokio::spawn(async move {
        if let Err(error) = place.run(write).await {
            warn!(%error, "an export did not begin");
            let _ = failed.send(Err(io::Error::other(error))).await;
        }
    });
    let sent = stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((piece, pieces))
    });
    let mut response = Response::new(Body::from_stream(sent));
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// The writer's side of an export. The reader takes it piece by piece while the writer waits, until
/// the connection ends because its reader takes nothing (see [`crate::pace`]).
struct Pieces(Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Ok(Bytes::copy_from_slice(bytes));
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.blocking_send(piece).map_err(|_| gone())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
