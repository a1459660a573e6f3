//! Finds the values that a pattern of `LIKE` fits.

use pikerag_knowledge::data::DataValue;

use super::names::Column;

/// The values of a column that a pattern fits; `None` where none does, or where not all values are known.
pub(super) fn fitting(column: &Column<'_>, pattern: &str) -> Option<Vec<DataValue>> {
    let known = column.table.view.values(column.place);
    if column.told.kind.is_numeric() || (known.len() as u64) < column.told.distinct {
        return None;
    }
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let fits =
        |value: &&String| is_like(&pattern, &value.to_lowercase().chars().collect::<Vec<_>>());
    let values: Vec<DataValue> =
        known.iter().filter(fits).map(|value| DataValue::Text(value.clone())).collect();
    (!values.is_empty()).then_some(values)
}

/// Whether a text fits a pattern of `LIKE`: `%` stands for any characters, `_` for one. In time proportional to both lengths.
fn is_like(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // Where the last `%` was, and how much of the text it took.
    let mut last: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('%') => {
                last = Some((at, place));
                at += 1;
            }
            Some(c) if *c == '_' || text.get(place) == Some(c) => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((percent, taken)) = last else { return false };
                last = Some((percent, taken + 1));
                (at, place) = (percent + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|c| *c == '%')
}
