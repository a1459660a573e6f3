//! Reuses feedback on the same question, whatever the method: takes its verified answer while the documents hold
//! nothing new, else answers the question again and shows both (PIKE-RAG §4.1).

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Agreement, Answer, Check, Chunk, ChunkId, Citation, Context, Event, KeptVerified, Question,
    Reason, Recalled, Recollection, TaskClass, Verified, Worked, WrittenBy,
};
use pikerag_language::fold::folded;
use pikerag_reason::columns_of;

use crate::ports::{Ports, SolveError};
use crate::recall::{alike, feedback, is_same, numbers, shared_terms};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;

/// The least share of terms (Dice) of two answers that say the same; they must also share all numbers.
const SAME: f64 = 0.6;

/// The passages among which newer ones than a verified answer count.
const LOOKED_AT: usize = 8;

/// The feedback on a question.
pub struct Recall {
    /// The latest feedback on it, with the number of newer passages about it.
    latest: Option<(KeptVerified, usize)>,
    /// The class of a verified answer to a similar question, with that question.
    class_of_similar: Option<(TaskClass, String)>,
}

impl Recall {
    /// The feedback on this very question, without a model call; `None` if there is none. For methods other than
    /// `pike`, which also uses the class of a verified answer.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn on(ports: &Ports, question: &Question) -> Result<Option<Self>, SolveError> {
        let query = question.query();
        if !feedback(ports).await?.iter().any(|kept| is_same(query, &kept.verified.question)) {
            return Ok(None);
        }
        let params = RetrievalParams { chunks: LOOKED_AT, ..RetrievalParams::auto() };
        let hits = retrieve(ports, query, params).await?;
        let found: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
        Self::of(ports, question, &found).await.map(Some)
    }

    /// Looks the feedback up, without a model call. `found`: the passages that fit the question best now.
    pub(crate) async fn of(
        ports: &Ports,
        question: &Question,
        found: &[ChunkId],
    ) -> Result<Self, SolveError> {
        let query = question.query();
        let feedback = feedback(ports).await?;
        let similar =
            feedback.iter().filter(|kept| kept.verified.holds().is_some() && !kept.is_stale());
        let similar = similar.filter_map(|kept| {
            let share = alike(query, &kept.verified.question)?;
            Some((share, kept.verified.class?, kept.verified.question.clone()))
        });
        let similar = similar.max_by(|a, b| a.0.total_cmp(&b.0));
        let latest = feedback.into_iter().find(|kept| is_same(query, &kept.verified.question));
        let latest = match latest {
            Some(kept) => {
                let newer = ports.base.newer(kept.verified.id, found).await?.len();
                Some((kept, newer))
            }
            None => None,
        };
        Ok(Self { latest, class_of_similar: similar.map(|(_, class, question)| (class, question)) })
    }

    /// The class that a person has accepted: of this question while its passages are unchanged, or of a
    /// similar one where the rules are undecided.
    pub(crate) fn class(&self, is_undecided: bool) -> Option<(TaskClass, Reason)> {
        if let Some((kept, 0)) = &self.latest
            && let Verified { class: Some(class), by: who, .. } = &kept.verified
            && kept.verified.holds().is_some()
            && !kept.is_stale()
        {
            return Some((*class, Reason::VerifiedSameQuestion { by: who.clone() }));
        }
        let (class, question) = self.class_of_similar.as_ref().filter(|_| is_undecided)?;
        Some((*class, Reason::VerifiedSimilarQuestion { question: question.clone() }))
    }

    /// The verified answer, where it can be taken. It cannot if there is a reason to answer again
    /// (`why_again`), if its evidence has changed, or if a passage about it is new. Nor can it if the
    /// answer was computed, because a sum may change with a record far from the best passages. The trace
    /// shows the feedback in each case.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn taken(
        &self,
        ports: &Ports,
        run: &mut Run,
        why_again: Option<Recollection>,
    ) -> Result<Option<Answer>, SolveError> {
        let Some((kept, newer)) = &self.latest else { return Ok(None) };
        let verified = &kept.verified;
        let is_read =
            matches!(verified.class, None | Some(TaskClass::Factual | TaskClass::Bridging));
        let because = if verified.holds().is_none() {
            Recollection::Rejected
        } else if kept.is_stale() {
            Recollection::EvidenceChanged { titles: kept.changed.clone() }
        } else if 0 < *newer {
            Recollection::NewPassages { count: *newer }
        } else if !is_read {
            Recollection::ComputedAgain
        } else {
            why_again.unwrap_or(Recollection::Reused)
        };
        let is_taken = because == Recollection::Reused;
        run.push(Event::Recalled {
            verified: verified.id,
            question: verified.question.clone(),
            by: verified.by.clone(),
            because: because.into(),
        });
        match verified.holds().filter(|_| is_taken) {
            Some(text) => Ok(Some(self.answer(ports, run, kept, text).await?)),
            None => Ok(None),
        }
    }

    async fn answer(
        &self,
        ports: &Ports,
        run: &mut Run,
        kept: &KeptVerified,
        text: &str,
    ) -> Result<Answer, SolveError> {
        let verified = &kept.verified;
        let (context, citations) = grounds(ports, verified).await?;
        run.push(Event::Answered { answer: text.to_owned() });
        let recalled = Recalled { kept: kept.clone(), newer: 0, agreement: Agreement::Taken };
        let class = verified.class.unwrap_or(TaskClass::Factual);
        let worked = Worked { recalled: Some(recalled), ..Worked::of(class) };
        Ok(Answer {
            text: text.to_owned(),
            rationale: verified.note.clone(),
            refused: false,
            missing: Vec::new(),
            written_by: WrittenBy::Person { name: verified.by.clone() },
            citations,
            context,
            quotes: None,
            worked: Some(Box::new(worked)),
        })
    }

    /// Adds the feedback to an answer of now.
    pub fn beside(self, answer: &mut Answer) {
        let Some((kept, newer)) = self.latest else { return };
        let verified = &kept.verified;
        let agreement = match verified.holds() {
            Some(right) if says_the_same(&answer.text, right) => Agreement::Same,
            None if says_the_same(&answer.text, &verified.given) => Agreement::Rejected,
            _ => Agreement::Other,
        };
        let class = verified.class.unwrap_or(TaskClass::Factual);
        let worked = answer.worked.get_or_insert_with(|| Box::new(Worked::of(class)));
        worked.recalled = Some(Recalled { kept, newer, agreement });
    }
}

