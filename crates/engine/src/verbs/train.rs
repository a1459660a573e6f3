//! Makes training data for a decomposer of one's own (`train`): collects trajectories, exports examples (PIKE-RAG
//! §5.3.3, §6.4), and for the modules of RA-ISF (§3.2).

mod collect;
mod each;
mod export;
mod kept;
mod label;
mod recipe;
mod tried;

pub use self::collect::{
    CollectForecast, CollectRequest, CollectResponse, CollectedRuns, train_collect, train_forecast,
};
pub use self::export::{TrainExportRequest, TrainExportResponse, train_export};
pub use self::kept::TrainFrom;
pub use self::label::{
    AgreeRequest, AgreeResponse, LabelForecast, LabelRequest, LabelResponse, TABLE_4, train_agree,
    train_label, train_label_forecast,
};
pub use self::recipe::train_recipe;
pub use self::tried::{TriedProposer, train_use};
