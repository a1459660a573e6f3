//! Finds the values that match a pattern of `LIKE`.

use pikerag_knowledge::data::DataValue;

use super::names::Column;

/// The values of a column that match a pattern; `None` if none matches or if some values are unknown.
pub(super) fn fitting(column: &Column<'_>, pattern: &str) -> Option<Vec<DataValue>> {
    let known = column.table.view.values(column.place);
    if column.data.kind.is_numeric() || (known.len() as u64) < column.data.distinct {
        return None;
    }
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let fits =
        |value: &&String| is_like(&pattern, &value.to_lowercase().chars().collect::<Vec<_>>());
    let values: Vec<DataValue> =
        known.iter().filter(fits).map(|value| DataValue::Text(value.clone())).collect();
    (!values.is_empty()).then_some(values)
}

/// Whether a text matches a pattern of `LIKE`: `%` stands for any characters, `_` for one. Takes time proportional to
/// the product of both lengths.
fn is_like(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // The place of the last `%`, and the length of the text that it covers.
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
