//! Tests that plain patterns continue and that the interval holds.

use proptest::prelude::*;

use super::*;

fn counts(values: &[f64]) -> Past<'_> {
    Past { values, season: 1, is_count: true }
}

#[test]
fn too_few_figures_are_refused() {
    assert_eq!(forecast(counts(&[1.0, 2.0, 3.0]), 1), Err(TooFew { known: 3, needed: 5 }));
}

#[test]
fn a_line_continues() {
    let values: Vec<f64> = (0..12).map(|n| 10.0 + 3.0 * f64::from(n)).collect();
    let outlook = forecast(Past { values: &values, season: 1, is_count: false }, 2).unwrap();
    let points: Vec<f64> = outlook.ahead.iter().map(|ahead| ahead.value.round()).collect();
    assert_eq!(points, [46.0, 49.0]);
    assert!(outlook.tried[0].mase.unwrap() < 0.2, "{:?}", outlook.tried);
}

#[test]
fn seasons_repeat() {
    let year = [5.0, 20.0, 40.0, 10.0];
    let values: Vec<f64> = (0..20).map(|n| year[n % 4] + (n / 4) as f64).collect();
    let outlook = forecast(Past { values: &values, season: 4, is_count: true }, 4).unwrap();
    assert_eq!(outlook.ahead.len(), year.len());
    for (ahead, truth) in outlook.ahead.iter().zip(year) {
        assert!((ahead.value - truth - 5.0).abs() <= 2.0, "{outlook:?}");
    }
    assert!(outlook.tried.iter().any(|tried| tried.model == ForecastModel::SeasonalNaive));
}

/// Yearly counts of approvals from a public table, on which nothing is tuned.
#[test]
fn every_model_is_compared_with_naive() {
    let values = [22.0, 28.0, 36.0, 26.0, 39.0, 46.0, 20.0, 46.0];
    let outlook = forecast(counts(&values), 1).unwrap();
    let shown: Vec<String> = outlook
        .tried
        .iter()
        .map(|tried| format!("{:?} {:.2} {:.2}", tried.model, tried.mae, tried.mase.unwrap()))
        .collect();
    insta::assert_debug_snapshot!((shown, outlook.ahead, outlook.within), @r#"
    (
        [
            "Mean 11.46 0.70",
            "Smoothing 14.20 0.87",
            "Combination 14.94 0.91",
            "Naive 16.40 1.00",
            "Drift 17.71 1.08",
        ],
        [
            Ahead {
                value: 33.0,
                low: 14.0,
                high: 52.0,
            },
        ],
        (
            3,
            3,
        ),
    )
    "#);
}

/// For draws of a Poisson process, the truth is within the interval about as often as its level.
#[test]
fn the_interval_holds() {
    let (mut within, mut all) = (0, 0);
    let mut state = 7_u64;
    let mut draw = || {
        // A Poisson draw of mean 20, by the sum of exponential waits.
        let (mut waited, mut count) = (0.0, 0.0);
        loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            waited -= (((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64).ln() / 20.0;
            if 1.0 < waited {
                return count;
            }
            count += 1.0;
        }
    };
    for _ in 0..150 {
        let values: Vec<f64> = (0..13).map(|_| draw()).collect();
        let outlook = forecast(counts(&values[..12]), 1).unwrap();
        all += 1;
        within += usize::from((outlook.ahead[0].low..=outlook.ahead[0].high).contains(&values[12]));
    }
    let share = f64::from(u32::try_from(within).unwrap()) / f64::from(all);
    assert!((0.74..0.95).contains(&share), "{share}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_series_panics(
        values in prop::collection::vec(prop_oneof![-1e6..1e6, Just(0.0), Just(1.0)], 0..40),
        season in prop::sample::select(vec![1_usize, 4, 12]),
        is_count in any::<bool>(),
        steps in 0..80_usize,
    ) {
        let values: Vec<f64> =
            values.into_iter().map(|value: f64| if is_count { value.abs().floor() } else { value }).collect();
        let past = Past { values: &values, season, is_count };
        match forecast(past, steps) {
            Err(few) => prop_assert!(few.known < LEAST),
            Ok(outlook) => {
                prop_assert_eq!(outlook.ahead.len(), steps.clamp(1, FARTHEST));
                for ahead in &outlook.ahead {
                    prop_assert!(ahead.low <= ahead.value && ahead.value <= ahead.high, "{:?}", ahead);
                    prop_assert!(ahead.low.is_finite() && ahead.high.is_finite());
                    prop_assert!(!is_count || (0.0 <= ahead.low && ahead.value.fract() == 0.0));
                }
                prop_assert_eq!(&forecast(past, steps), &Ok(outlook));
            }
        }
    }
}
