//! Holds the chat models by role.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::models::{ChatModel, Role};

/// Chat models by role. Without any, the program works offline.
#[derive(Clone, Default)]
pub struct ChatModels {
    /// Serves every role without a model of its own.
    pub default: Option<Arc<dyn ChatModel>>,
    /// Models of single roles.
    pub by_role: BTreeMap<Role, Arc<dyn ChatModel>>,
}

impl ChatModels {
    /// The same model for every role.
    pub fn one(model: Arc<dyn ChatModel>) -> Self {
        Self { default: Some(model), ..Self::default() }
    }

    /// The model of a role, if there is one.
    pub fn of(&self, role: Role) -> Option<&dyn ChatModel> {
        self.shared(role).map(AsRef::as_ref)
    }

    /// The model of a role as a shared reference.
    pub fn shared(&self, role: Role) -> Option<&Arc<dyn ChatModel>> {
        self.by_role.get(&role).or(self.default.as_ref())
    }

    /// These models for other roles than those.
    #[must_use]
    pub fn without(&self, roles: &[Role]) -> Self {
        let kept = Role::ALL.iter().filter(|role| !roles.contains(role));
        let by_role = kept.filter_map(|&role| Some((role, Arc::clone(self.shared(role)?))));
        Self { default: None, by_role: by_role.collect() }
    }

    /// These models, each wrapped.
    #[must_use]
    pub fn wrapped(self, wrap: impl Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel>) -> Self {
        let by_role = self.by_role.into_iter().map(|(role, model)| (role, wrap(model))).collect();
        Self { default: self.default.map(&wrap), by_role }
    }
}
