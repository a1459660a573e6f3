//! Holds the user's settings: parameters by the papers' names, for all methods that have them or
//! for one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error;
use serde_json::{Map, Value};

use pikerag_methods::spec::{Described, Description, Range, Weights};

use crate::catalogue::Method;
use pikerag_methods::Certainty;

/// The user's settings; other parameters keep the papers' values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// By parameter, for all methods that have it.
    all: BTreeMap<String, Value>,
    /// By method's name and parameter, for one method; these override the values for all.
    one: BTreeMap<String, BTreeMap<String, Value>>,
    /// Weights of retrieval. The settings keep the weights of hops with the methods, and the others
    /// in sections of their own.
    pub weights: Weights,
    /// The measure of a model's certainty.
    pub certainty: Certainty,
}

impl Overrides {
    /// The same overrides with these weights of retrieval.
    #[must_use]
    pub fn weighed(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Sets a parameter for all methods that have it.
    ///
    /// # Errors
    /// No method has it, or the value is out of range.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), BadParameter> {
        check(None, name, &value)?;
        self.all.insert(name.to_owned(), value);
        Ok(())
    }

    /// Values for a method; its own override those for all.
    fn values(&self, method: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.all.iter().chain(self.one.get(method).into_iter().flatten())
    }
}

impl Method {
    /// The method with the user's parameters.
    #[must_use]
    pub fn with(mut self, set: &Overrides) -> Self {
        let name = self.name();
        for (parameter, value) in set.values(name) {
            self.set(parameter, value);
        }
        self.weigh(&set.weights);
        // `pike` reads with the parameters of `adaptive`.
        if let Self::Pike(params) = &mut self {
            let mut reading = Self::Adaptive(params.reading);
            for (parameter, value) in set.values("adaptive") {
                reading.set(parameter, value);
            }
            if let Self::Adaptive(reading) = reading {
                params.reading = reading;
            }
        }
        self
    }
}

/// An invalid setting of `[methods]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadParameter {
    /// No method has such a parameter.
    #[error("there is no parameter `{name}`{}; choose from {known}", of(method.as_deref()))]
    Unknown {
        /// The method that it was set for; `None` for all.
        method: Option<String>,
        /// The name in the settings.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The value is out of range.
    #[error("`{name}`{} must be {range}, not {value}", of(method.as_deref()))]
    OutOfRange {
        /// The method that it was set for; `None` for all.
        method: Option<String>,
        /// Name of the parameter.
        name: String,
        /// The permitted values.
        range: Range,
        /// The given value.
        value: String,
    },
}

fn of(method: Option<&str>) -> String {
    method.map_or_else(String::new, |method| format!(" of `{method}`"))
}

/// Checks a value. A parameter of one name means the same in several methods, but their ranges
/// differ: one range that admits the value is enough.
fn check(method: Option<&str>, name: &str, value: &Value) -> Result<(), BadParameter> {
    let of_method = |described: &&Description| method.is_none_or(|method| described.name == method);
    let catalogue = Method::catalogue();
    let all: Vec<&Described> =
        catalogue.iter().filter(of_method).flat_map(|method| &method.parameters).collect();
    let mut found = all.iter().filter(|parameter| parameter.name == name).peekable();
    let method = method.map(str::to_owned);
    let Some(first) = found.peek().copied() else {
        let mut known: Vec<&str> = all.iter().map(|parameter| parameter.name).collect();
        known.sort_unstable();
        known.dedup();
        return Err(BadParameter::Unknown {
            method,
            name: name.to_owned(),
            known: known.join(", "),
        });
    };
    if found.any(|parameter| parameter.range.admits(value)) {
        return Ok(());
    }
    Err(BadParameter::OutOfRange {
        method,
        name: name.to_owned(),
        range: first.range,
        value: value.to_string(),
    })
}

/// The old and the new name of a renamed setting.
const RENAMED: (&str, &str) = ("net", "fallback");

