//! Finds commands whose arguments do not fit together, although each of them is valid.

use pikerag_engine::narrate::{InWords, Words};
use pikerag_engine::parts::TrainRight;
use pikerag_engine::{GraphFormat, TrainFrom};

use super::{Collect, Command, Estimate, Graph, GraphCommand, Index, Train, TrainVerb};

/// The reason why a whole command is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// The shell has split a text into words, as the call shows it in quotes.
    Unquoted { call: String },
    /// `--with` and `--without` name the same structure.
    Contradiction,
    /// `--of` is given for a format that contains the whole graph.
    PartOfFormat,
    /// `train collect` needs a file of questions for any source but kept runs.
    NoQuestions,
    /// `train collect` must judge the answers of kept runs by a model.
    JudgeOfRuns,
}

impl InWords for Misuse {
    fn words(&self) -> Words {
        match self {
            Self::Unquoted { call } => Words::new(
                format!("several words: put them in quotes, `{call}`"),
                format!("有多个词：请加上引号，`{call}`"),
            ),
            Self::Contradiction => Words::new(
                "`--with` and `--without` name the same structure",
                "`--with` 与 `--without` 含有相同的结构",
            ),
            Self::PartOfFormat => Words::new(
                "`--of` needs `--format html`: other formats contain the whole graph",
                "`--of` 只能与 `--format html` 合用：其他格式包含整个图谱",
            ),
            Self::NoQuestions => Words::new(
                "`--questions FILE` is missing: only `--from runs` collects without questions",
                "缺少 `--questions FILE`：只有 `--from runs` 不需要问题",
            ),
            Self::JudgeOfRuns => Words::new(
                "`--right judge` does not fit `--from runs`: feedback and labels decide there; use `--right em` or `--right contains`",
                "`--right judge` 不能与 `--from runs` 合用：那里由反馈和标准答案判断；请用 `--right em` 或 `--right contains`",
            ),
        }
    }
}

/// The reason why a command is refused as a whole, if it is.
pub(super) fn misuse(command: &Command) -> Option<Misuse> {
    match command {
        Command::Ask(ask) => unquoted("ask", &ask.question),
        Command::Search(search) => unquoted("search", &search.query),
        Command::Index(Index { with, .. }) | Command::Estimate(Estimate { with, .. }) => {
            let both = with.with.iter().find(|name| with.without.contains(name));
            both.map(|_| Misuse::Contradiction)
        }
        Command::Graph(Graph { command: Some(GraphCommand::Export(export)), .. })
            if export.of.is_some() && export.format != GraphFormat::Html =>
        {
            Some(Misuse::PartOfFormat)
        }
        Command::Train(Train { verb: TrainVerb::Collect(collect) }) => of_collect(collect),
        _ => None,
    }
}

fn of_collect(collect: &Collect) -> Option<Misuse> {
    match (collect.from, collect.right) {
        (TrainFrom::Runs, TrainRight::Judge) => Some(Misuse::JudgeOfRuns),
        (TrainFrom::Runs, _) => None,
        _ => collect.questions.is_none().then_some(Misuse::NoQuestions),
    }
}

/// Without quotes, the shell splits a question into words and expands `?` and `*` to file names.
fn unquoted(verb: &str, words: &[String]) -> Option<Misuse> {
    match words {
        [] | [_] => None,
        words => {
            let words = words.join(" ").replace(['"', '\\', '$', '`'], "");
            Some(Misuse::Unquoted { call: format!("pikerag {verb} \"{words}\"") })
        }
    }
}
