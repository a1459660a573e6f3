//! Does everything that pikerag does, behind typed requests and responses. An interface (the
//! command line, a server, a page) turns its arguments into a request and shows the response; it
//! contains no logic of the engine.
//!
//! Read [`settings::Settings`] once, [`open`] an [`Engine`] with them for the life of the process,
//! begin a [`Session`], and call a verb:
//!
//! ```no_run
//! # async fn f() -> Result<(), pikerag_engine::EngineError> {
//! use pikerag_engine::settings::{Environment, Flags, Settings};
//!
//! let settings = Settings::load(&Flags::default(), &Environment::read())?;
//! let engine = pikerag_engine::open(settings)?;
//! let request = pikerag_engine::AskRequest {
//!     question: "Who calibrates the sensor?".to_owned(),
//!     method: "kar3".to_owned(),
//!     ..Default::default()
//! };
//! let response = pikerag_engine::ask(&engine.session(), &request).await?;
//! println!("{}", response.result?.text);
//! # Ok(())
//! # }
//! ```
//!
//! Errors and [`Notice`]s carry facts; each interface adds advice that names flags or commands.
//! Only this crate reads the environment ([`settings`]) and starts processes ([`sandbox`]); it
//! never prints.

mod base;
mod change_error;
mod chart;
mod corrected;
mod costs;
mod databases;
mod descriptors;
mod engine;
mod error;
mod files;
mod globs;
mod graph;
mod in_use;
pub mod keys;
mod limits;
mod local_error;
mod local_models;
mod made_bases;
mod names;
mod notice;
mod paces;
mod presence;
mod random;
mod raw_names;
pub mod sandbox;
pub mod settings;
mod shared_responses;
mod state_file;
mod upload_reader;
pub mod uploads;
mod verbs;
mod words;

pub use pikerag_knowledge as knowledge;
pub use pikerag_narrate as narrate;

/// Types of our other crates that occur in responses and errors.
pub mod parts {
    pub use pikerag_eval::EvalError;
    pub use pikerag_eval::cost_model::{Bill, Expected};
    pub use pikerag_eval::presets::Preset;
    pub use pikerag_eval::recall::{Line as RecallLine, table as recall_table};
    pub use pikerag_eval::report::{Report as EvalReport, text as eval_text};
    pub use pikerag_indexing::estimate::Estimate;
    pub use pikerag_indexing::{
        DatabaseFault, FileError, Learned, MissingPart, Outcome, Repeat, Report as IndexReport,
        mark_in_words,
    };
    pub use pikerag_knowledge::Spent;
    pub use pikerag_methods::pike::Classifier;
    pub use pikerag_methods::spec::{
        Cost as MethodCost, Described, Description, Range, WithoutModel,
    };
    pub use pikerag_methods::{
        FillSchema, Filled, NotFilled, ReplacedDocument, SolveError, Speaker, Turn, UnusableSchema,
    };
    pub use pikerag_models::open_models::catalogue::find as find_open_model;
    pub use pikerag_models::open_models::{FetchError, Fetched, FoundServer, OpenModel, Source};
    pub use pikerag_models::{DraftText, OpenCalls, Secret, withheld_keys};
    pub use pikerag_parse::{
        Evidence, Format, FormatWords, PagePicture, ParseError, Parsed, RefusedWords, Tool,
    };
    pub use pikerag_postgres::{
        BegunResponse, RESPONSE_LEASE, RequestName, ResponsesInPostgres, ServerProblem,
        StoredResponse,
    };
    pub use pikerag_retrieve::{RetrieveError, Search, SimilarityBy};
    pub use pikerag_sources::DatabaseUrl;
    pub use pikerag_store::{
        BaseProblem, CheckFact, Copied, Finding, Health, Originals, PageCaches, Part, Remains,
        StoreLimits,
    };
    pub use pikerag_train::agree::{Agreement, Share as AgreementShare};
    pub use pikerag_train::card::Card as TrainCard;
    pub use pikerag_train::formats::Format as TrainFormat;
    pub use pikerag_train::label::{LabelCounts, LabelParams, Module as TrainModule};
    pub use pikerag_train::runs::Unused as TrainUnused;
    pub use pikerag_train::split::{Apart as TrainApart, Part as TrainPart};
    pub use pikerag_train::ucb::Pool as TrainPool;
    pub use pikerag_train::{
        Empty as TrainEmpty, Params as TrainParams, Right as TrainRight, Split as TrainSplit,
        TrainError,
    };
}

pub use pikerag_language::{estimate_tokens, format_number};

pub use crate::base::shown_base;
pub use crate::change_error::ChangeModelError;
pub use crate::chart::{NoChart, svg_chart};
pub use crate::descriptors::{hold_at_most, raise_descriptors};
pub use crate::engine::{Cost, CostPart, Engine, Grant, LongRead, Session, open};
pub use crate::error::{
    EndpointOf, EngineError, FeedbackError, Missing, Needed, NoWords, QuestionFile, Result,
    WeightsOf,
};
pub use crate::files::{CostlyFile, OmittedFiles, OmittedKind};
pub use crate::globs::{BadGlob, FileGlob};
pub use crate::graph::{TreeEdge, TreeEnd, TreeLine, called};
pub use crate::limits::EngineLimits;
pub use crate::local_error::LocalModelError;
pub use crate::local_models::RunningServer;
pub use crate::made_bases::{LockedBases, MadeBases, begin_base};
pub use crate::notice::{Notice, Unmet};
pub use crate::presence::UnclearReason;
pub use crate::shared_responses::shared_responses;
pub use crate::verbs::*;
pub use crate::words::{chinese_chain, chinese_check, chinese_reason, remedy};
