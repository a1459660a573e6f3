//! Does the steps around every method: verified answers, the documents' spelling and words, marks of
//! replaced documents.

use pikerag_knowledge::{Answer, Question, Role};
use pikerag_methods::tagging::in_documents_words;
use pikerag_methods::{
    Ports, Recall, Run, SolveError, TagUse, VerifiedUse, in_documents_spelling, mark_replaced,
    report_spelling,
};

use super::{Method, solve};

/// Solves a question, or takes a verified answer to it, and marks citations of replaced documents.
pub(super) async fn solve_and_mark(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    method: Method,
    uses: (TagUse, VerifiedUse),
) -> Result<Answer, SolveError> {
    let mut answer = solve_or_recall(ports, run, question, method, uses).await?;
    mark_replaced(ports, run.editions(), &mut answer).await?;
    Ok(answer)
}

/// Solves a question, or takes a verified answer to it.
async fn solve_or_recall(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    method: Method,
    (tags, verified): (TagUse, VerifiedUse),
) -> Result<Answer, SolveError> {
    // `pike` looks for verified answers itself.
    if verified == VerifiedUse::Ignored || matches!(method, Method::Pike(_)) {
        return solve_respelled(ports, run, question, method, tags).await;
    }
    let Some(recall) = Recall::on(ports, question).await? else {
        return solve_respelled(ports, run, question, method, tags).await;
    };
    if let Some(answer) = recall.taken(ports, run, None).await? {
        return Ok(answer);
    }
    let mut answer = solve_respelled(ports, run, question, method, tags).await?;
    recall.beside(&mut answer);
    Ok(answer)
}

/// Solves a question; without a model, the search uses the documents' words for mistyped ones.
async fn solve_respelled(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    method: Method,
    tags: TagUse,
) -> Result<Answer, SolveError> {
    // A model understands typing errors. `pike` finds a verified answer by the question as it was asked.
    let is_searched = ports.models.of(Role::Answer).is_none()
        && 0 < method.cost().most_chunks
        && !(matches!(method, Method::Pike(_)) && Recall::on(ports, question).await?.is_some());
    let respelled = match is_searched {
        true => in_documents_spelling(ports, run, question).await?,
        false => None,
    };
    let asked = respelled.as_ref().unwrap_or(question);
    let mut answer = solve_reworded(ports, run, asked, method, tags).await?;
    report_spelling(&mut answer, run, question);
    Ok(answer)
}

/// Solves a question; the search uses the documents' words if its tags are set so.
async fn solve_reworded(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    method: Method,
    tags: TagUse,
) -> Result<Answer, SolveError> {
    if tags == TagUse::Off || matches!(method, Method::NaiveRag(_)) {
        return solve(ports, run, question, method).await;
    }
    let question = in_documents_words(ports, run, question, tags).await?;
    solve(ports, run, &question, method).await
}
