//! Words typed facts in English and Chinese, with the terms of the glossary. No other crate writes
//! sentences about a run.

mod answers;
mod data;
mod editions;
mod events;
mod figures;
mod forecasts;
mod foreign;
mod ideas;
mod language;
mod libraries;
mod notes;
mod numbers;
mod own;
mod plans;
mod problems;
mod prospects;
mod reasons;
mod scores;
mod terms;
#[cfg(test)]
mod tests;
mod two_figures;
mod waiting;

pub use self::answers::Sentence;
pub use self::data::{data_rows, data_value, plan_words, rank_words};
pub use self::events::{Narration, candidate, narrate};
pub use self::figures::{compared_field, coverage, figure_row, gaps, listed, query};
pub use self::forecasts::{
    Series, first_kinds, forecast_points, group_forecasts, kinds_rationale, series_rationale,
};
pub use self::foreign::{budget, chinese_reason, foreign, system};
pub use self::language::{InWords, Language, Words, joined};
pub use self::libraries::settings_fault;
pub use self::notes::{SummaryScope, summary_scope};
pub use self::numbers::{amount, counted, number};
pub use self::problems::problem_place;
pub use self::prospects::{argument, prospect_answer};
pub use self::scores::score_parts;
pub use self::two_figures::{TwoFigures, two_figures, two_plans};
pub use self::waiting::waiting;
