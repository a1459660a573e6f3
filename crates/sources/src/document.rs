//! Writes a table of a database as a document: its name, its comments and keys, then its rows.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Block, BlockKind, Chunking, Document, Link, Problem, ProblemFact, Span, Table, named_row,
};
use pikerag_parse::Parsed;

use crate::blocks::blocks;
use crate::catalog::{ForeignKey, Relation};
use crate::layout::{Layout, one_line};
use crate::rows::Rows;
use crate::url::Target;

/// The metadata of a document that names the conversion of its rows.
pub(crate) const FORMAT_FIELD: &str = "format";
const MEDIA_TYPE: &str = "application/x-postgresql-table";
/// Each row repeats the names of columns; this bounds the growth from long names over short values.
const GROWTH: usize = 16;

/// The document of a table, with the problems of its parts that were not read.
pub(crate) fn document(
    target: &Target,
    relation: &Relation,
    layout: &Layout,
    rows: Rows,
) -> Parsed {
    let Rows { rows, binary } = rows;
    let problems = problems(layout, &binary);
    let mut writer = Writer::default();
    let heading = shown(&relation.schema, &relation.table);
    writer.block(BlockKind::Heading { level: 1 }, &heading);
    if let Some(comment) = &relation.comment {
        writer.block(BlockKind::Paragraph, comment);
    }
    for column in layout.columns.iter().filter(|column| column.comment.is_some()) {
        let comment = column.comment.as_deref().unwrap_or_default();
        writer.block(BlockKind::Item, &format!("{}: {comment}", column.name));
    }
    for key in &relation.foreign_keys {
        writer.reference(key, &target.name_of(&key.schema, &key.table));
    }
    let header = layout.header();
    let size: usize = rows.iter().flatten().map(|cell| cell.len() + 1).sum();
    writer.most = size.saturating_mul(GROWTH).saturating_add(1 << 20);
    // A table without columns that can be read has no rows either.
    if !header.is_empty() {
        for block in blocks(&rows, layout.key) {
            writer.table(&header, block, layout.key);
        }
    }
    let mut metadata = BTreeMap::from([
        ("database".to_owned(), target.identity.clone()),
        ("table".to_owned(), format!("{}.{}", relation.schema, relation.table)),
        (FORMAT_FIELD.to_owned(), layout.format()),
    ]);
    if 0 < layout.key {
        let names: Vec<&str> = header.iter().take(layout.key).map(String::as_str).collect();
        metadata.insert("key".to_owned(), names.join(", "));
    }
    let document = Document {
        fragment: String::new(),
        title: format!("{heading} ({})", one_line(&target.database)),
        media_type: MEDIA_TYPE.to_owned(),
        text: writer.text,
        blocks: writer.blocks,
        links: writer.links,
        images: Vec::new(),
        chunking: Chunking::Free,
        metadata,
    };
    Parsed { documents: vec![document], problems }
}

/// The digest of everything about a table besides its rows.
pub(crate) fn digest_of_table(relation: &Relation, layout: &Layout) -> blake3::Hash {
    let Relation { comment, foreign_keys, .. } = relation;
    let columns: Vec<_> =
        layout.columns.iter().map(|column| (&column.name, &column.comment)).collect();
    let key = (layout.key, layout.changed, &layout.hidden);
    // The words of `Debug` are written nowhere; they only have to differ.
    let format = layout.format();
    let facts = format!("{format} {comment:?} {foreign_keys:?} {columns:?} {key:?}");
    blake3::hash(facts.as_bytes())
}

/// The parts of a table that were not read.
fn problems(layout: &Layout, binary: &[usize]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (column, cells) in layout.binary.iter().zip(binary).filter(|(_, cells)| 0 < **cells) {
        let place = format!("column {}", one_line(&column.name));
        problems.push(Problem::new(place, ProblemFact::BinaryValues { cells: *cells }));
    }
    for name in &layout.hidden {
        let place = format!("column {}", one_line(name));
        problems.push(Problem::new(place, ProblemFact::NotPermitted));
    }
    problems
}

/// The name of a table for people: without the usual schema.
fn shown(schema: &str, table: &str) -> String {
    let (schema, table) = (one_line(schema), one_line(table));
    if schema == "public" { table } else { format!("{schema}.{table}") }
}

#[derive(Default)]
struct Writer {
    text: String,
    blocks: Vec<Block>,
    links: Vec<Link>,
    /// The most bytes of text in which rows still name their cells.
    most: usize,
}

impl Writer {
    fn block(&mut self, kind: BlockKind, text: &str) {
        let text = one_line(text);
        if !text.is_empty() {
            let span = self.line(&text);
            self.blocks.push(Block::new(kind, span));
        }
    }

    /// A foreign key as a link to the other table: `dept_id refers to dept (id)`.
    fn reference(&mut self, key: &ForeignKey, target: &str) {
        let other = shown(&key.schema, &key.table);
        let (own, theirs) = (key.columns.join(", "), key.referenced.join(", "));
        self.block(BlockKind::Item, &format!("{own} → {other} ({theirs})"));
        if let Some(block) = self.blocks.last() {
            self.links.push(Link { target: target.to_owned(), span: block.span });
        }
    }

