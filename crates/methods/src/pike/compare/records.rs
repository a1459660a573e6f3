//! Compares things by their records: a number, a date or an equal value decides, without a model.

use pikerag_knowledge::records::FieldType;
use pikerag_knowledge::worked::{ComparedBy, ComparedCell, Comparison, Coverage, Figure, Figures};
use pikerag_knowledge::{Answer, Question, RecordSchema, TaskClass, Value, Worked};
use pikerag_language::fold::folded;
use pikerag_language::lexicon::concepts;
use pikerag_narrate::{InWords, Language, Sentence, compared_field};

use super::without;
use crate::collections::Collection;
use crate::pike::figures::{Places, answer_from_figures, name};
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use pikerag_language::pattern;

/// The value that the verdict looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Least,
    Greatest,
    Same,
}

pattern!(EARLY, r"\b(?:earlier|first|before|sooner|older)\b|更早|较早|先|在前|更老");
pattern!(
    LATE,
    r"\b(?:later|last|after|more recent(?:ly)?|newer|younger)\b|更晚|较晚|在后|更新|更近"
);
pattern!(
    MORE,
    r"\b(?:more|most|larger|higher|longer|heavier|greater|bigger|taller|faster|costlier)\b|更(?:多|大|高|长|重|贵|久|快)"
);
pattern!(
    LESS,
    r"\b(?:fewer|less|smaller|lower|shorter|lighter|cheaper|slower)\b|更(?:少|小|低|短|轻|便宜|慢)"
);
pattern!(SAME, r"\bsame\b|相同|一样|一致");

/// Answers with a table of records, if all things have one and a number, a date or an equal value decides.
pub(super) async fn by_records(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    collection: &Collection,
    things: &[String],
) -> Result<Option<Answer>, SolveError> {
    let places: Option<Vec<usize>> =
        things.iter().map(|thing| thing_of(collection, thing)).collect();
    let Some(places) = places.filter(|places| 2 <= places.len()) else { return Ok(None) };
    let rest = without(question.query(), things);
    let Some((field, wanted)) = deciding(&collection.schema, &rest) else { return Ok(None) };
    collection.trace(run);
    let frame = &collection.unified.frame;
    let mut at = Places::new(collection);
    let rows: Vec<Figure> = places
        .iter()
        .map(|thing| Figure {
            key: vec![name(collection, *thing)],
            value: match frame.cell(*thing, &field).map(|cell| &cell.value) {
                Some(Value::Number(number)) => Some(number.amount),
                _ => None,
            },
            unit: None,
            things: vec![
                frame
                    .cell(*thing, &field)
                    .and_then(|cell| at.of_record(cell.record))
                    .into_iter()
                    .collect(),
            ],
        })
        .collect();
    let shown: Vec<Option<String>> = places
        .iter()
        .map(|thing| frame.cell(*thing, &field).map(|cell| cell.value.to_string()))
        .collect();
    let Some(verdict) = verdict(collection, &places, &field, wanted) else { return Ok(None) };
    let cells = shown.iter().zip(&rows).map(|(shown, row)| {
        let first = row.things.first().and_then(|records| records.first());
        Some(ComparedCell { text: shown.clone()?, citation: first.map(|place| place + 1) })
    });
    let comparison = Comparison {
        things: places.iter().map(|thing| name(collection, *thing)).collect(),
        rows: vec![ComparedBy { attribute: field.clone(), cells: cells.collect() }],
    };
    let language = Language::of(question.query());
    let text = match (wanted, verdict.as_slice()) {
        (Wanted::Same, []) => Sentence::IsSame(false).in_words(language),
        (Wanted::Same, _) => Sentence::IsSame(true).in_words(language),
        (_, names) => names.join(language.separator()),
    };
    let rationale = compared_field(&collection.schema.name, &field, language);
    let mut worked = Worked::of(TaskClass::Comparative);
    worked.figures = Some(Figures {
        schema: collection.schema.name.clone(),
        is_declared: collection.is_declared,
        query: pikerag_knowledge::RecordQuery::default(),
        rows,
        records: at.records,
        coverage: Coverage { matched: places.len(), ..collection.coverage.clone() },
    });
    worked.comparison = Some(comparison);
    answer_from_figures(ports, run, text, rationale, worked).await.map(Some)
}

