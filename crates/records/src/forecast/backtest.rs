//! Back-tests each model: compares its forecasts from successive origins with the figures that followed
//! (rolling-origin evaluation; MASE after Hyndman and Koehler, 2006).

use distrs::StudentsT;
use pikerag_knowledge::worked::{ForecastModel, Tried};

use super::models::{Forecasts, forecast_all};
use super::{LEVEL, Past};

/// The fewest figures before the first origin.
const BEFORE: usize = 3;
/// The most origins, the latest ones.
const ORIGINS: usize = 24;

/// The forecasts of every model at each origin.
pub(super) struct Trials<'a> {
    past: Past<'a>,
    /// The number of figures before each origin, and the forecasts from there.
    origins: Vec<(usize, Forecasts)>,
}

impl<'a> Trials<'a> {
    /// Fits each model once at each origin.
    pub(super) fn of(past: Past<'a>, steps: usize) -> Self {
        let length = past.values.len();
        let first = BEFORE.max(length.saturating_sub(ORIGINS));
        let known = |origin: usize| past.values.get(..origin).unwrap_or_default();
        let origins = (first..length).map(|origin| {
            let steps = steps.min(length - origin);
            (origin, forecast_all(Past { values: known(origin), ..past }, steps))
        });
        Self { past, origins: origins.collect() }
    }

    /// The errors known after `known` figures, of the models in `forecasts`.
    pub(super) fn until(&self, known: usize, forecasts: &Forecasts) -> BackTest {
        let truth = self.past.values.get(..known).unwrap_or_default();
        let errors = forecasts.iter().map(|(model, points)| {
            let mut by_step = vec![Vec::new(); points.len()];
            for (origin, forecasts) in self.origins.iter().take_while(|(origin, _)| *origin < known)
            {
                // The naive model stands in for one that needed more figures than were known.
                let of = |wanted| forecasts.iter().find(|(other, _)| *other == wanted);
                let Some((_, points)) = of(*model).or_else(|| of(ForecastModel::Naive)) else {
                    continue;
                };
                let after = truth.get(*origin..).unwrap_or_default();
                for ((point, truth), errors) in points.iter().zip(after).zip(by_step.iter_mut()) {
                    errors.push(point - truth);
                }
            }
            (*model, by_step)
        });
        BackTest { errors: errors.collect() }
    }

    /// The origins, each with its forecasts.
    pub(super) fn origins(&self) -> impl Iterator<Item = &(usize, Forecasts)> {
        self.origins.iter()
    }
}

/// Errors by the number of steps ahead, from one.
type ByStep = Vec<Vec<f64>>;

/// The errors of each model.
pub(super) struct BackTest {
    errors: Vec<(ForecastModel, ByStep)>,
}

impl BackTest {
    /// Every model with its errors, the best first. Of equal ones, the combination comes first, then the
    /// simpler one.
    pub(super) fn tried(&self) -> Vec<Tried> {
        let of = |wanted| self.errors.iter().find(|(model, _)| *model == wanted);
        let scale = of(ForecastModel::SeasonalNaive).or_else(|| of(ForecastModel::Naive));
        let scale = scale.map(|(_, errors)| mean_absolute(errors)).filter(|scale| 0.0 < *scale);
        let mut tried: Vec<Tried> = self
            .errors
            .iter()
            .map(|(model, errors)| {
                let mae = mean_absolute(errors);
                let compared = errors.iter().map(Vec::len).sum();
                Tried { model: *model, mae, mase: scale.map(|scale| mae / scale), compared }
            })
            .collect();
        tried.sort_by(|a, b| a.mae.total_cmp(&b.mae).then(a.model.cmp(&b.model)));
        tried
    }

    /// Half the width of the interval at each step: the root mean square of the model's errors at that
    /// step, times a quantile of Student's t with one degree of freedom per error. A step with fewer
    /// than 4 errors takes those of the first step, times the square root of the steps. Counts vary at
    /// least as a Poisson process does.
    pub(super) fn spread(&self, model: ForecastModel, past: Past<'_>, steps: usize) -> Vec<f64> {
        let own = self.errors.iter().find(|(tried, _)| *tried == model);
        let by_step = own.map(|(_, errors)| errors.as_slice()).unwrap_or_default();
        let (first, n_first) =
            by_step.first().map_or((0.0, 0), |errors| (square_mean(errors), errors.len()));
        let mean = past.values.iter().sum::<f64>() / past.values.len().max(1) as f64;
        let least = if past.is_count { mean.max(1.0) } else { 0.0 };
        let mut widest: f64 = 0.0;
        (0..steps)
            .map(|step| {
                let errors = by_step.get(step).map(Vec::as_slice).unwrap_or_default();
                let (variance, n_errors) = match errors.len() < 4 {
                    true => (first * (step + 1) as f64, n_first),
                    false => (square_mean(errors), errors.len()),
                };
                let quantile = StudentsT::ppf(f64::midpoint(1.0, LEVEL), n_errors.max(1) as f64);
                // The interval does not narrow with distance.
                widest = widest.max(quantile * variance.max(least).sqrt());
                widest
            })
            .collect()
    }
}

fn mean_absolute(by_step: &[Vec<f64>]) -> f64 {
    let all = || by_step.iter().flatten();
    all().map(|error| error.abs()).sum::<f64>() / all().count().max(1) as f64
}

fn square_mean(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64
}
