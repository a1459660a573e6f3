//! The graph: what stands around a node, as much as can be looked at, and all of it; each as far as the caller may see it.
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

/// Edges away that the graph is shown, at most.
const DEPTH: u8 = 3;
/// Nodes that are shown, where nobody says how many.
const NODES: usize = 300;
/// Bytes of an export that are sent at a time, and how many such pieces may wait.
const PIECE: usize = 1 << 16;
const PIECES: usize = 4;
/// How long an export waits for others to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Around which node.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Around {
    /// An identifier, a document's path or title, the name of an entity.
    of: String,
    /// How many edges away: 1 to 3; 1, if none is named.
    depth: Option<u8>,
    /// Nodes at most: 1 to 500; 300, if none is named.
    most: Option<usize>,
}

/// A node of the graph with what stands around it; of a large base too, only that is read.
#[utoipa::path(get, path = "/api/v1/bases/{base}/graph", tag = "look", params(("base" = String, Path), Around),
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

/// How much of the graph.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Overviewed {
    /// Nodes at most: 1 to 500; 300, if none is named.
    most: Option<usize>,
}

/// As much of the graph as can be looked at: documents with most to do with others, what they hold, what was made of that. The
/// whole graph is read for it, which takes seconds where it has a million nodes.
#[utoipa::path(get, path = "/api/v1/bases/{base}/graph/overview", tag = "look", params(("base" = String, Path), Overviewed),
    responses((status = 200, body = GraphOverview), (status = 404, body = Problem)))]
pub(crate) async fn overview(
    Seen(session): Seen,
    Query(Overviewed { most }): Query<Overviewed>,
) -> Result<Json<GraphOverview>, Problem> {
    Ok(Json(pikerag_engine::graph_overview(&session, most.unwrap_or(NODES)).await?))
}

/// The whole graph as JSON lines, sent as it is read; it breaks off where the base cannot be read to its end.
#[utoipa::path(get, path = "/api/v1/bases/{base}/export", tag = "look", params(("base" = String, Path)),
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
            warn!(%error, "an export broke off");
            let _ = sender.blocking_send(Err(io::Error::other(error)));
        }
    };
    tokio::spawn(async move {
        if let Err(error) = place.run(write).await {
            warn!(%error, "an export was not begun");
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

/// Where an export is written to: whoever reads it takes piece by piece, and the writer waits, until the connection ends
/// because its reader takes nothing (see [`crate::pace`]).
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
