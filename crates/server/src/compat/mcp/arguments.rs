//! Reads the arguments of the tools. Unknown arguments are refused, so that a misspelt filter never
//! means that everything may be seen; `null` equals an absent argument.

use pikerag_engine::knowledge::Filter;
use pikerag_engine::narrate::Language;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) question: String,
    pub(super) method: Option<String>,
    pub(super) filter: Option<Filter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) query: String,
    pub(super) k: Option<usize>,
    pub(super) filter: Option<Filter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fetch {
    pub(super) id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GetChunk {
    pub(super) chunk: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSources {
    pub(super) after: Option<String>,
    pub(super) filter: Option<Filter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphNeighbours {
    pub(super) of: String,
    pub(super) depth: Option<u8>,
}

/// The language of the words that a call is about.
pub(super) fn language(given: &JsonObject) -> Language {
    let words = ["question", "query", "of"].iter().find_map(|name| given.get(*name)?.as_str());
    Language::of(words.unwrap_or_default())
}

/// Refuses an argument that the tool does not have.
///
/// # Errors
/// The first such argument, and the arguments that the tool has.
pub(super) fn check_names(tool: &Tool, given: &JsonObject) -> Result<(), Problem> {
    let has = tool.input_schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| has.is_some_and(|has| has.contains_key(name));
    let Some(unknown) = given.keys().find(|name| !is_known(name)) else { return Ok(()) };
    let names = has.into_iter().flatten().map(|(name, _)| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    let tool = &tool.name;
    let english = names.join(", ");
    let chinese = names.join("、");
    Err(Problem::bad_request(format!("unknown argument `{unknown}`; `{tool}` takes {english}"))
        .in_chinese(format!("未知的参数 `{unknown}`；`{tool}` 的参数：{chinese}")))
}

/// Removes `base`, which every tool has, from the arguments.
///
/// # Errors
/// `base` is not text.
pub(super) fn base(given: &mut JsonObject) -> Result<Option<String>, Problem> {
    match given.remove("base") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(_) => Err(Problem::bad_request("`base` must be text").in_chinese("`base` 必须是文字")),
    }
}

/// Reads the remaining arguments.
///
/// # Errors
/// The first argument that is missing, unknown or of another type, by name.
pub(super) fn read<T: DeserializeOwned>(given: JsonObject) -> Result<T, Problem> {
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let argument = error.path().to_string();
        let problem = error.into_inner().to_string();
        let chinese = in_chinese(&argument, &problem);
        // For a missing or unknown argument the path is the whole object, or the message already
        // names it.
        let english = match argument == "." || problem.contains(&format!("`{argument}`")) {
            true => problem,
            false => format!("`{argument}`: {problem}"),
        };
        Problem::bad_request(english).in_chinese(chinese)
    })
}

/// The cause in Chinese; other words of the JSON reader stay English.
fn in_chinese(argument: &str, problem: &str) -> String {
    match problem.strip_prefix("missing field ") {
        Some(name) => format!("缺少参数 {name}"),
        None if argument == "." => format!("参数有误：{problem}"),
        None => format!("参数 `{argument}` 有误：{problem}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::compat::mcp::tools;

    fn refused<T: DeserializeOwned>(given: &Value) -> String {
        let given = given.as_object().unwrap().clone();
        read::<T>(given).err().map(|problem| json!(problem).to_string()).expect("it is refused")
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_known_ones() {
        for tool in tools::all() {
            let mut given = JsonObject::from_iter([("filters".to_owned(), json!(["folder=law"]))]);
            let refused = check_names(&tool, &given).map_err(|problem| problem.detail());
            let refused = refused.unwrap_err();
            assert!(refused.contains("unknown argument `filters`"), "{refused}");
            let known = tool.input_schema["properties"].as_object().unwrap();
            assert!(known.keys().all(|name| refused.contains(&format!("`{name}`"))), "{refused}");
            assert_eq!(tool.input_schema["additionalProperties"], false);
            given = known.keys().map(|name| (name.clone(), Value::Null)).collect();
            assert!(check_names(&tool, &given).is_ok());
        }
    }

    #[test]
    fn reports_have_the_language_of_the_question() {
        let of = |given: Value| language(given.as_object().unwrap());
        assert_eq!(of(json!({"question": "起重机能吊多重？"})), Language::Chinese);
        assert_eq!(of(json!({"query": "crane", "base": "法律"})), Language::English);
        assert_eq!(of(json!({})), Language::English);
    }

    #[test]
    fn names_the_argument_that_is_wrong() {
        for (given, named) in [
            (json!({}), "missing field `question`"),
            (json!({"question": "q", "filters": ["folder=law"]}), "unknown field `filters`"),
            (json!({"question": 3}), "`question`: invalid type"),
            (json!({"question": "q", "filter": ["no condition"]}), "`filter"),
        ] {
            let refused = refused::<Ask>(&given);
            assert!(refused.contains(named), "{refused}");
            assert!(refused.contains("detail_zh"), "{refused}");
        }
        assert!(refused::<Ask>(&json!({})).contains("缺少参数 `question`"));
        assert!(refused::<Search>(&json!({"query": "q", "k": -1})).contains("`k`: invalid value"));
        let absent = json!({"question": "q", "method": null, "filter": null});
        assert!(read::<Ask>(absent.as_object().unwrap().clone()).is_ok());
    }

    /// The reader accepts every argument in a tool's schema.
    #[test]
    fn reads_every_argument_in_a_tools_schema() {
        for tool in tools::all() {
            for name in tool.input_schema["properties"].as_object().unwrap().keys() {
                let mut given = JsonObject::from_iter([(name.clone(), Value::Null)]);
                assert_eq!(base(&mut given).ok(), Some(None));
                let problem = match &*tool.name {
                    tools::ASK => read::<Ask>(given).err(),
                    tools::SEARCH => read::<Search>(given).err(),
                    tools::FETCH => read::<Fetch>(given).err(),
                    tools::GET_CHUNK => read::<GetChunk>(given).err(),
                    tools::LIST_SOURCES => read::<ListSources>(given).err(),
                    tools::GRAPH_NEIGHBOURS => read::<GraphNeighbours>(given).err(),
                    other => panic!("{other} reads nothing"),
                };
                let problem = problem.map(|problem| json!(problem).to_string()).unwrap_or_default();
                assert!(!problem.contains("unknown field"), "{}: {problem}", tool.name);
            }
        }
    }
}
