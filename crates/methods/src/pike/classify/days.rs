//! Finds the first and the last day of the records that a question is about.

use pikerag_knowledge::Value;
use pikerag_records::inquiry::{Form, Inquiry};

use crate::collections::Collection;

/// The first and the last day of the dates that the inquiry is about; `None` where no record has a date.
pub(super) fn days(collections: &[Collection], inquiry: &Inquiry) -> Option<(String, String)> {
    let collection = collections.get(inquiry.schema)?;
    let date = match &inquiry.form {
        Form::Series { date, .. } => date.clone(),
        _ => collection
            .schema
            .fields
            .iter()
            .find(|field| field.kind == pikerag_knowledge::records::FieldType::Date)?
            .name
            .clone(),
    };
    let frame = &collection.unified.frame;
    let dates =
        (0..frame.things.len()).filter_map(|thing| match &frame.cell(thing, &date)?.value {
            Value::Date(date) => Some(date.clone()),
            _ => None,
        });
    let dates: Vec<String> = dates.collect();
    Some((dates.iter().min()?.clone(), dates.iter().max()?.clone()))
}
