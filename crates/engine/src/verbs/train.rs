//! Makes training data for a decomposer of one's own (`train`): collects trajectories, exports examples (PIKE-RAG
//! §5.3.3, §6.4).

mod collect;
mod export;
mod kept;

pub use self::collect::{
    CollectForecast, CollectRequest, CollectResponse, TrainFrom, train_collect, train_forecast,
};
pub use self::export::{TrainExportRequest, TrainExportResponse, train_export};
