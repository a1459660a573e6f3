//! Serves pikerag over HTTP: REST with its OpenAPI document, the protocols of other programs, and
//! the page. It translates requests, responses, events and errors between the engine and each
//! protocol. It holds no logic.

mod admission;
mod api;
mod app;
mod audit;
mod bounds;
mod compat;
mod document;
mod follow;
mod forgetting;
mod form;
mod guard;
mod idempotency;
mod jobs;
mod limits;
mod live;
mod metrics;
mod opened;
mod pace;
mod page;
mod problem;
mod pulls;
mod reload;
mod responses;
mod routes;
mod serve;
mod settings_file;
mod streams;
mod watch;
mod worker;
mod wrong;

pub use crate::jobs::JobOffer;
pub use crate::limits::{Limit, LimitSetting, limits};
pub use crate::reload::Reloader;
pub use crate::routes::openapi;
pub use crate::serve::{ServeError, Serving, serve, speak_mcp};
pub use crate::settings_file::SettingsFile;
pub use crate::worker::{WorkerEvent, WorkerParams, work};