    fn table(&mut self, header: &[String], rows: &[Vec<String>], key: usize) {
        let first = self.line(&header.join(" | "));
        let mut lines = vec![first];
        for row in rows {
            let named = self.text.len() < self.most;
            let line = if named { named_row(header, row) } else { row.join(" | ") };
            lines.push(self.row(&line));
        }
        let span = Span { start: first.start, end: self.text.len() };
        let table = Table { header: header.to_vec(), rows: rows.to_vec(), lines, key };
        self.blocks.push(Block::new(BlockKind::Table(table), span));
    }

    /// Adds a paragraph of one line.
    fn line(&mut self, line: &str) -> Span {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.row(line)
    }

    fn row(&mut self, line: &str) -> Span {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(line);
        Span { start, end: self.text.len() }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::choice::Choice;
    use crate::url::DatabaseUrl;

    fn target() -> Target {
        DatabaseUrl::of("postgres://reader:canary@h/shop").unwrap().target().unwrap()
    }

    fn staff() -> Relation {
        let mut relation = Relation::sample("hr", "staff")
            .with_column("name", "text")
            .with_column("id", "integer")
            .with_column("dept", "integer")
            .with_column("photo", "bytea");
        relation.primary_key = vec!["id".to_owned()];
        relation.comment = Some("Everybody\nwho works here".to_owned());
        relation.columns[0].comment = Some("the full name".to_owned());
        relation.foreign_keys = vec![ForeignKey {
            columns: vec!["dept".to_owned()],
            schema: "public".to_owned(),
            table: "部门".to_owned(),
            referenced: vec!["id".to_owned()],
        }];
        relation
    }

    fn parsed(relation: &Relation, rows: &[[&str; 3]], binary: usize) -> Parsed {
        let layout = Layout::of(relation, &Choice::default());
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        document(&target(), relation, &layout, Rows { rows, binary: vec![binary] })
    }

    #[test]
    fn a_table_is_one_document_with_its_comments_keys_and_rows() {
        let Parsed { documents, problems } =
            parsed(&staff(), &[["1", "Ada", "7"], ["2", "Bob", ""]], 1);
        let [document] = documents.as_slice() else { panic!() };
        let mut shown = format!("{} | {:?}\n", document.title, document.metadata);
        for block in &document.blocks {
            let text = block.span.of(&document.text).unwrap();
            writeln!(shown, "{text}").unwrap();
            if let BlockKind::Table(table) = &block.kind {
                let lines = table.lines.iter().map(|line| line.of(&document.text).unwrap());
                assert_eq!(lines.collect::<Vec<_>>().join("\n"), text);
                assert_eq!((table.key, table.header.len()), (1, 3));
                assert_eq!(table.lines.len(), table.rows.len() + 1);
            }
        }
        for link in &document.links {
            let text = link.span.of(&document.text).unwrap();
            writeln!(shown, "{text} => {}", link.target).unwrap();
        }
        for problem in &problems {
            writeln!(shown, "! {}: {}", problem.place, problem.reason).unwrap();
        }
        // Each block of rows has the header of its own.
        let shown = shown.replacen("id | name | dept\nid: 2", "id: 2", 1);
        let shown = shown.replacen(&document.metadata[FORMAT_FIELD], "1", 1);
        insta::assert_snapshot!(shown, @r#"
        hr.staff (shop) | {"database": "postgres://h/shop", "format": "1", "key": "id", "table": "hr.staff"}
        hr.staff
        Everybody who works here
        name: the full name
        dept → 部门 (id)
        id | name | dept
        id: 1; name: Ada; dept: 7
        id: 2; name: Bob
        dept → 部门 (id) => postgres://h/shop/public.部门
        ! column photo: binary values were skipped, in 1 cells
        "#);
    }

    #[test]
    fn an_empty_table_still_has_a_name() {
        let parsed = parsed(&Relation::sample("public", "empty"), &[], 0);
        assert_eq!(parsed.documents[0].text, "empty");
        assert!(parsed.problems.is_empty());
    }

    #[test]
    fn columns_without_permission_are_reported() {
        let mut relation = staff();
        relation.columns[2].is_readable = false;
        let Parsed { problems, .. } = parsed(&relation, &[], 0);
        let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["column dept"]);
    }

    #[test]
    fn a_digest_sees_comments_and_keys() {
        let digest = |relation: &Relation, choice: &Choice| {
            digest_of_table(relation, &Layout::of(relation, choice))
        };
        let (plain, choice) = (staff(), Choice::default());
        let before = digest(&plain, &choice);
        assert_eq!(digest(&staff(), &choice), before);
        let changed = Choice { changed: Some("dept".to_owned()), ..Choice::default() };
        assert_ne!(digest(&plain, &changed), before);
        let mut commented = staff();
        commented.columns[1].comment = Some("the number".to_owned());
        assert_ne!(digest(&commented, &choice), before);
        let mut retyped = staff();
        retyped.columns[0].full_type = "character varying(9)".to_owned();
        assert_ne!(digest(&retyped, &choice), before);
    }
}
