//! Lists the routes in one table, with the scope and the OpenAPI description of each.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use pikerag_engine::keys::Scope;
use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, InfoBuilder, OpenApi, PathItem};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{
    ask, bases, budget, chosen_models, configured, counters, files, forms, graph, health, jobs,
    keys, look, made_bases, models, passages, reading, runs, search, search_models, sent, tables,
    tags, texts,
};
use crate::app::App;
use crate::compat::errors::reshaped;
use crate::compat::{dify, mcp, ollama, openai, rerank, responses_api, schemas, vectors};
use crate::document::complete;
use crate::guard::{busy, guard, hardened};
use crate::idempotency::once;
use crate::page;
use crate::problem::{Fault, Problem};

/// The field of the document for a route's scope; absent if no key is needed.
const SCOPE: &str = "x-scope";

/// The routes by scope; `None` if no key is needed.
#[expect(clippy::too_many_lines, reason = "a line for each route")]
fn groups() -> Vec<(Option<Scope>, OpenApiRouter<App>)> {
    let open = OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(ollama::models::version));
    let read = OpenApiRouter::new()
        .routes(routes!(bases::bases))
        .routes(routes!(bases::status))
        .routes(routes!(bases::methods))
        .routes(routes!(search::search))
        .routes(routes!(ask::ask))
        .routes(routes!(runs::runs))
        .routes(routes!(runs::run))
        .routes(routes!(runs::replay))
        .routes(routes!(runs::fork))
        .routes(routes!(runs::diff))
        .routes(routes!(look::sources))
        .routes(routes!(look::source))
        .routes(routes!(look::chunk))
        .routes(routes!(look::page))
        .routes(routes!(reading::reading))
        .routes(routes!(look::original))
        .routes(routes!(look::files))
        .routes(routes!(look::records))
        .routes(routes!(tables::tables))
        .routes(routes!(tables::sql))
        .routes(routes!(graph::around))
        .routes(routes!(graph::overview))
        .routes(routes!(configured::forecast))
        .routes(routes!(configured::evaluations))
        .routes(routes!(configured::evaluation))
        .routes(routes!(look::verified))
        .routes(routes!(tags::classes))
        .routes(routes!(tags::class))
        .routes(routes!(tags::pairs))
        .routes(routes!(budget::budget))
        .routes(routes!(passages::passage))
        .routes(routes!(openai::chat))
        .routes(routes!(openai::models))
        .routes(routes!(ollama::models::tags))
        .routes(routes!(ollama::models::ps))
        .routes(routes!(ollama::answers::chat))
        .routes(routes!(dify::retrieval))
        .routes(routes!(vectors::embeddings))
        .routes(routes!(rerank::rerank))
        .routes(routes!(counters::metrics))
        .routes(routes!(openai::model))
        .routes(routes!(ollama::models::show))
        .routes(routes!(ollama::models::pull))
        .routes(routes!(ollama::models::create))
        .routes(routes!(ollama::models::copy))
        .routes(routes!(ollama::models::delete))
        .routes(routes!(ollama::models::push))
        .routes(routes!(ollama::models::blob))
        .routes(routes!(ollama::answers::generate))
        .routes(routes!(ollama::vectors::embed))
        .routes(routes!(ollama::vectors::embeddings))
        .routes(routes!(rerank::rerank_v1))
        .routes(routes!(rerank::rerank_v2))
        .routes(routes!(responses_api::create))
        .routes(routes!(responses_api::retrieve))
        .routes(routes!(responses_api::delete))
        .routes(routes!(responses_api::cancel))
        .routes(routes!(responses_api::input_items));
    let write = OpenApiRouter::new()
        .routes(routes!(files::upload))
        .routes(routes!(sent::uploaded))
        .routes(routes!(sent::parts))
        .routes(routes!(sent::sent))
        .routes(routes!(sent::discard))
        .routes(routes!(files::index))
        .routes(routes!(files::estimate))
        .routes(routes!(jobs::jobs))
        .routes(routes!(jobs::job))
        .routes(routes!(jobs::begin))
        .routes(routes!(jobs::begin_remaining))
        .routes(routes!(files::delete))
        .routes(routes!(files::deletion))
        .routes(routes!(reading::correct))
        .routes(routes!(reading::take_back))
        .routes(routes!(tags::declare))
        .routes(routes!(tags::rename))
        .routes(routes!(tags::drop_class))
        .routes(routes!(tags::declare_pair))
        .routes(routes!(tags::drop_pair))
        .routes(routes!(look::feedback))
        .routes(routes!(look::revoke))
        .routes(routes!(texts::insert))
        .routes(routes!(reading::edit))
        .routes(routes!(forms::upload));
    let admin = OpenApiRouter::new()
        .routes(routes!(graph::export))
        .routes(routes!(configured::settings))
        .routes(routes!(configured::doctor))
        .routes(routes!(keys::keys))
        .routes(routes!(keys::make))
        .routes(routes!(keys::revoke))
        .routes(routes!(keys::rotate))
        .routes(routes!(models::models))
        .routes(routes!(chosen_models::test))
        .routes(routes!(chosen_models::set))
        .routes(routes!(chosen_models::unset))
        .routes(routes!(search_models::test))
        .routes(routes!(search_models::set))
        .routes(routes!(search_models::unset))
        .routes(routes!(models::remove))
        .routes(routes!(models::pull))
        .routes(routes!(models::pulled))
        .routes(routes!(models::stop))
        .routes(routes!(made_bases::make))
        .routes(routes!(made_bases::rename))
        .routes(routes!(made_bases::delete));
    vec![
        (None, open),
        (Some(Scope::Read), read),
        (Some(Scope::Write), write),
        (Some(Scope::Admin), admin),
    ]
}

