//! Describes the methods that answer questions (`methods`).

use std::collections::BTreeMap;

use pikerag_baselines::Method;
use pikerag_methods::spec::{Cost, Description};
use serde::Serialize;
use serde_json::Value;

use crate::engine::Session;
use crate::error::Result;

/// A method with its current settings.
#[derive(Clone, Debug, Serialize)]
pub struct MethodResponse {
    /// The description, with the defaults of its parameters.
    #[serde(flatten)]
    pub description: Description,
    /// The parameters that have a value under these settings.
    pub set: BTreeMap<String, Value>,
    /// The cost of one question under these settings.
    pub cost: Cost,
}

/// All methods, in the order of the documentation.
///
/// # Examples
/// ```no_run
/// # fn f() {
/// for method in pikerag_engine::methods() {
///     println!("{} ({}): {}", method.name, method.source, method.summary);
/// }
/// # }
/// ```
pub fn methods() -> Vec<Description> {
    Method::catalogue()
}

/// One method with its current settings.
///
/// # Errors
/// There is no such method.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let method = pikerag_engine::method_by_name(session, "kar3")?;
/// for (name, value) in &method.set {
///     println!("{name} = {value}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn method_by_name(session: &Session, name: &str) -> Result<MethodResponse> {
    let (description, method) = (Method::describe(name.trim())?, session.method(name)?);
    Ok(MethodResponse { description, set: method.parameters(), cost: method.cost() })
}
