//! Scores a forecast: the direction of the trend, the error, and whether the truth lies within the
//! interval (PIKE-RAG §6.1: trend judgement).

use pikerag_knowledge::Answer;
use serde::{Deserialize, Serialize};

/// The score of a forecast, given the truth.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ForecastScore {
    /// 1 if it has the direction of the truth: up, down, or unchanged; else 0, also without a
    /// figure. `None` if the question does not give the last known figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<f64>,
    /// Its distance from the truth, in multiples of the truth, at most 1; 1 without a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// 1 if the truth lies within the given interval, else 0. `None` without an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<f64>,
}

/// Compares an answer with the truth, which is the first label that is a number; without one the
/// scores are empty. The figure is that of the last forecast period, else the first number of the
/// answer that the question does not name.
pub fn forecast_score(
    question: &str,
    answer: Option<&Answer>,
    labels: &[String],
    before: Option<f64>,
) -> ForecastScore {
    let Some(truth) = labels.iter().find_map(|label| numbers(label).first().copied()) else {
        return ForecastScore::default();
    };
    let answer = answer.filter(|answer| !answer.refused);
    let point = answer.and_then(|answer| answer.worked.as_ref()?.forecast.as_ref()?.points.last());
    let value = point.map(|point| point.value).or_else(|| {
        let named = numbers(question);
        numbers(&answer?.text).into_iter().find(|number| !named.contains(number))
    });
    let sign = |value: f64, before: f64| value.total_cmp(&before);
    ForecastScore {
        trend: before.map(|before| match value {
            Some(value) => f64::from(u8::from(sign(value, before) == sign(truth, before))),
            None => 0.0,
        }),
        error: Some(match value {
            Some(value) if truth != 0.0 => ((value - truth) / truth).abs().min(1.0),
            Some(0.0) => 0.0,
            _ => 1.0,
        }),
        covered: point.map(|point| f64::from(u8::from((point.low..=point.high).contains(&truth)))),
    }
}

/// The numbers of a text, in order; `1,200` is one.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let parts = text.split(|c: char| !is_part(c));
    parts
        .filter_map(|part| part.trim_matches(['.', ',']).replace(',', "").parse::<f64>().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::worked::{Forecast, ForecastModel, ForecastPoint};
    use pikerag_knowledge::{Context, TaskClass, Worked, WrittenBy};

    use super::*;

    fn answer(text: &str, point: Option<(f64, f64, f64)>) -> Answer {
        let forecast = point.map(|(value, low, high)| Forecast {
            model: ForecastModel::Naive,
            points: vec![ForecastPoint { period: "2018".to_owned(), value, low, high }],
            level: 0.8,
            tried: Vec::new(),
            within: (0, 0),
            partial: Vec::new(),
            filled: Vec::new(),
            past: Vec::new(),
            unit: None,
            group: None,
        });
        Answer {
            text: text.to_owned(),
            rationale: String::new(),
            refused: false,
            missing: Vec::new(),
            written_by: WrittenBy::Computation,
            citations: Vec::new(),
            context: Context::default(),
            quotes: None,
            worked: Some(Box::new(Worked { forecast, ..Worked::of(TaskClass::Predictive) })),
        }
    }

    fn scores(answer: Option<&Answer>) -> [Option<f64>; 3] {
        let labels = ["58".to_owned()];
        let question = "How many approvals will there be in 2018?";
        let ForecastScore { trend, error, covered } =
            forecast_score(question, answer, &labels, Some(45.0));
        [trend, error.map(|error| (100.0 * error).round()), covered]
    }

    #[test]
    fn direction_error_and_interval() {
        let up = answer("In 2018: about 50.", Some((50.0, 40.0, 60.0)));
        assert_eq!(scores(Some(&up)), [Some(1.0), Some(14.0), Some(1.0)]);
        let down = answer("33", Some((33.0, 14.0, 52.0)));
        assert_eq!(scores(Some(&down)), [Some(0.0), Some(43.0), Some(0.0)]);
        // In words alone: the year in the question is not a figure, and there is no interval.
        assert_eq!(
            scores(Some(&answer("In 2018 about 1,058.", None))),
            [Some(1.0), Some(100.0), None]
        );
        assert_eq!(scores(Some(&answer("Nobody knows.", None))), [Some(0.0), Some(100.0), None]);
        let refused = Answer { refused: true, ..up };
        assert_eq!(scores(Some(&refused)), [Some(0.0), Some(100.0), None]);
        assert_eq!(scores(None), [Some(0.0), Some(100.0), None]);
        assert_eq!(
            forecast_score("?", None, &["brake wear".to_owned()], None),
            ForecastScore::default()
        );
    }
}