/// The evidence of a verified answer, as passages and citations.
async fn grounds(
    ports: &Ports,
    verified: &Verified,
) -> Result<(Context, Vec<Citation>), SolveError> {
    let ids: Vec<ChunkId> = verified.grounds.iter().map(|ground| ground.chunk).collect();
    let held = ports.base.chunks(&ids).await?;
    let by_id: BTreeMap<ChunkId, &Chunk> = held.iter().map(|chunk| (chunk.id, chunk)).collect();
    let mut context = Context::default();
    let mut citations = Vec::new();
    for ground in &verified.grounds {
        let Some(chunk) = by_id.get(&ground.chunk) else { continue };
        context.add(0, (*chunk).clone());
        citations.push(Citation {
            number: citations.len() + 1,
            chunk: ground.chunk,
            uri: chunk.uri.clone(),
            title: ground.title.clone(),
            page: ground.page,
            span: ground.span,
            boxes: Vec::new(),
            quote: ground.quote.clone(),
            columns: columns_of(chunk, ground.span),
            best: None,
            check: Check::Verified,
            replaced_by: None,
            corrected: false,
        });
    }
    Ok((context, citations))
}

/// Whether two answers say the same, perhaps in other words. They must list equally many things, and one must
/// contain the other, or they must share most terms and all numbers.
fn says_the_same(one: &str, other: &str) -> bool {
    let listed = |text: &str| text.trim().matches([';', '；', '、', '\n']).count();
    if listed(one) != listed(other) {
        return false;
    }
    let (a, b) = (format!(" {} ", folded(one)), format!(" {} ", folded(other)));
    if a.trim().is_empty() || b.trim().is_empty() {
        return a == b;
    }
    a.contains(&b)
        || b.contains(&a)
        || (SAME <= shared_terms(one, other) && numbers(one) == numbers(other))
}

#[cfg(test)]
mod tests {
    use super::says_the_same;

    #[test]
    fn answers_say_the_same_in_other_words_but_not_with_other_numbers() {
        assert!(says_the_same("Iris Brandt.", "It is Iris Brandt"));
        assert!(says_the_same("校准由伊丽丝完成。", "校准由伊丽丝完成"));
        assert!(!says_the_same(
            "There were 45 approvals in 2016.",
            "There were 46 approvals in 2016."
        ));
        assert!(says_the_same("45", "There were 45 approvals in 2016."));
        assert!(!says_the_same("R-1; R-2", "R-1; R-2; R-9"));
        assert!(!says_the_same("4", "14"));
        assert!(!says_the_same("", "Iris"));
    }
}
