//! Puts the values of nested columns together: each list, struct and map becomes JSON text.
//!
//! A column of lists and structs is stored as its leaves. Beside each value stand two levels: how many of the
//! optional and repeated fields above it are there (definition), and which list it goes on with (repetition).

use std::ops::Range;

use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::leaf::Leaf;
use super::value::Value;
use super::{Budget, Stop, damaged};

/// A column of the table.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Places in the row group.
    pub(super) leaves: Range<usize>,
    pub(super) shape: Shape,
}

/// How the values of leaves make a cell. Places of leaves count within the column.
#[derive(Debug)]
pub(super) enum Shape {
    Leaf(usize),
    Struct {
        leaves: Range<usize>,
        /// The definition level from which it is there.
        filled: i16,
        fields: Vec<(String, Shape)>,
    },
    List {
        leaves: Range<usize>,
        /// The definition level at which it is there, and empty.
        empty: i16,
        /// The repetition level that goes on with it.
        repeats: i16,
        item: Item,
    },
}

/// What a list repeats.
#[derive(Debug)]
pub(super) enum Item {
    Value(Box<Shape>),
    /// Of a map.
    Entry(Box<(Shape, Shape)>),
}

/// The columns, in their order.
pub(super) fn columns(schema: &SchemaDescriptor) -> Result<Vec<Column>, String> {
    let mut n_leaves = 0;
    let mut columns = Vec::new();
    for field in schema.root_schema().get_fields() {
        let first = n_leaves;
        let mut within = 0;
        let shape = shape(field, Levels::default(), &mut within)?;
        n_leaves += within;
        columns.push(Column { name: field.name().to_owned(), leaves: first..n_leaves, shape });
    }
    Ok(columns)
}

/// Those of a field that is there.
#[derive(Clone, Copy, Default)]
struct Levels {
    definition: i16,
    repetition: i16,
}

impl Levels {
    fn optional(self) -> Self {
        Self { definition: self.definition + 1, ..self }
    }

    fn repeated(self) -> Self {
        Self { definition: self.definition + 1, repetition: self.repetition + 1 }
    }
}

/// The shape of a field within others of these levels.
fn shape(field: &Type, levels: Levels, next: &mut usize) -> Result<Shape, String> {
    match field.get_basic_info().repetition() {
        Repetition::REQUIRED => required(field, levels, next),
        Repetition::OPTIONAL => required(field, levels.optional(), next),
        Repetition::REPEATED => {
            let item = |next: &mut usize| {
                Ok(Item::Value(Box::new(required(field, levels.repeated(), next)?)))
            };
            list(levels, next, item)
        }
    }
}

/// The shape of a field whose repetition is in the levels already.
fn required(field: &Type, levels: Levels, next: &mut usize) -> Result<Shape, String> {
    if field.is_primitive() {
        *next += 1;
        return Ok(Shape::Leaf(*next - 1));
    }
    if let Some(repeated) = repeated_field(field) {
        return list(levels, next, |next| item(field, repeated, levels.repeated(), next));
    }
    let first = *next;
    let mut fields = Vec::new();
    for child in field.get_fields() {
        fields.push((child.name().to_owned(), shape(child, levels, next)?));
    }
    if fields.is_empty() {
        return Err(format!("`{}` is a group without fields", field.name()));
    }
    Ok(Shape::Struct { leaves: first..*next, filled: levels.definition, fields })
}

fn list(
    levels: Levels,
    next: &mut usize,
    item: impl FnOnce(&mut usize) -> Result<Item, String>,
) -> Result<Shape, String> {
    let first = *next;
    let item = item(next)?;
    let Levels { definition, repetition } = levels;
    Ok(Shape::List { leaves: first..*next, empty: definition, repeats: repetition + 1, item })
}

/// The one repeated field of a list or map.
fn repeated_field(field: &Type) -> Option<&Type> {
    match field.get_fields() {
        [only] if is_list(field) || is_map(field) => {
            let only = only.as_ref();
            (only.get_basic_info().repetition() == Repetition::REPEATED).then_some(only)
        }
        _ => None,
    }
}

fn is_list(field: &Type) -> bool {
    let info = field.get_basic_info();
    info.converted_type() == ConvertedType::LIST
        || info.logical_type_ref() == Some(&LogicalType::List)
}

