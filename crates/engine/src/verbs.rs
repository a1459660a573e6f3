//! Defines the verbs: a module for each, with its request, its response, and its functions over a
//! [`Session`](crate::Session).

pub(crate) mod ask;
mod backup;
mod check;
mod classify;
mod configured;
mod delete;
mod doctor;
mod end_models;
mod estimate;
mod eval;
mod evaluations;
mod export;
mod feedback;
mod files;
mod fill;
mod forecast;
mod formats;
mod graph;
#[cfg(test)]
mod home;
mod index;
mod init;
mod jobs;
mod lost;
mod methods;
mod migrate;
mod models;
mod money;
mod original;
mod page;
mod parse;
mod progress;
mod read;
mod reading;
mod records;
mod runs;
mod search;
mod sent;
mod set_chat;
mod set_search_model;
mod small_call;
mod status;
mod tables;
mod tags;
mod train;
mod try_chat;
mod try_search_model;
mod unpack;
mod uploads;
mod vectors;

pub use self::ask::{AskRequest, AskResponse, TracedAnswer, ask, standalone};
pub use self::backup::{BackupResponse, backup, restore};
pub use self::check::{CheckRequest, CheckResponse, check, ready};
pub use self::classify::{ClassifiedQuestion, ClassifyRequest, ClassifyResponse, classify};
pub use self::configured::{ConfiguredCap, ConfiguredModel, ConfiguredResponse, configured};
pub use self::delete::{
    DeletePreview, DeleteRequest, DeleteResponse, delete, delete_preview, finish_forgetting,
};
pub use self::doctor::{DoctorCheck, DoctorFinding, Offer, doctor};
pub use self::end_models::{RemoveResponse, StopResponse, remove_model, stop_models};
pub use self::estimate::{EstimateRequest, EstimateResponse, estimate};
pub use self::eval::{
    DryRunResponse, EvalRequest, EvalResponse, Forecast, IndexingForecast, SearchesResponse, eval,
    eval_dry_run, eval_searches, presets,
};
pub use self::evaluations::{EvaluationLine, EvaluationResponse, evaluation, evaluations};
pub use self::export::{Export, export};
pub use self::feedback::{
    AnswerPair, FeedbackRequest, FeedbackResponse, ImportResponse, LabelsRequest, LabelsResponse,
    Verdict, answer_pairs, export_verified, feedback, import_verified, judge_by_labels,
    revoke_verified, stale_verified, verified,
};
pub use self::files::{FileLine, FilesResponse, NamedFile, OnDisk, files, find_files, named_files};
pub use self::fill::{FillRequest, can_fill, fill};
pub use self::forecast::{ForecastUsd, QuestionForecast, forecast};
pub use self::formats::{FormatFacts, FormatLine, FormatsResponse, RefusedLine, ToolLine, formats};
pub use self::graph::{
    GraphAround, GraphAroundRequest, GraphDrawn, GraphEdge, GraphExport, GraphExportRequest,
    GraphFormat, GraphNode, GraphOverview, GraphSummary, graph_around, graph_export,
    graph_overview, graph_summary,
};
pub use self::index::{IndexRequest, IndexResponse, IndexScope, index};
pub use self::init::{InitRequest, InitResponse, init};
pub use self::jobs::{
    BaseWithJobs, CreateBase, RemainingWork, bases_with_jobs, job_names, job_places, jobs,
    remaining_work, setup, shares_jobs, worker_name,
};
pub use self::lost::UnclearFiles;
pub use self::methods::{MethodResponse, method_by_name, methods};
pub use self::migrate::{MigrateResponse, migrate};
pub use self::models::{
    ModelLine, ModelsResponse, PullRequest, PullResponse, RunningModel, UseRequest, UseResponse,
    has_model_server, is_model_used, models, pull_model, pull_server, run_model, use_model,
};
pub use self::money::RunUsd;
pub use self::original::{KeptOriginals, OriginalResponse, local_files, original, original_named};
pub use self::page::{WIDTHS, page};
pub use self::parse::{ParseRequest, parse};
pub use self::progress::{OnProgress, Progress};
pub use self::read::{chunk, source, sources, sources_by_id};
pub use self::reading::{
    CorrectRequest, CorrectionsResponse, EditChunkRequest, Reading, correct, corrections_in,
    edit_chunk, read_again, reading, take_back_correction,
};
pub use self::records::{
    ProposeRequest, ProposeResponse, RecordsRequest, propose_schemas, records,
};
pub use self::runs::{
    DiffLine, DiffResponse, DiffSide, ForkRequest, RunResponse, RunSummary, diff_runs,
    end_silent_runs, follow_run, fork_run, replay_run, run_by_name, run_changes, runs,
};
pub use self::search::{Recorded, SearchHit, SearchRequest, SearchResponse, search};
pub use self::sent::{SentError, SentFile, sent, sent_as};
pub use self::set_chat::{
    ReadAgain, SetChatResponse, SettingsPlace, roles_with_models, set_chat, unset_chat,
};
pub use self::set_search_model::{SetSearchModelResponse, set_search_model, unset_search_model};
pub use self::status::{StatusResponse, status};
pub use self::tables::{SqlRequest, sql, table, tables};
pub use self::tags::{
    LearnRequest, LearnResponse, TagClassLine, TagClassRequest, TagClassResponse,
    TagClassesResponse, add_tag_class, add_tag_pair, drop_tag_class, drop_tag_pair,
    learn_tag_pairs, rename_tag_class, tag_class, tag_classes, tag_pairs,
};
pub use self::train::{
    AgreeRequest, AgreeResponse, CollectForecast, CollectRequest, CollectResponse, CollectedRuns,
    LabelForecast, LabelRequest, LabelResponse, TABLE_4, TrainExportRequest, TrainExportResponse,
    TrainFrom, TriedProposer, train_agree, train_collect, train_export, train_forecast,
    train_label, train_label_forecast, train_recipe, train_use,
};
pub use self::try_chat::{TriedChat, try_chat};
pub use self::try_search_model::{TriedSearchModel, try_search_model};
pub use self::unpack::{LeftOut, UnpackResponse, unpack};
pub use self::vectors::{EmbedResponse, RerankResponse, dimensions, embed, rerank};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ChatChoice, Environment, FileChoice, Flags, Settings};

    /// A server can move every request to another thread. No future is polled here.
    #[test]
    fn requests_can_be_spawned() {
        fn spawnable(_: impl Future + Send) {}
        let settings = Settings::load(&Flags::default(), &Environment::default()).unwrap();
        let session = &crate::open(settings).unwrap().session();
        spawnable(ask(session, &AskRequest::default()));
        spawnable(feedback(session, &FeedbackRequest::default()));
        spawnable(verified(session));
        spawnable(search(session, &SearchRequest::default()));
        spawnable(standalone(session, AskRequest::default()));
        spawnable(status(session));
        spawnable(files(session));
        spawnable(records(session, &RecordsRequest::default()));
        spawnable(propose_schemas(session, &ProposeRequest::default()));
        spawnable(tables(session));
        spawnable(sql(session, &SqlRequest::default()));
        spawnable(tag_classes(session));
        spawnable(async {
            let uploads = session.uploads(CreateBase::No).await.unwrap();
            let id = crate::uploads::UploadId::random().unwrap();
            let part = uploads.begin("a.zip", &id, 0, 1).await.unwrap();
            unpack(session, &part, "").await
        });
        spawnable(page(session, crate::knowledge::SourceId::of(""), 1, 1));
        spawnable(doctor(session));
        spawnable(formats(session));
        spawnable(forecast(session, ""));
        spawnable(delete_preview(session, &[]));
        let (paths, with, without, chunking) = (Vec::new(), Vec::new(), Vec::new(), None);
        spawnable(estimate(
            session,
            &EstimateRequest {
                paths,
                databases: Vec::new(),
                with,
                without,
                chunking,
                choice: FileChoice::default(),
                own_files: false,
            },
        ));
        spawnable(index(
            session,
            &IndexRequest {
                paths: Vec::new(),
                databases: Vec::new(),
                prune: false,
                retry_refused: false,
                with: Vec::new(),
                without: Vec::new(),
                chunking: None,
                choice: FileChoice::default(),
                scope: IndexScope::Base,
                accepted_calls: None,
                progress: &|_| {},
            },
        ));
        let file = std::path::PathBuf::new();
        spawnable(learn_tag_pairs(session, &LearnRequest { file, progress: &|_| {} }));
        let (path, environment) = (std::path::Path::new("pikerag.toml"), &Environment::default());
        let place = SettingsPlace { path, is_named: true, environment };
        spawnable(try_chat(session, place, &ChatChoice::default()));
        spawnable(pull_model(session, &PullRequest { what: "", sha256: None, progress: &|_| {} }));
    }
}