/// The thing with a name, if exactly one has it.
fn thing_of(collection: &Collection, thing: &str) -> Option<usize> {
    let wanted = folded(thing);
    let frame = &collection.unified.frame;
    let has_name = |place: &usize| {
        let mut fields = collection.schema.key.iter();
        fields.any(|field| frame.cell(*place, field).is_some_and(|cell| cell.folded == wanted))
    };
    let mut found = (0..frame.things.len()).filter(has_name);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The field that decides, and the value that the verdict looks for.
fn deciding(schema: &RecordSchema, rest: &str) -> Option<(String, Wanted)> {
    let asked = concepts(rest);
    let fit = |name: &str| concepts(name).intersection(&asked).count();
    let of_kind = |kind: FieldType| {
        let fields: Vec<_> = schema.fields.iter().filter(|field| field.kind == kind).collect();
        let named =
            fields.iter().filter(|field| 0 < fit(&field.name)).max_by_key(|field| fit(&field.name));
        let only = || fields.first().filter(|_| fields.len() == 1);
        named.or_else(only).map(|field| field.name.clone())
    };
    if SAME.is_match(rest) {
        let text = schema
            .fields
            .iter()
            .filter(|field| !schema.key.contains(&field.name) && 0 < fit(&field.name));
        return text
            .max_by_key(|field| fit(&field.name))
            .map(|field| (field.name.clone(), Wanted::Same));
    }
    let rules = [
        (&*EARLY, FieldType::Date, Wanted::Least),
        (&*LATE, FieldType::Date, Wanted::Greatest),
        (&*MORE, FieldType::Number, Wanted::Greatest),
        (&*LESS, FieldType::Number, Wanted::Least),
    ];
    let mut rules = rules.into_iter().filter(|(pattern, ..)| pattern.is_match(rest));
    rules.find_map(|(_, kind, wanted)| Some((of_kind(kind)?, wanted)))
}

/// The names of the things with the wanted value; for `Same`, all names or none. `None` where a value is
/// missing, or values cannot be compared.
fn verdict(
    collection: &Collection,
    places: &[usize],
    field: &str,
    wanted: Wanted,
) -> Option<Vec<String>> {
    let frame = &collection.unified.frame;
    let values: Option<Vec<&Value>> =
        places.iter().map(|place| frame.cell(*place, field).map(|cell| &cell.value)).collect();
    let values = values?;
    let named = |place: &usize| name(collection, *place);
    if wanted == Wanted::Same {
        let is_same = values
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if folded(&a.to_string()) == folded(&b.to_string())));
        return Some(if is_same { places.iter().map(named).collect() } else { Vec::new() });
    }
    let order = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.unit == b.unit => {
            Some(a.amount.total_cmp(&b.amount))
        }
        // A year is neither before nor after a day in it.
        (Value::Date(a), Value::Date(b)) if a.len() == b.len() => Some(a.cmp(b)),
        _ => None,
    };
    let mut best: Vec<usize> = vec![0];
    for at in 1..values.len() {
        let ordering = order(values.get(at)?, values.get(*best.first()?)?)?;
        let ordering = if wanted == Wanted::Least { ordering } else { ordering.reverse() };
        match ordering {
            std::cmp::Ordering::Less => best = vec![at],
            std::cmp::Ordering::Equal => best.push(at),
            std::cmp::Ordering::Greater => {}
        }
    }
    Some(best.iter().filter_map(|at| places.get(*at)).map(named).collect())
}