/// All routes behind their guards, and the document that describes them.
fn whole(app: Option<&App>) -> (Router<App>, OpenApi) {
    let mut all = Router::new();
    let mut document = OpenApi::default();
    for (scope, group) in groups() {
        let (mut routes, mut part) = group.split_for_parts();
        for item in part.paths.paths.values_mut() {
            mark(item, scope);
        }
        if let Some(app) = app {
            routes = routes
                .route_layer(from_fn_with_state(Arc::clone(app), once))
                .route_layer(from_fn_with_state((Arc::clone(app), scope), guard));
        }
        all = all.merge(routes);
        // axum writes `{*file}` for a path of several segments; OpenAPI has only `{file}`.
        let paths = std::mem::take(&mut part.paths.paths);
        part.paths.paths =
            paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
        document.merge(part);
    }
    describe(&mut document);
    (all, document)
}

/// The OpenAPI document, as JSON with its fields in a fixed order.
pub fn openapi() -> String {
    let mut document = serde_json::to_value(whole(None).1).unwrap_or_default();
    complete(&mut document);
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// The server as a service.
pub(crate) fn router(app: App) -> Router {
    let (routes, _) = whole(Some(&app));
    let document = openapi();
    let document = axum::routing::get(move || async move {
        ([(header::CONTENT_TYPE, "application/json")], document)
    });
    // Unknown routes are guarded like known ones: a caller without a key learns nothing about
    // either.
    let nowhere = Router::new()
        .fallback(nowhere)
        .layer(from_fn_with_state((Arc::clone(&app), Some(Scope::Read)), guard));
    let mcp = Router::new()
        .route_service("/mcp", mcp::over_http(Arc::clone(&app)))
        .route_layer(from_fn_with_state(mcp::Running::default(), mcp::cancellable))
        .route_layer(from_fn_with_state((Arc::clone(&app), Some(Scope::Read)), guard));
    let page = page::routes().route_layer(from_fn_with_state((Arc::clone(&app), None), guard));
    routes
        .merge(mcp)
        .merge(page)
        .route("/openapi.json", document)
        .fallback_service(nowhere.with_state(Arc::clone(&app)))
        .layer(from_fn(explained))
        .layer(DefaultBodyLimit::max(app.live().settings.body_bytes))
        .layer(from_fn_with_state(Arc::clone(&app), hardened))
        .layer(from_fn(busy(Arc::clone(&app))))
        // Outside all others, because each of them may refuse a request.
        .layer(from_fn(reshaped))
        .with_state(app)
}

async fn nowhere(uri: Uri) -> Problem {
    let hint = match uri.path() {
        "/v1/completions" => "completions of a prompt are not served: POST /v1/chat/completions",
        _ => "GET /openapi.json describes all routes",
    };
    Problem::new(404, "no-such-route", Fault::Caller).saying("this route does not exist").hint(hint)
}

/// Gives the refusal of a method a body. It also passes the guards of its route, which a fallback of
/// axum would not.
async fn explained(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let is_bare = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::METHOD_NOT_ALLOWED || !is_bare {
        return response;
    }
    let problem = Problem::new(405, "wrong-method", Fault::Caller)
        .saying("this route does not have this method")
        .hint("the header `Allow` lists its methods");
    let mut explained = problem.into_response();
    let allowed = response.headers().get(header::ALLOW).cloned();
    explained.headers_mut().extend(allowed.map(|allowed| (header::ALLOW, allowed)));
    explained
}

fn describe(document: &mut OpenApi) {
    document.info = InfoBuilder::new()
        .title("pikerag")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "An inspectable knowledge base, and answers over it with their reasoning, their sources and their bill. Errors of `/api/v1` are \
             `application/problem+json` with a stable `code`; those of other protocols have their formats; scores lie from 0 to 1; a key goes into `Authorization: Bearer`.",
        ))
        .build();
    document.servers = None;
    let components = document.components.get_or_insert_with(Components::new);
    components.schemas.extend(schemas::all());
    components.add_security_scheme("key", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
}