fn is_map(field: &Type) -> bool {
    let info = field.get_basic_info();
    matches!(info.converted_type(), ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
        || info.logical_type_ref() == Some(&LogicalType::Map)
}

/// What the repeated field of a list or map holds. Older programs leave out the group between list and element; the rules
/// that tell are those of the format's specification (LogicalTypes.md, "Lists").
fn item(field: &Type, repeated: &Type, levels: Levels, next: &mut usize) -> Result<Item, String> {
    let value = |shape| Item::Value(Box::new(shape));
    if repeated.is_primitive() {
        return Ok(value(required(repeated, levels, next)?));
    }
    match repeated.get_fields() {
        [key, of_key] if is_map(field) => {
            let key = shape(key, levels, next)?;
            Ok(Item::Entry(Box::new((key, shape(of_key, levels, next)?))))
        }
        [only] if !is_list(repeated) && !is_element(field, repeated) => {
            Ok(value(shape(only, levels, next)?))
        }
        _ => Ok(value(required(repeated, levels, next)?)),
    }
}

/// Is the repeated group itself the element, a struct of one field?
fn is_element(list: &Type, repeated: &Type) -> bool {
    repeated.name() == "array" || repeated.name() == format!("{}_tuple", list.name())
}

impl Shape {
    /// The next cell of a column; nothing for null.
    pub(super) fn cell(&self, leaves: &mut [Leaf], budget: &mut Budget) -> Result<String, Stop> {
        let cell = match self {
            Self::Leaf(at) => match leaf(leaves, *at)?.take()? {
                Value::Null => String::new(),
                Value::Bare(text) | Value::Text(text) => text,
            },
            nested => {
                let mut json = Json { text: String::new(), budget };
                nested.write(leaves, &mut json)?;
                if json.text == "null" { String::new() } else { json.text }
            }
        };
        if leaves.iter().all(Leaf::is_between_rows) {
            return Ok(cell);
        }
        Err(damaged("its parts have different lengths"))
    }

    fn write(&self, leaves: &mut [Leaf], json: &mut Json) -> Result<(), Stop> {
        match self {
            Self::Leaf(at) => match leaf(leaves, *at)?.take()? {
                Value::Null => json.push("null"),
                Value::Bare(text) => json.push(&text),
                Value::Text(text) => json.push_quoted(&text),
            },
            Self::Struct { leaves: own, filled, fields } => {
                if leaf(leaves, own.start)?.definition()? < *filled {
                    skip(leaves, own)?;
                    return json.push("null");
                }
                for (number, (name, shape)) in fields.iter().enumerate() {
                    json.push(if number == 0 { "{" } else { "," })?;
                    json.push_quoted(name)?;
                    json.push(":")?;
                    shape.write(leaves, json)?;
                }
                json.push("}")
            }
            Self::List { leaves: own, empty, repeats, item } => {
                let definition = leaf(leaves, own.start)?.definition()?;
                let (open, close) = match item {
                    Item::Value(_) => ("[", "]"),
                    Item::Entry(_) => ("{", "}"),
                };
                if definition < *empty {
                    skip(leaves, own)?;
                    return json.push("null");
                }
                json.push(open)?;
                if definition == *empty {
                    skip(leaves, own)?;
                    return json.push(close);
                }
                loop {
                    item.write(leaves, json)?;
                    if leaf(leaves, own.start)?.repetition() < *repeats {
                        return json.push(close);
                    }
                    json.push(",")?;
                }
            }
        }
    }
}

impl Item {
    fn write(&self, leaves: &mut [Leaf], json: &mut Json) -> Result<(), Stop> {
        match self {
            Self::Value(shape) => shape.write(leaves, json),
            Self::Entry(entry) => {
                let (key, value) = entry.as_ref();
                // JSON has texts as keys only.
                let start = json.text.len();
                key.write(leaves, json)?;
                let key = json.text.split_off(start);
                match key.starts_with('"') {
                    true => json.text.push_str(&key),
                    false => json.push_quoted(&key)?,
                }
                json.push(":")?;
                value.write(leaves, json)
            }
        }
    }
}

/// JSON as it is written.
struct Json<'a> {
    text: String,
    budget: &'a mut Budget,
}

impl Json<'_> {
    fn push(&mut self, text: &str) -> Result<(), Stop> {
        self.budget.take(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn push_quoted(&mut self, text: &str) -> Result<(), Stop> {
        self.push(&serde_json::Value::from(text).to_string())
    }
}

fn leaf(leaves: &mut [Leaf], at: usize) -> Result<&mut Leaf, Stop> {
    leaves.get_mut(at).ok_or_else(|| damaged("it has fewer parts than its schema names"))
}

/// Passes over a value that none of the leaves has.
fn skip(leaves: &mut [Leaf], own: &Range<usize>) -> Result<(), Stop> {
    for at in own.clone() {
        leaf(leaves, at)?.take()?;
    }
    Ok(())
}
