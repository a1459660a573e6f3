//! Measures how often the modules of RA-ISF agree with labels (RA-ISF §5.5, Table 4).

use pikerag_eval::runner::ends_every_answer;
use pikerag_knowledge::{Question, Role, Spent, error_chain};
use pikerag_methods::ra_isf::modules::{knows, parts, relevant_each};
use pikerag_methods::{MethodLabel, Ports, Run, RunParams, SolveError};
use pikerag_prompt::{Prompt, YesNo, numbered, one_line, quiet_headings};
use serde::{Deserialize, Serialize};

use crate::label::{Labelled, Module};

// One word; more for reasoning models.
const CONSISTENT: Prompt = Prompt::new(Role::Judge, include_str!("prompts/consistent.md"), 1024);

/// A share of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Verdicts that agree.
    pub agree: usize,
    /// All verdicts, unreadable replies among them.
    pub all: usize,
    /// Replies that stayed unreadable; they do not agree.
    pub unreadable: usize,
}

impl Share {
    fn count(&mut self, agrees: Option<bool>) {
        self.all += 1;
        self.agree += usize::from(agrees == Some(true));
        self.unreadable += usize::from(agrees.is_none());
    }

    /// The share in percent; `None` without verdicts.
    pub fn percent(&self) -> Option<f64> {
        (0 < self.all).then(|| 100.0 * self.agree as f64 / self.all as f64)
    }
}

impl std::ops::AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.agree += other.agree;
        self.all += other.all;
        self.unreadable += other.unreadable;
    }
}

/// The agreement of the three modules with labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// `M_know`: it says *yes* where the closed-book answer is right, else *no*.
    pub know: Share,
    /// `M_rel`: its verdict on each passage is the label.
    pub relevant: Share,
    /// `M_decom`: a judging model finds that each sub-question keeps to the meaning of the question. No
    /// sub-questions, or the question again alone, count as disagreement.
    pub decompose: Share,
    /// The errors of questions that ended with one.
    pub failed: Vec<String>,
    /// Calls and tokens by role, made or read from the ledger.
    pub spent: Spent,
}

impl Agreement {
    /// The share of a module.
    pub fn of(&self, module: Module) -> Share {
        match module {
            Module::Know => self.know,
            Module::Relevant => self.relevant,
            Module::Decompose => self.decompose,
        }
    }
}

impl std::ops::AddAssign for Agreement {
    fn add_assign(&mut self, other: Self) {
        self.know += other.know;
        self.relevant += other.relevant;
        self.decompose += other.decompose;
        self.failed.extend(other.failed);
        self.spent.merge(&other.spent);
    }
}

/// Asks the modules about a labelled question. The error beside the agreement is one that every further call would
/// repeat.
pub async fn agreement(ports: &Ports, labelled: &Labelled) -> (Agreement, Option<SolveError>) {
    let question = Question::new(&labelled.item, &labelled.question);
    let mut run = Run::begin(MethodLabel::named("train-agree"), &question, RunParams::default());
    let mut agreement = Agreement::default();
    let asked = one(ports, labelled, &mut run, &mut agreement).await;
    agreement.spent.merge(&run.account.cost().spent);
    match asked {
        Ok(()) => (agreement, None),
        Err(error) if ends_every_answer(&error) => (agreement, Some(error)),
        Err(error) => {
            agreement.failed.push(format!("{}: {}", labelled.item, error_chain(&error)));
            (agreement, None)
        }
    }
}

async fn one(
    ports: &Ports,
    labelled: &Labelled,
    run: &mut Run,
    agreement: &mut Agreement,
) -> Result<(), SolveError> {
    let question = labelled.question.as_str();
    let verdict = knows(ports, run, question).await?;
    agreement.know.count(verdict.map(|knows| knows == labelled.knows));
    let known = labelled.passages.iter().filter_map(|passage| {
        let is_relevant = passage.is_relevant?;
        Some((passage.text.clone(), is_relevant))
    });
    let (texts, labels): (Vec<String>, Vec<bool>) = known.unzip();
    let verdicts = relevant_each(ports, run, question, &texts).await?;
    for (verdict, label) in verdicts.into_iter().zip(labels) {
        agreement.relevant.count(verdict.map(|verdict| verdict == label));
    }
    let divided = parts(ports, run, question).await?;
    let keeps = match &divided {
        None => None,
        Some(none) if none.is_empty() => Some(false),
        Some(asked) => consistent(ports, run, question, asked).await?,
    };
    agreement.decompose.count(keeps);
    Ok(())
}

/// Whether a judging model finds that the sub-questions keep to the meaning of the question.
async fn consistent(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    sub_questions: &[String],
) -> Result<Option<bool>, SolveError> {
    let listed = numbered(sub_questions.iter().map(String::as_str));
    let question = quiet_headings(&one_line(question));
    let inputs = [("question", question.as_str()), ("parts", listed.as_str())];
    let reply = run.ask::<YesNo>(ports, &CONSISTENT, &inputs).await?;
    Ok(reply.map(|reply| reply.0))
}
