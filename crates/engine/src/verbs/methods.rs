//! `methods`: which ways to answer are there, and what does each say of itself?

use std::collections::BTreeMap;

use pikerag_baselines::Method;
use pikerag_methods::spec::{Cost, Description};
use serde::Serialize;
use serde_json::Value;

use crate::engine::Session;
use crate::error::Result;

/// A method as it is set.
#[derive(Clone, Debug, Serialize)]
pub struct MethodResponse {
    /// What its file says of it, with the defaults of its parameters.
    #[serde(flatten)]
    pub description: Description,
    /// The parameters that have a value under these settings.
    pub set: BTreeMap<String, Value>,
    /// What one question costs under these settings.
    pub cost: Cost,
}

/// Every method by its name, in the order of the documentation.
pub fn methods() -> Vec<Description> {
    Method::catalogue()
}

/// One method, as it is set.
///
/// # Errors
/// There is no such method.
pub fn method_by_name(session: &Session, name: &str) -> Result<MethodResponse> {
    let (description, method) = (Method::describe(name.trim())?, session.method(name)?);
    Ok(MethodResponse { description, set: method.parameters(), cost: method.cost() })
}
