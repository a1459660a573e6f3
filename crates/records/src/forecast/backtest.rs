//! How well would each model have done? From one origin after the other it foretells what came next, and is compared
//! with it (rolling-origin evaluation; MASE after Hyndman and Koehler, 2006).

use distrs::StudentsT;
use pikerag_knowledge::worked::{ForecastModel, Tried};

use super::models::{Said, said_by_all};
use super::{LEVEL, Past};

/// Figures before the first origin, at least.
const BEFORE: usize = 3;
/// Origins, the latest, at most.
const ORIGINS: usize = 24;

/// What every model said at each origin.
pub(super) struct Trials<'a> {
    past: Past<'a>,
    /// After how many figures, and what was said then.
    origins: Vec<(usize, Said)>,
}

impl<'a> Trials<'a> {
    /// Each model is fitted once for each origin.
    pub(super) fn of(past: Past<'a>, steps: usize) -> Self {
        let length = past.values.len();
        let first = BEFORE.max(length.saturating_sub(ORIGINS));
        let known = |origin: usize| past.values.get(..origin).unwrap_or_default();
        let origins = (first..length).map(|origin| {
            let steps = steps.min(length - origin);
            (origin, said_by_all(Past { values: known(origin), ..past }, steps))
        });
        Self { past, origins: origins.collect() }
    }

    /// The errors that were known after `known` figures, of the models that `said` something then.
    pub(super) fn until(&self, known: usize, said: &Said) -> BackTest {
        let truth = self.past.values.get(..known).unwrap_or_default();
        let errors = said.iter().map(|(model, points)| {
            let mut by_step = vec![Vec::new(); points.len()];
            for (origin, said) in self.origins.iter().take_while(|(origin, _)| *origin < known) {
                // A model that needs more than was known then was as good as its substitute.
                let of = |wanted| said.iter().find(|(other, _)| *other == wanted);
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

    /// The origins with what was said then.
    pub(super) fn origins(&self) -> impl Iterator<Item = &(usize, Said)> {
        self.origins.iter()
    }
}

/// Errors, by how many steps ahead.
type ByStep = Vec<Vec<f64>>;

/// The errors of each model, by step.
pub(super) struct BackTest {
    errors: Vec<(ForecastModel, ByStep)>,
}

impl BackTest {
    /// Every model with its errors, the best first; of equal ones the combination, then the plainer.
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

    /// Half the width of the interval at each step: as far as the errors of the model at that step went, by Student's t
    /// with as many degrees of freedom as there were errors. Where a step was seen too rarely, its errors grow with
    /// the square root of the steps. Counts vary at least as a Poisson process does.
    pub(super) fn spread(&self, model: ForecastModel, past: Past<'_>, steps: usize) -> Vec<f64> {
        let own = self.errors.iter().find(|(tried, _)| *tried == model);
        let by_step = own.map(|(_, errors)| errors.as_slice()).unwrap_or_default();
        let (first, seen) =
            by_step.first().map_or((0.0, 0), |errors| (square_mean(errors), errors.len()));
        let mean = past.values.iter().sum::<f64>() / past.values.len().max(1) as f64;
        let least = if past.is_count { mean.max(1.0) } else { 0.0 };
        let mut widest: f64 = 0.0;
        (0..steps)
            .map(|step| {
                let errors = by_step.get(step).map(Vec::as_slice).unwrap_or_default();
                let (variance, seen) = match errors.len() < 4 {
                    true => (first * (step + 1) as f64, seen),
                    false => (square_mean(errors), errors.len()),
                };
                let quantile = StudentsT::ppf(f64::midpoint(1.0, LEVEL), seen.max(1) as f64);
                // What is farther away is known no better.
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
