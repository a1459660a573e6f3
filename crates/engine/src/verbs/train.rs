//! Makes training data for a decomposer of one's own (`train`): collects trajectories, exports examples (PIKE-RAG
//! §5.3.3, §6.4).

mod collect;
mod export;
mod kept;
mod recipe;
mod tried;

pub use self::collect::{
    CollectForecast, CollectRequest, CollectResponse, train_collect, train_forecast,
};
pub use self::export::{TrainExportRequest, TrainExportResponse, train_export};
pub use self::kept::TrainFrom;
pub use self::recipe::train_recipe;
pub use self::tried::{TriedProposer, train_use};
