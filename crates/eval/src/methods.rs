//! Reads the parameters in a method's name: `kar3:n=3:k=2` is `kar3` with N = 3 and k = 2.

use toml::{Table, Value};

use crate::EvalError;

/// A method as it is named for a run; the whole name identifies its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The user's text, parameters included, without blanks around it.
    pub label: String,
    /// The method's own name; it is not checked here.
    pub method: String,
    /// Its parameters by name, each a number, a truth value or a text.
    pub overrides: Table,
}

/// Reads a method's name with its parameters.
///
/// # Errors
/// A parameter is no `name=value`.
pub fn named(label: &str) -> Result<Named, EvalError> {
    let label = label.trim();
    let mut parts = label.split(':');
    let method = parts.next().unwrap_or_default().to_owned();
    let mut overrides = Table::new();
    for part in parts {
        let (key, value) =
            part.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                EvalError::BadMethod { label: label.to_owned(), part: part.to_owned() }
            })?;
        let value = value.parse::<i64>().map(Value::Integer).or_else(|_| {
            value.parse::<f64>().map(Value::Float).map_err(|_| match value {
                "true" => Value::Boolean(true),
                "false" => Value::Boolean(false),
                text => Value::String(text.to_owned()),
            })
        });
        overrides.insert(key.to_owned(), value.unwrap_or_else(|other| other));
    }
    Ok(Named { label: label.to_owned(), method, overrides })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_follow_the_name() {
        let read = named(" kar3:n=3:delta=0.4:x=true:y=some ").unwrap();
        assert_eq!(
            (read.label.as_str(), read.method.as_str()),
            ("kar3:n=3:delta=0.4:x=true:y=some", "kar3")
        );
        assert_eq!(read.overrides["n"].as_integer(), Some(3));
        assert_eq!(read.overrides["delta"].as_float(), Some(0.4));
        assert_eq!(read.overrides["x"].as_bool(), Some(true));
        assert_eq!(read.overrides["y"].as_str(), Some("some"));
        assert!(named("kar3").unwrap().overrides.is_empty());
    }

    #[test]
    fn malformed_parameters_are_named() {
        for label in ["kar3:n", "kar3:=3", "kar3:"] {
            let error = named(label).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{label}`: ")), "{error}");
        }
    }
}
