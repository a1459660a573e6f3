//! What was paid, and how is that told?

use pikerag_knowledge::ModelError;
use pikerag_models::Spending;
use serde_json::json;

use super::Wiring;

impl Wiring {
    /// What was really paid in this run, by role; `None` if nothing was.
    pub(crate) fn spent_line(&self) -> Option<String> {
        let total = self.meter.total();
        if total.calls == 0 {
            return None;
        }
        let by_role: Vec<String> = self
            .meter
            .spending()
            .iter()
            .map(|part| format!("{} {}", part.role, part.calls))
            .collect();
        Some(format!(
            "paid in this run: {} calls ({}), {} + {} tokens{}",
            total.calls,
            by_role.join(", "),
            total.usage.prompt_tokens,
            total.usage.completion_tokens,
            money(&total)
        ))
    }

    pub(crate) fn spent_json(&self) -> serde_json::Value {
        let line = |part: &Spending| {
            json!({
                "role": part.role, "model": part.model, "calls": part.calls,
                "prompt_tokens": part.usage.prompt_tokens, "completion_tokens": part.usage.completion_tokens,
                "usd": part.money.dollars(),
            })
        };
        json!({ "total": line(&self.meter.total()), "parts": self.meter.spending().iter().map(line).collect::<Vec<_>>() })
    }
}

fn money(total: &Spending) -> String {
    match total.money.dollars() {
        0.0 => String::new(),
        dollars => format!(", {dollars:.4} US dollars"),
    }
}

/// Whether an error came from a spent budget.
pub(crate) fn is_over_budget(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(ModelError::OverBudget { .. })))
}
