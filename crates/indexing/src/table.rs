//! Lists the stages of indexing in order, with the conditions under which they run, for `ingest` and
//! `estimate`.

use pikerag_knowledge::{AtomKind, Role, Stage as Mark, Structure};

use super::embed;
use super::params::Summarized;
use super::plan::Plan;
use super::stage::{Part, Row, Stage};
use super::stages::atoms::{Sentences, Written};
use super::stages::communities::Communities;
use super::stages::described::{Figures, Tables};
use super::stages::documents::Documents;
use super::stages::entities::{Entities, LongDescriptions, Names};
use super::stages::records::{InTexts, Plain};
use super::stages::reports::{Quotations, Reports};
use super::stages::sections::Sections;
use super::stages::tables::TypedTables;
use super::stages::tags::{DeclaredClasses, FoundClasses, Tags};
use super::stages::tree::Tree;
use super::stages::vectors::Vectors;

/// Every stage; within a part, in the order in which they run.
static TABLE: [Row; 21] = [
    Row {
        name: "table summaries",
        mark: ("describe:table", ""),
        role: Some(Role::Summarize),
        part: Part::Descriptions,
        wanted: |plan| plan.params.summarize.contains(&Summarized::Tables),
        stages: |_| vec![Box::new(Tables)],
    },
    Row {
        name: "figure descriptions",
        mark: ("describe:figure", ""),
        role: Some(Role::Describe),
        part: Part::Descriptions,
        wanted: |plan| plan.params.describe,
        stages: |plan| vec![Box::new(Figures(plan.params.in_flight))],
    },
    Row {
        name: "document summaries",
        mark: ("describe:source", ""),
        role: Some(Role::Summarize),
        part: Part::Descriptions,
        wanted: |plan| plan.params.summarize.contains(&Summarized::Sources),
        stages: |_| vec![Box::new(Documents)],
    },
    Row {
        name: "atomic questions",
        mark: ("atomize:question", ""),
        role: Some(Role::Atomize),
        part: Part::Atoms(AtomKind::Question),
        wanted: |plan| plan.params.atoms.contains(&AtomKind::Question),
        stages: |plan| vec![Box::new(Written::Questions(&plan.params.sample_questions))],
    },
    Row {
        name: "questions of sections",
        mark: ("atomize:section", ""),
        role: Some(Role::Atomize),
        part: Part::Atoms(AtomKind::Question),
        wanted: |plan| {
            plan.params.summarize.contains(&Summarized::Sections)
                && plan.params.atoms.contains(&AtomKind::Question)
        },
        stages: |_| vec![Box::new(Sections)],
    },
    Row {
        name: "atomic statements",
        mark: ("atomize:statement", ""),
        role: Some(Role::Atomize),
        part: Part::Atoms(AtomKind::Statement),
        wanted: |plan| plan.params.atoms.contains(&AtomKind::Statement),
        stages: |_| vec![Box::new(Written::Statements)],
    },
    Row {
        name: "sentences",
        mark: ("atomize:sentence", ""),
        role: None,
        part: Part::Atoms(AtomKind::Sentence),
        wanted: |plan| plan.params.atoms.contains(&AtomKind::Sentence),
        stages: |_| vec![Box::new(Sentences)],
    },
    Row {
        name: embed::NAME,
        mark: ("", ""),
        role: None,
        part: Part::Vectors,
        wanted: |plan| plan.available.embedder,
        stages: |_| vec![Box::new(Vectors)],
    },
    Row {
        name: "tables",
        mark: ("tables", ""),
        role: None,
        part: Part::Tables,
        wanted: |_| true,
        stages: |_| vec![Box::new(TypedTables)],
    },
    Row {
        name: "records",
        mark: ("records:", ":rules"),
        role: None,
        part: Part::Records,
        wanted: |plan| !plan.params.records.is_empty(),
        stages: |plan| plan.params.records.iter().map(|schema| boxed(Plain(schema))).collect(),
    },
    Row {
        name: "records in running text",
        mark: ("records:", ":model"),
        role: Some(Role::Extract),
        part: Part::Records,
        wanted: |plan| plan.params.records.iter().any(|schema| schema.model),
        stages: |plan| {
            let read = plan.params.records.iter().filter(|schema| schema.model);
            read.map(|schema| boxed(InTexts(schema))).collect()
        },
    },
    Row {
        name: "entities and relations",
        mark: ("extract:model", ""),
        role: Some(Role::Extract),
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph),
        stages: |_| vec![Box::new(Entities)],
    },
    Row {
        name: "entities by name",
        mark: ("extract:names", ""),
        role: None,
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph) && !plan.has(Role::Extract),
        stages: |_| vec![Box::new(Names)],
    },
    Row {
        name: "descriptions of entities",
        mark: ("describe:entity", ""),
        role: Some(Role::Summarize),
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph),
        stages: |_| vec![Box::new(LongDescriptions)],
    },
    Row {
        name: "communities",
        mark: ("", ""),
        role: None,
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph),
        stages: |_| vec![Box::new(Communities)],
    },
    Row {
        name: "community reports",
        mark: ("report:community", ""),
        role: Some(Role::Summarize),
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph),
        stages: |_| vec![Box::new(Reports)],
    },
    Row {
        name: "sentences of communities",
        mark: ("", ""),
        role: None,
        part: Part::Structure(Structure::Graph),
        wanted: |plan| plan.wants(Structure::Graph) && !plan.has(Role::Summarize),
        stages: |_| vec![Box::new(Quotations)],
    },
    Row {
        name: "summaries of the tree",
        mark: ("summarize:cluster", ""),
        role: Some(Role::Summarize),
        part: Part::Structure(Structure::Tree),
        wanted: |plan| plan.wants(Structure::Tree) && plan.missing_part(Structure::Tree).is_none(),
        stages: |_| vec![Box::new(Tree)],
    },
    Row {
        name: "declared tag classes",
        mark: ("", ""),
        role: None,
        part: Part::Structure(Structure::Tags),
        wanted: |plan| plan.wants(Structure::Tags),
        stages: |plan| vec![Box::new(DeclaredClasses(&plan.params.tags))],
    },
    Row {
        name: "tag classes",
        mark: ("", ""),
        role: Some(Role::Tag),
        part: Part::Structure(Structure::Tags),
        wanted: |plan| plan.wants(Structure::Tags),
        stages: |plan| vec![Box::new(FoundClasses(&plan.params.tags))],
    },
    Row {
        name: "tags",
        mark: ("tag:", ""),
        role: Some(Role::Tag),
        part: Part::Structure(Structure::Tags),
        wanted: |plan| plan.wants(Structure::Tags),
        stages: |plan| vec![Box::new(Tags(&plan.params.tags))],
    },
];