impl<'de> Deserialize<'de> for Overrides {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut set = Self::default();
        for (name, value) in Map::<String, Value>::deserialize(deserializer)? {
            let name = if name == RENAMED.0 { RENAMED.1.to_owned() } else { name };
            match value {
                Value::Object(_) if name == "hops" => {
                    set.weights.hops = serde_json::from_value(value).map_err(Error::custom)?;
                }
                Value::Object(own) if Method::names().contains(&name.as_str()) => {
                    for (parameter, value) in own {
                        check(Some(&name), &parameter, &value).map_err(Error::custom)?;
                        set.one.entry(name.clone()).or_default().insert(parameter, value);
                    }
                }
                value if name == "certainty" => {
                    set.certainty = serde_json::from_value(value).map_err(Error::custom)?;
                }
                value => set.set(&name, value).map_err(Error::custom)?,
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: Value) -> Result<Overrides, String> {
        serde_json::from_value(text).map_err(|error| error.to_string())
    }

    fn with(name: &str, set: &Overrides) -> BTreeMap<String, Value> {
        name.parse::<Method>().unwrap().with(set).parameters()
    }

    #[test]
    fn overrides_reach_the_methods_that_have_them() {
        let set = read(json!({"n": 2, "k": 7, "delta": 0.25})).unwrap();
        let kar3 = with("kar3", &set);
        assert_eq!((&kar3["n"], &kar3["k"], &kar3["delta"]), (&json!(2), &json!(7), &json!(0.25)));
        let self_ask = with("self-ask-hr", &set);
        assert_eq!((&self_ask["n"], &self_ask["k"]), (&json!(2), &json!(7)));
        assert!(!with("self-ask-r", &set).contains_key("k"));
        assert_eq!(with("think-then-act", &set)["k"], json!(7));
        for name in ["direct", "tree-of-thought", "naive-rag-hr"] {
            assert_eq!(name.parse::<Method>().unwrap().with(&set).to_string(), name);
        }
    }

    /// PIKE-RAG §6.1 retrieves 16 chunks for each follow-up question, KAR³ §A.3 four.
    #[test]
    fn follow_up_questions_retrieve_as_many_chunks_as_set() {
        let set = read(json!({"chunks": 16, "rule": "printed"})).unwrap();
        assert_eq!(with("self-ask-r", &Overrides::default())["chunks"], json!(4));
        assert_eq!(with("self-ask-r", &set)["chunks"], json!(16));
        assert!(!with("self-ask", &set).contains_key("chunks"));
        let h_r = with("self-ask-hr", &set);
        assert_eq!((&h_r["chunks"], &h_r["rule"]), (&json!(16), &json!("printed")));
        assert_eq!(with("self-ask-hr", &Overrides::default())["rule"], json!("calibrated"));
        let own = "self-ask-hr".parse::<Method>().unwrap().with(&set);
        assert_eq!(own.to_string(), "self-ask-hr (own parameters)");
        assert!(!with("self-ask-r", &set).contains_key("rule"));
        assert_eq!(with("kar3-paper", &Overrides::default())["rule"], json!("printed"));
    }

    #[test]
    fn values_for_one_method_override_values_for_all() {
        let set = read(json!({"n": 2, "kar3": {"n": 3}})).unwrap();
        assert_eq!((&with("kar3", &set)["n"], &with("ircot", &set)["n"]), (&json!(3), &json!(2)));
        let set = read(json!({"net": "layers"})).unwrap();
        assert_eq!(with("kar3", &set)["fallback"], json!("layers"));
    }

    #[test]
    fn invalid_settings_are_refused() {
        let error = |text| read(text).unwrap_err();
        assert!(error(json!({"nn": 2})).starts_with("there is no parameter `nn`; choose from "));
        assert_eq!(error(json!({"n": 0})), "`n` must be 1 to 1000, not 0");
        assert_eq!(error(json!({"delta": 1.5})), "`delta` must be -1 to 1, not 1.5");
        assert!(error(json!({"kar3": {"depth": 1}})).contains("`depth` of `kar3`"));
        assert!(error(json!({"kar4": {"n": 1}})).contains("`kar4`"));
    }
}
