//! Forecasts with each model: simple ones, which are hard to beat on short series, and a library's
//! smoothing with and without seasons.

use augurs_core::{Fit, Predict};
use augurs_ets::AutoETS;
use augurs_ets::trend::AutoETSTrendModel;
use augurs_mstl::MSTLModel;
use pikerag_knowledge::worked::ForecastModel;

use super::Past;

/// The next figures by each model.
pub(super) type Forecasts = Vec<(ForecastModel, Vec<f64>)>;

/// The fewest figures that smoothing is fitted to.
const SMOOTHED: usize = 4;

/// The models that can forecast from a past of this length. The first is the combination, which is the
/// mean of the others.
fn fitting(past: Past<'_>) -> Vec<ForecastModel> {
    let mut fitting = vec![ForecastModel::Combination, ForecastModel::Naive];
    let has_seasons = 1 < past.season && 2 * past.season <= past.values.len();
    if has_seasons {
        fitting.push(ForecastModel::SeasonalNaive);
    }
    fitting.extend([ForecastModel::Mean, ForecastModel::Drift]);
    if SMOOTHED <= past.values.len() {
        fitting.push(ForecastModel::Smoothing);
    }
    if has_seasons && 2 * past.season < past.values.len() {
        fitting.push(ForecastModel::Seasonal);
    }
    fitting
}

/// Exactly `steps` next figures by each fitting model, in the order of [`fitting`]. A model that fails
/// gives the naive figures.
pub(super) fn forecast_all(past: Past<'_>, steps: usize) -> Forecasts {
    let (mut forecasts, mut sums): (Forecasts, _) = (Vec::new(), vec![0.0; steps]);
    for model in fitting(past) {
        if model != ForecastModel::Combination {
            forecasts.push((model, forecast_by(model, past, steps)));
        }
    }
    for (_, points) in &forecasts {
        for (sum, point) in sums.iter_mut().zip(points) {
            *sum += point / forecasts.len() as f64;
        }
    }
    forecasts.insert(0, (ForecastModel::Combination, sums));
    forecasts
}

fn forecast_by(model: ForecastModel, past: Past<'_>, steps: usize) -> Vec<f64> {
    let values = past.values;
    let last = values.last().copied().unwrap_or_default();
    let points = match model {
        // The combination is computed from the others.
        ForecastModel::Naive | ForecastModel::Combination => None,
        ForecastModel::SeasonalNaive => seasonal_naive(past, steps),
        ForecastModel::Mean => {
            Some(vec![values.iter().sum::<f64>() / values.len().max(1) as f64; steps])
        }
        ForecastModel::Drift => {
            let first = values.first().copied().unwrap_or_default();
            let slope = (last - first) / values.len().saturating_sub(1).max(1) as f64;
            Some((1..=steps).map(|step| last + slope * step as f64).collect())
        }
        ForecastModel::Smoothing => smoothed(values, steps),
        ForecastModel::Seasonal => deseasonalized(past, steps),
    };
    let is_sensible = |points: &Vec<f64>| {
        points.len() == steps && points.iter().all(|value| value.is_finite() && value.abs() < 1e15)
    };
    points.filter(is_sensible).unwrap_or_else(|| vec![last; steps])
}

fn seasonal_naive(past: Past<'_>, steps: usize) -> Option<Vec<f64>> {
    let year = past.values.get(past.values.len().checked_sub(past.season)?..)?;
    Some(year.iter().copied().cycle().take(steps).collect())
}

fn smoothed(values: &[f64], steps: usize) -> Option<Vec<f64>> {
    if is_constant(values) {
        return None;
    }
    let fitted = AutoETS::non_seasonal().fit(values).ok()?;
    Some(fitted.predict(steps, None).ok()?.point)
}

fn deseasonalized(past: Past<'_>, steps: usize) -> Option<Vec<f64>> {
    if is_constant(past.values) {
        return None;
    }
    let trend = AutoETSTrendModel::from(AutoETS::non_seasonal());
    let fitted = MSTLModel::new(vec![past.season], trend).fit(past.values).ok()?;
    Some(fitted.predict(steps, None).ok()?.point)
}

/// Whether all figures are the same, so that nothing can be fitted to them.
fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| matches!(pair, [a, b] if a.total_cmp(b).is_eq()))
}