fn boxed<'a>(stage: impl Stage + 'a) -> Box<dyn Stage + 'a> {
    Box::new(stage)
}

/// The stages that run under a plan, in order, each with its row: wanted ones whose model is available.
pub(crate) fn running<'a>(plan: &'a Plan<'a>) -> Vec<(&'static Row, Box<dyn Stage + 'a>)> {
    let mut running = Vec::new();
    for row in &TABLE {
        if (row.wanted)(plan) && row.role.is_none_or(|role| plan.has(role)) {
            running.extend((row.stages)(plan).into_iter().map(|stage| (row, stage)));
        }
    }
    running
}

/// The name of a stage's mark, as shown to people; the mark itself if no stage leaves it.
pub fn mark_in_words(mark: &str) -> &str {
    let has_mark = |row: &&Row| {
        let (begin, end) = row.mark;
        !begin.is_empty() && mark.starts_with(begin) && mark.ends_with(end)
    };
    match TABLE.iter().find(has_mark) {
        Some(row) => row.name,
        None if Mark(mark.to_owned()).is_of_vectors() => embed::NAME,
        None => mark,
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{ChunkKind, ExtractBy, RecordSchema, RecordsBy, TagClassId};

    use super::*;
    use crate::params::Params;
    use crate::plan::Available;

    fn schema() -> RecordSchema {
        serde_json::from_str(r#"{"name": "tag:x", "fields": []}"#).unwrap()
    }

    /// The names of the stages that run if everything is wanted.
    fn names(available: &Available) -> String {
        let params = Params {
            summarize: vec![Summarized::Tables, Summarized::Sources, Summarized::Sections],
            describe: true,
            atoms: vec![AtomKind::Question, AtomKind::Statement, AtomKind::Sentence],
            records: vec![schema(), RecordSchema { model: false, ..schema() }],
            ..Params::default()
        };
        let wanted = vec![Structure::Graph, Structure::Tree, Structure::Tags];
        let plan = Plan { params: &params, available, wanted };
        running(&plan).iter().map(|(row, _)| row.name).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn stages_without_their_model_are_left_out_or_run_by_rules() {
        insta::assert_snapshot!(names(&Available::all()), @r"
        table summaries
        figure descriptions
        document summaries
        atomic questions
        questions of sections
        atomic statements
        sentences
        vectors
        tables
        records
        records
        records in running text
        entities and relations
        descriptions of entities
        communities
        community reports
        summaries of the tree
        declared tag classes
        tag classes
        tags
        ");
        insta::assert_snapshot!(names(&Available::default()), @r"
        sentences
        tables
        records
        records
        entities by name
        communities
        sentences of communities
        declared tag classes
        ");
        let summarizing = [Role::Summarize].into_iter().collect();
        insta::assert_snapshot!(names(&Available { chat: summarizing, embedder: false }), @r"
        table summaries
        document summaries
        sentences
        tables
        records
        records
        entities by name
        descriptions of entities
        communities
        community reports
        declared tag classes
        ");
    }

    #[test]
    fn every_mark_has_a_name() {
        for (mark, words) in [
            (Mark::atomize(AtomKind::Question), "atomic questions"),
            (Mark::atomize_sections(), "questions of sections"),
            (Mark::atomize(AtomKind::Statement), "atomic statements"),
            (Mark::embed("m#1"), "vectors"),
            (Mark::atomize(AtomKind::Sentence), "sentences"),
            (Mark::describe(ChunkKind::Table), "table summaries"),
            (Mark::describe(ChunkKind::Figure), "figure descriptions"),
            (Mark::records(&schema(), RecordsBy::Rules), "records"),
            (Mark::records(&schema(), RecordsBy::Model), "records in running text"),
            (Mark::tables(), "tables"),
            (Mark::extract(ExtractBy::Model), "entities and relations"),
            (Mark::extract(ExtractBy::Names), "entities by name"),
            (Mark::tag(TagClassId(7)), "tags"),
            (Mark::summarize_sources(), "document summaries"),
            (Mark::describe_entities(), "descriptions of entities"),
            (Mark::report(), "community reports"),
            (Mark::summarize_clusters(), "summaries of the tree"),
            (Mark("another".to_owned()), "another"),
        ] {
            assert_eq!(mark_in_words(&mark.0), words, "{mark:?}");
        }
    }
}