/// Adds the scope of a route to the document.
fn mark(item: &mut PathItem, scope: Option<Scope>) {
    let Some(scope) = scope else { return };
    let operations: [&mut Option<Operation>; 5] =
        [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
    for operation in operations.into_iter().flatten() {
        let added = ExtensionsBuilder::new().add(SCOPE, json!(scope.as_str())).build();
        operation.extensions.get_or_insert_default().merge(added);
        let none: [&str; 0] = [];
        operation.security = Some(vec![SecurityRequirement::new("key", none)]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::openapi;

    /// Each operation of the document, with its method and path.
    fn operations() -> Vec<(String, Value)> {
        let document: Value = serde_json::from_str(&openapi()).unwrap();
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                operations.push((format!("{method} {path}"), operation.clone()));
            }
        }
        assert!(60 < operations.len());
        operations
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for (route, operation) in operations() {
            let name = operation["operationId"].as_str().unwrap_or_default().to_owned();
            let is_camel_case = name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_alphanumeric());
            assert!(is_camel_case, "{route}: `{name}`: set `operation_id` to a name as `listRuns`");
            assert!(names.insert(name.clone()), "{route}: another route has the name `{name}`");
        }
    }

    #[test]
    fn every_response_is_described_and_errors_have_a_schema() {
        for (route, operation) in operations() {
            let responses = operation["responses"].as_object().unwrap();
            for (status, response) in responses {
                let text = response["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty() && !text.contains('\n'), "{route} {status}: {text:?}");
                let mut contents = response["content"].as_object().into_iter().flatten();
                let is_described = |media: &Value| {
                    media["schema"].as_object().is_some_and(|schema| !schema.is_empty())
                };
                let is_error = status.starts_with(['4', '5']);
                assert!(!is_error || response["content"].is_object(), "{route} {status}");
                assert!(contents.all(|(_, media)| is_described(media)), "{route} {status}");
            }
            if !operation["x-scope"].is_null() {
                let general = ["401", "403", "429", "503"];
                assert!(general.iter().all(|status| responses.contains_key(*status)), "{route}");
            }
        }
    }

    #[test]
    fn bodies_of_bytes_are_binary() {
        let mut n_binary = 0;
        for (route, operation) in operations() {
            let replies = operation["responses"].as_object().unwrap().values();
            let bodies = replies.chain([&operation["requestBody"]]);
            let contents = bodies.filter_map(|body| body["content"].as_object());
            for (kind, media) in contents.flatten() {
                let schema = &media["schema"];
                let is_json = kind == "application/json";
                assert!(is_json || schema["type"] != "array", "{route} {kind}: {schema}");
                n_binary += usize::from(schema["format"] == "binary");
            }
        }
        assert!(3 <= n_binary, "upload, original and page: {n_binary}");
    }
}
