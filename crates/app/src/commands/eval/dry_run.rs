//! `eval --dry-run`: what would the run cost? Nothing is asked and nothing is left behind.

use pikerag_coordinate::estimate::estimate;
use pikerag_eval::cost_model::{Bill, Expected, Setting, examining, expected, judging};
use pikerag_knowledge::Role;
use serde_json::{Value, json};

use super::plan::{Corpus, Plan, Set, method};
use crate::files;
use crate::output::{note, say, say_json};
use crate::wiring::Wiring;

/// Tokens of a chunk where the corpus is not at hand: a paragraph of the papers' data sets (KAR³
/// Table 12, less the prompt).
const USUAL_CHUNK: u64 = 110;

/// Prints calls, tokens and money per data set and method: as usual, and at most.
pub(super) async fn dry_run(wiring: &Wiring, plan: &Plan) -> anyhow::Result<u8> {
    let mut lines = Vec::new();
    for set in &plan.sets {
        for (name, forecast) in forecasts(wiring, plan, set)? {
            lines.push((set.name.clone(), name, forecast));
        }
    }
    if wiring.json {
        let mut out = Vec::new();
        for (data_set, name, forecast) in &lines {
            out.push(json!({
                "data_set": data_set, "method": name, "forecast": forecast,
                "usd": forecast.map(|f| json!({
                    "typical": usd(wiring, &f.typical), "most": usd(wiring, &f.most),
                })),
            }));
        }
        say_json(&json!({ "expected": out, "indexing": indexing(wiring, plan).await? }))?;
        return Ok(0);
    }
    say("as it usually goes, and at most; prompt + reply tokens; prices as in [prices]");
    for (data_set, name, forecast) in &lines {
        say(&format!("{data_set:<14} {name:<24} {}", line(wiring, forecast.as_ref())));
    }
    for bill in indexing(wiring, plan).await? {
        let shown = |key: &str| match bill.get(key) {
            Some(Value::String(text)) => text.clone(),
            other => other.map_or_else(String::new, Value::to_string),
        };
        say(&format!(
            "indexing {}: {} calls, {} + {} tokens",
            shown("data_set"),
            shown("calls"),
            shown("prompt_tokens"),
            shown("completion_tokens")
        ));
    }
    note("nothing was asked, nothing was written; what is in a ledger already is not paid again");
    Ok(0)
}

fn forecasts(
    wiring: &Wiring,
    plan: &Plan,
    set: &Set,
) -> anyhow::Result<Vec<(String, Option<Expected>)>> {
    let most_chunk_tokens = wiring.ingest_params().chunks.max_tokens;
    let set_by_user = wiring.overrides();
    let setting = Setting {
        questions: set.items.len() as u64,
        n: set_by_user.n.map(|n| n.get() as u64),
        k: None,
        chunk_tokens: chunk_tokens(set).min(most_chunk_tokens),
        most_chunk_tokens,
    };
    let mut all = Vec::new();
    for named in &plan.methods {
        let own = Setting {
            n: named.number("n").or(setting.n),
            k: named.number("k").or(setting.k),
            ..setting
        };
        let forecast = expected(&named.label, &own);
        if forecast.is_none() {
            method(wiring, named)?; // A name that nothing bears is an error here too.
        }
        all.push((named.label.clone(), forecast));
    }
    let answers = (set.items.len() * plan.methods.len()) as u64;
    if plan.judge {
        all.push(("(judge)".to_owned(), Some(judging(answers))));
    }
    for (is_wanted, name) in
        [(plan.consistency, "(consistency)"), (plan.perplexity, "(perplexity)")]
    {
        if is_wanted {
            all.push((name.to_owned(), Some(examining(answers, &setting))));
        }
    }
    Ok(all)
}

/// Of the paragraphs that come with the questions, by four letters a token.
fn chunk_tokens(set: &Set) -> u64 {
    let pool = set.data.pool(&set.items);
    let letters: usize = pool.iter().map(|paragraph| paragraph.text.chars().count()).sum();
    match pool.len() {
        0 => USUAL_CHUNK,
        paragraphs => (letters / paragraphs / 4) as u64,
    }
}

fn line(wiring: &Wiring, forecast: Option<&Expected>) -> String {
    let Some(Expected { typical, most, basis }) = forecast else {
        return "nothing is known about this method's calls".to_owned();
    };
    let shown = |bill: &Bill| {
        let Bill { calls, prompt_tokens, completion_tokens } = bill;
        let money = usd(wiring, bill).map_or(String::new(), |usd| format!(", ${usd:.2}"));
        format!("{calls} calls, {prompt_tokens} + {completion_tokens} tokens{money}")
    };
    format!("{}; at most {} ({basis})", shown(typical), shown(most))
}

/// By the dearest of the models that answer questions; none where no price is known.
fn usd(wiring: &Wiring, bill: &Bill) -> Option<f64> {
    let prices = wiring.prices_by_role();
    let roles = [Role::Propose, Role::Select, Role::Answer, Role::Judge];
    let costs = roles.iter().filter_map(|role| prices.get(role)).map(|(prompt, reply)| {
        (bill.prompt_tokens as f64 * prompt + bill.completion_tokens as f64 * reply) / 1e6
    });
    costs.reduce(f64::max)
}

/// What making the bases would cost, where the corpora are files.
async fn indexing(wiring: &Wiring, plan: &Plan) -> anyhow::Result<Vec<Value>> {
    let (reader, params) = (wiring.reader()?, wiring.ingest_params());
    let available = wiring.available();
    let mut bills = Vec::new();
    let mut counted: Vec<&Corpus> = Vec::new();
    for set in &plan.sets {
        let Corpus::Files(paths) = &set.corpus else { continue };
        if counted.contains(&&set.corpus) {
            continue;
        }
        counted.push(&set.corpus);
        let found = files::find(paths);
        let bill = estimate(None, reader.as_ref(), &found.files, &params, &available).await?;
        bills.push(json!({
            "data_set": set.name, "chunks": bill.chunks, "calls": bill.calls,
            "prompt_tokens": bill.usage.prompt_tokens,
            "completion_tokens": bill.usage.completion_tokens,
            "usd": wiring.price_of_estimate(&bill),
        }));
    }
    Ok(bills)
}
