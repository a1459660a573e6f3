//! Manages classes of tags, their tags, and synonym pairs.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::Json;
use axum::http::StatusCode;
use pikerag_engine::knowledge::TagPair;
use pikerag_engine::{TagClassRequest, TagClassResponse, TagClassesResponse};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::opened::{Seen, Whole};
use crate::problem::{JsonBody, Parts, Problem, Query};

/// The largest number of tags of a class that are listed.
const MOST: usize = 1000;

/// The classes of tags, with the number of tags in each and of passages that have one.
#[utoipa::path(get, path = "/api/v1/bases/{base}/tags", operation_id = "listTagClasses", tag = "tags", params(("base" = String, Path)),
    responses((status = 200, body = TagClassesResponse), (status = 404, body = Problem)))]
pub(crate) async fn classes(Seen(session): Seen) -> Result<Json<TagClassesResponse>, Problem> {
    Ok(Json(pikerag_engine::tag_classes(&session).await?))
}

/// A class with its most frequent tags.
#[utoipa::path(get, path = "/api/v1/bases/{base}/tags/{class}", operation_id = "getTagClass", tag = "tags",
    params(("base" = String, Path), ("class" = String, Path)),
    responses((status = 200, body = TagClassResponse), (status = 404, body = Problem)))]
pub(crate) async fn class(
    Seen(session): Seen,
    Parts((_, class)): Parts<(String, String)>,
) -> Result<Json<TagClassResponse>, Problem> {
    Ok(Json(pikerag_engine::tag_class(&session, &class, MOST).await?))
}

/// Declares a class, or replaces its declaration.
#[utoipa::path(put, path = "/api/v1/bases/{base}/tags/{class}", operation_id = "setTagClass", tag = "tags",
    params(("base" = String, Path), ("class" = String, Path)), request_body = TagClassRequest,
    responses((status = 204), (status = 400, body = Problem)))]
pub(crate) async fn declare(
    Whole(session): Whole,
    Parts((_, class)): Parts<(String, String)>,
    JsonBody(declared): JsonBody<TagClassRequest>,
) -> Result<StatusCode, Problem> {
    let declared = TagClassRequest { name: class, ..declared };
    pikerag_engine::add_tag_class(&session, &declared).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The new name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameBody {
    /// The name.
    name: String,
}

/// Renames a class. Its tags stay.
#[utoipa::path(patch, path = "/api/v1/bases/{base}/tags/{class}", operation_id = "renameTagClass", tag = "tags",
    params(("base" = String, Path), ("class" = String, Path)), request_body = NameBody,
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn rename(
    Whole(session): Whole,
    Parts((_, class)): Parts<(String, String)>,
    JsonBody(NameBody { name }): JsonBody<NameBody>,
) -> Result<StatusCode, Problem> {
    pikerag_engine::rename_tag_class(&session, &class, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a class with its tags permanently.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/tags/{class}", operation_id = "deleteTagClass", tag = "tags",
    params(("base" = String, Path), ("class" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn drop_class(
    Whole(session): Whole,
    Parts((_, class)): Parts<(String, String)>,
) -> Result<StatusCode, Problem> {
    pikerag_engine::drop_tag_class(&session, &class).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The pairs of a colloquial word and the documents' word.
#[utoipa::path(get, path = "/api/v1/bases/{base}/tag-pairs", operation_id = "listTagPairs", tag = "tags", params(("base" = String, Path)),
    responses((status = 200, body = Vec<TagPair>), (status = 404, body = Problem)))]
pub(crate) async fn pairs(Seen(session): Seen) -> Result<Json<Vec<TagPair>>, Problem> {
    Ok(Json(pikerag_engine::tag_pairs(&session).await?))
}

/// A colloquial word, and the word that the documents use for it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairBody {
    /// The reader's word.
    colloquial: String,
    /// The documents' word.
    professional: String,
    /// The class that it belongs to, if any.
    #[serde(default)]
    class: String,
}

/// Declares a pair.
#[utoipa::path(post, path = "/api/v1/bases/{base}/tag-pairs", operation_id = "addTagPair", tag = "tags", params(("base" = String, Path)),
    request_body = PairBody, responses((status = 204), (status = 400, body = Problem)))]
pub(crate) async fn declare_pair(
    Whole(session): Whole,
    JsonBody(PairBody { colloquial, professional, class }): JsonBody<PairBody>,
) -> Result<StatusCode, Problem> {
    pikerag_engine::add_tag_pair(&session, &colloquial, &professional, &class).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The pair to delete.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichPair {
    /// The reader's word.
    colloquial: String,
    /// The documents' word.
    professional: String,
}

/// Deletes a pair.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/tag-pairs", operation_id = "deleteTagPair", tag = "tags", params(("base" = String, Path), WhichPair),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn drop_pair(
    Whole(session): Whole,
    Query(WhichPair { colloquial, professional }): Query<WhichPair>,
) -> Result<StatusCode, Problem> {
    pikerag_engine::drop_tag_pair(&session, &colloquial, &professional).await?;
    Ok(StatusCode::NO_CONTENT)
}
