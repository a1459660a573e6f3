//! What can be asked of the engine? A module for each verb: its request, its response, and its method on
//! [`Engine`](crate::Engine).

pub(crate) mod ask;
mod backup;
mod check;
mod classify;
mod configured;
mod converse;
mod delete;
mod doctor;
mod estimate;
mod eval;
mod evaluations;
mod export;
mod feedback;
mod files;
mod forecast;
mod graph;
mod index;
mod init;
mod keeping;
mod methods;
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
mod status;
mod tags;
mod unpack;
mod vectors;

pub use self::ask::{AskRequest, AskResponse, TracedAnswer};
pub use self::backup::BackupResponse;
pub use self::check::{CheckRequest, CheckResponse};
pub use self::classify::{ClassifiedQuestion, ClassifyRequest, ClassifyResponse};
pub use self::configured::{ConfiguredCap, ConfiguredModel, ConfiguredResponse};
pub use self::delete::{DeletePreview, DeleteRequest, DeleteResponse};
pub use self::doctor::{DoctorCheck, DoctorFinding, Offer};
pub use self::estimate::{EstimateRequest, EstimateResponse};
pub use self::eval::{
    DryRunResponse, EvalRequest, EvalResponse, Forecast, IndexingForecast, SearchesResponse,
};
pub use self::evaluations::{EvaluationLine, EvaluationResponse};
pub use self::export::Export;
pub use self::feedback::{AnswerPair, FeedbackRequest, FeedbackResponse, ImportResponse, Verdict};
pub use self::files::{FileLine, FilesResponse, OnDisk};
pub use self::forecast::{ForecastUsd, QuestionForecast};
pub use self::graph::{
    GraphAround, GraphAroundRequest, GraphDrawn, GraphEdge, GraphExport, GraphExportRequest,
    GraphFormat, GraphNode, GraphOverview, GraphSummary,
};
pub use self::index::{IndexRequest, IndexResponse, Unseen};
pub use self::init::{InitResponse, init};
pub use self::methods::MethodResponse;
pub use self::money::RunUsd;
pub use self::original::{KeptOriginals, OriginalResponse};
pub use self::page::WIDTHS;
pub use self::parse::ParseRequest;
pub use self::progress::{OnProgress, Progress};
pub use self::reading::{CorrectRequest, CorrectionsResponse, Reading};
pub use self::records::{ProposeRequest, ProposeResponse, RecordsRequest};
pub use self::runs::{DiffLine, DiffResponse, DiffSide, ForkRequest, RunResponse, RunSummary};
pub use self::search::{SearchHit, SearchPath, SearchRequest, SearchResponse};
pub use self::sent::{SentError, SentFile};
pub use self::status::StatusResponse;
pub use self::tags::{
    LearnRequest, LearnResponse, TagClassLine, TagClassRequest, TagClassResponse,
    TagClassesResponse,
};
pub use self::unpack::{LeftOut, UnpackResponse};
pub use self::vectors::{EmbedResponse, RerankResponse};

#[cfg(test)]
mod tests {
    use super::{
        AskRequest, FeedbackRequest, ProposeRequest, RecordsRequest, SearchPath, SearchRequest,
    };
    use crate::knowledge::Filter;
    use crate::settings::{Environment, Flags, Settings};

    /// What a server answers with can be handed to another thread. Nothing is polled here. (Not so what indexes:
    /// the compiler cannot tell of `ingest` that it is `Send`.)
    #[test]
    fn requests_can_be_spawned() {
        fn spawnable(_: impl Future + Send) {}
        let settings = Settings::load(&Flags::default(), &Environment::default()).unwrap();
        let engine = crate::open(settings).unwrap();
        let (query, by) = (String::new(), SearchPath::Hybrid);
        spawnable(engine.ask(&AskRequest::default()));
        spawnable(engine.feedback(&FeedbackRequest::default()));
        spawnable(engine.verified());
        spawnable(engine.search(&SearchRequest {
            query,
            by,
            k: 1,
            rerank: None,
            filter: Filter::default(),
        }));
        spawnable(engine.standalone(&[], ""));
        spawnable(engine.status());
        spawnable(engine.files());
        spawnable(engine.records(&RecordsRequest::default()));
        spawnable(engine.propose_schemas(&ProposeRequest::default()));
        spawnable(engine.tag_classes());
        spawnable(engine.unpack(std::path::Path::new(""), ""));
        spawnable(engine.page(crate::knowledge::SourceId::of(""), 1, 1));
        spawnable(engine.doctor());
        spawnable(engine.forecast(""));
        spawnable(engine.delete_preview(&[]));
    }
}
