//! The face for programs, and the page for people: REST with its OpenAPI document, and the protocols that programs already speak.
//! Requests become those of the engine; its responses, events and errors become what each protocol calls them. No logic lives here.

mod admission;
mod api;
mod app;
mod audit;
mod compat;
mod forgetting;
mod guard;
mod idempotency;
mod jobs;
mod live;
mod metrics;
mod opened;
mod pace;
mod page;
mod problem;
mod reload;
mod responses;
mod routes;
mod serve;
mod streams;
mod watch;
mod wrong;

pub use crate::jobs::JobOffer;
pub use crate::reload::Reloader;
pub use crate::routes::openapi;
pub use crate::serve::{ServeError, Serving, serve, speak_mcp};
