//! Turns arguments into requests of the engine.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pikerag_engine::knowledge::{AtomKind, Filter};
use pikerag_engine::parts::{DatabaseUrl, LabelParams, TrainParams};
use pikerag_engine::sandbox;
use pikerag_engine::settings::{Cap, FileChoice, Flags};
use pikerag_engine::{
    AgreeRequest, CollectRequest, EstimateRequest, EvalRequest, IndexRequest, IndexScope,
    LabelRequest, OnProgress, TrainExportRequest,
};

use super::{
    Agree, Arguments, Choice, Collect, Estimate, Eval, Filters, Index, Label, ParseChild, Paths,
    RunLimited, TrainExport,
};

impl Arguments {
    pub(crate) fn flags(&self) -> Flags {
        Flags {
            base: self.base.clone(),
            config: self.config.clone(),
            offline: self.offline,
            replay: self.replay,
            cap: Cap {
                money_usd: self.budget,
                tokens: self.budget_tokens,
                calls: self.budget_calls,
            },
            in_flight: self.in_flight.map(NonZeroUsize::get),
        }
    }
}

impl Index {
    pub(crate) fn request<'a>(&self, progress: OnProgress<'a>) -> IndexRequest<'a> {
        let (paths, databases) = self.paths.split();
        IndexRequest {
            paths,
            databases,
            prune: self.prune,
            retry_refused: self.retry_refused,
            with: self.with.with.clone(),
            without: self.with.without.clone(),
            chunking: self.with.chunking,
            choice: self.choice.rules(),
            scope: IndexScope::Base,
            accepted_calls: None,
            progress,
        }
    }
}

impl Paths {
    /// The paths, and the addresses of databases among them.
    fn split(&self) -> (Vec<PathBuf>, Vec<DatabaseUrl>) {
        let (mut paths, mut databases) = (Vec::new(), Vec::new());
        for path in &self.paths {
            match path.to_str().and_then(DatabaseUrl::of) {
                Some(url) => databases.push(url),
                None => paths.push(path.clone()),
            }
        }
        (paths, databases)
    }
}

impl Estimate {
    pub(crate) fn request(&self) -> EstimateRequest {
        let (paths, databases) = self.paths.split();
        EstimateRequest {
            paths,
            databases,
            with: self.with.with.clone(),
            without: self.with.without.clone(),
            chunking: self.with.chunking,
            choice: self.choice.rules(),
            own_files: false,
        }
    }
}

impl Choice {
    fn rules(&self) -> FileChoice {
        FileChoice {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            source_code: self.source_code,
        }
    }
}

impl Filters {
    pub(crate) fn filter(&self) -> Filter {
        Filter { conditions: self.conditions.clone() }
    }
}

impl Eval {
    pub(crate) fn request<'a>(&self, progress: OnProgress<'a>) -> EvalRequest<'a> {
        EvalRequest {
            questions: self.questions.clone(),
            corpus: self.corpus.clone(),
            format: self.format.clone(),
            methods: self.methods.clone(),
            searches: self.searches.clone(),
            preset: self.preset.clone(),
            data: self.data.clone(),
            judge: self.judge,
            consistency: self.consistency,
            perplexity: self.perplexity,
            limit: self.limit.map(NonZeroUsize::get),
            seed: self.seed,
            concurrency: self.concurrency.get(),
            out: self.out.clone(),
            fresh: self.fresh,
            progress,
        }
    }
}

impl Collect {
    pub(crate) fn request<'a>(&self, progress: OnProgress<'a>) -> CollectRequest<'a> {
        CollectRequest {
            questions: self.questions.clone(),
            format: self.format.clone(),
            from: self.from,
            limit: self.limit.map(NonZeroUsize::get),
            params: TrainParams {
                rounds: self.rounds,
                attempts: self.attempts,
                stops_when_right: !self.all_attempts,
                alpha: self.alpha,
                k: self.k,
                near_k: self.near_k,
                delta: self.delta,
                near_delta: self.near_delta,
                pool: self.pool,
                split: self.split,
                on_empty: self.on_empty,
                right: self.right,
                atoms: if self.sentences { AtomKind::Sentence } else { AtomKind::Question },
                seed: self.seed,
                ..TrainParams::default()
            },
            concurrency: self.concurrency.get(),
            out: self.out.clone(),
            fresh: self.fresh,
            progress,
        }
    }
}

impl Label {
    pub(crate) fn request<'a>(&self, progress: OnProgress<'a>) -> LabelRequest<'a> {
        LabelRequest {
            questions: self.questions.clone(),
            format: self.format.clone(),
            limit: self.limit.map(NonZeroUsize::get),
            params: LabelParams { passages: self.passages, right: self.right },
            seed: self.seed,
            concurrency: self.concurrency.get(),
            out: self.out.clone(),
            fresh: self.fresh,
            progress,
        }
    }
}

impl Agree {
    pub(crate) fn request<'a>(&self, progress: OnProgress<'a>) -> AgreeRequest<'a> {
        AgreeRequest {
            labels: self.labels.clone(),
            apart: self.apart,
            held_out: self.held_out,
            seed: self.seed,
            concurrency: self.concurrency.get(),
            progress,
        }
    }
}

impl TrainExport {
    pub(crate) fn request(&self) -> TrainExportRequest {
        TrainExportRequest {
            from: self.from.clone(),
            format: self.format,
            out: self.out.clone(),
            apart: self.apart,
            held_out: self.held_out,
            evaluation: self.evaluation.clone(),
            licence: self.licence.clone(),
            seed: self.seed,
        }
    }
}

impl From<&ParseChild> for sandbox::ParseChild {
    fn from(child: &ParseChild) -> Self {
        let task = match (child.unpack, child.page) {
            (true, _) => sandbox::ChildTask::Unpack,
            (false, Some(page)) => sandbox::ChildTask::Draw { page, width: child.width },
            (false, None) => sandbox::ChildTask::Parse,
        };
        Self {
            task,
            name: child.name.clone(),
            memory_mib: child.memory,
            cpu_seconds: child.cpu,
            max_bytes: child.bytes,
        }
    }
}

impl From<&RunLimited> for sandbox::RunLimited {
    fn from(program: &RunLimited) -> Self {
        Self {
            memory_mib: program.memory,
            cpu_seconds: program.cpu,
            file_mib: program.file,
            command: program.command.clone(),
        }
    }
}
