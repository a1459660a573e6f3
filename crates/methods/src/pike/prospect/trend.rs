//! Computes the direction of the series behind a forecast.

use pikerag_knowledge::Answer;
use pikerag_knowledge::worked::{Direction, Known, Trend};

/// Kendall's rank correlation with time from which on a series rises: three quarters of the pairs of figures rise.
const LEANS: f64 = 0.5;

/// The trend of the series that an answer continues; `None` if it continues none.
pub(super) fn trend(answer: &Answer) -> Option<Trend> {
    let worked = answer.worked.as_ref()?;
    let forecast = worked.forecast.as_ref()?;
    let known: Vec<&Known> = forecast.past.iter().filter(|one| one.value.is_some()).collect();
    let (first, last) = (*known.first()?, *known.last()?);
    let values: Vec<f64> = known.iter().filter_map(|one| one.value).collect();
    Some(Trend {
        direction: direction(&values),
        first: first.clone(),
        last: last.clone(),
        length: known.len(),
        next: forecast.points.last().cloned(),
        unit: forecast.unit.clone(),
    })
}

/// The direction of figures in order, by Kendall's rank correlation with time.
fn direction(values: &[f64]) -> Direction {
    let (mut rises, mut pairs) = (0.0, 0.0);
    for (at, later) in values.iter().enumerate() {
        for earlier in values.iter().take(at) {
            pairs += 1.0;
            rises += match later.total_cmp(earlier) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Less => -1.0,
                std::cmp::Ordering::Equal => 0.0,
            };
        }
    }
    match if pairs == 0.0 { 0.0 } else { rises / pairs } {
        lean if LEANS <= lean => Direction::Rising,
        lean if lean <= -LEANS => Direction::Falling,
        _ => Direction::Level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_follows_most_pairs() {
        for (values, expected) in [
            (&[1.0, 2.0, 2.0, 5.0][..], Direction::Rising),
            (&[9.0, 3.0, 4.0, 1.0], Direction::Falling),
            (&[2.0, 1.0, 2.0, 1.0], Direction::Level),
            (&[7.0], Direction::Level),
            (&[], Direction::Level),
        ] {
            assert_eq!(direction(values), expected, "{values:?}");
        }
    }
}
