//! Defines the problems of a file that was read in part, as facts.

use serde::{Deserialize, Serialize};

/// The problem of a part of a file. `Display` gives the English words; the code, in JSON, is stable.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    thiserror::Error,
    strum::EnumIter,
    strum::IntoStaticStr,
)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the message of each variant explains it and its fields")]
pub enum ProblemFact {
    #[error("is neither an object nor a text")]
    NoRecord,
    #[error("holds no text")]
    RecordWithoutText,
    #[error("`{id}` occurs again: renamed to `{to}`")]
    Renamed { id: String, to: String },
    #[error("only the first {most} records were read")]
    RecordsRead { most: usize },
    #[error("{reason}")]
    InvalidJson { reason: String, column: usize, is_cut_off: bool },
    #[error("values nested deeper than {depth} are left out")]
    ValuesTooDeep { depth: usize },
    #[error("{rows} rows have more or fewer than {cells} cells, as the first row has")]
    UnevenRows { rows: usize, cells: usize },
    #[error("a quoted cell has many lines: check for a missing closing quotation mark")]
    LongCell,
    #[error("this and later rows were skipped: the limit is {most} cells")]
    LaterRows { most: usize },
    #[error("further rows were skipped: the limit is {most} cells")]
    FurtherRows { most: usize },
    #[error("further rows are more than the {cells} cells allowed")]
    RowsAllowed { cells: usize },
    #[error("further rows are more than the {bytes} bytes of text allowed")]
    TextAllowed { bytes: usize },
    #[error(
        "{values} {} left out (bytes that are no text, or dates that no calendar holds)",
        if *values == 1 { "value is" } else { "values are" }
    )]
    UnreadValues { values: usize },
    #[error("cannot be read: {reason}")]
    TableUnreadable { reason: String },
    #[error("binary values were skipped, in {cells} cells")]
    BinaryValues { cells: usize },
    #[error("the account may not read it: left out")]
    NotPermitted,
    #[error(
        "the database has a write-ahead log: data that is only in its `-wal` file was not read; close the program that uses it, and index it again"
    )]
    WriteAheadLog,
    #[error("rows of tables were skipped: there are more cells than the limit allows")]
    CellsSkipped,
    #[error("only {most} table cells were read")]
    CellsRead { most: usize },
    #[error("tables have more than the {most} cells allowed")]
    CellsAllowed { most: usize },
    #[error("the workbook has more cells than the limit allows: the rest was skipped")]
    WorkbookCells,
    #[error("cells after row or column {last} were skipped")]
    FarCells { last: u32 },
    #[error("the sheet is missing or damaged")]
    SheetMissing,
    #[error("{formulas} formulas have no stored result: open and save it in Excel")]
    NoStoredResults { formulas: usize },
    #[error("is missing or damaged")]
    PartMissing,
    #[error("slides after the first {most} are left out")]
    SlidesLeftOut { most: usize },
    #[error("the limit is {most} pages: those from {from} to {to} were skipped")]
    PagesSkipped { most: usize, from: usize, to: usize },
    #[error("its content breaks the rules of PDF: left out")]
    BrokenPage,
    #[error("its drawing instructions exceed the size limit: left out")]
    LongPage,
    #[error("characters of fonts without a code table that could not be read: {characters}")]
    UnknownCharacters { characters: usize },
    #[error("words skipped because there are too many: {words}")]
    WordsSkipped { words: usize },
    #[error("pictures that could not be kept, unreadable or too large: {pictures}")]
    PicturesLost { pictures: usize },
    #[error("the page was scanned, and its text was not recognised: {reason}")]
    NotRecognized { reason: String },
    #[error("{uncertain} of {words} words were recognised with little certainty")]
    UncertainWords { uncertain: usize, words: usize },
    #[error("no words were recognised on it: it is kept as a figure")]
    NoWords,
    #[error(
        "passages hidden from a reader (unseen ink, tiny or outside the page), kept and marked as hidden: {passages}"
    )]
    HiddenPassages { passages: usize },
    #[error("pictures left out: {pictures}")]
    PicturesLeftOut { pictures: usize },
    #[error("pictures left out, what stands for them in words kept: {pictures}")]
    PicturesInWords { pictures: usize },
    #[error("small pictures (buttons, logos) left out: {pictures}")]
    SmallPictures { pictures: usize },
    #[error("the picture is left out: pictures are too many or too large")]
    PictureOverLimit,
    #[error("the chart has more than {most} points: it is left out")]
    ChartTooLarge { most: usize },
    #[error("a document embedded in this one is left out: give it as a file")]
    EmbeddedDocument,
    #[error("an embedded {program} is left out: give it as a file")]
    EmbeddedObject { program: String },
    #[error("page headers and footers left out: {pieces}")]
    PageFurniture { pieces: usize },
    #[error("groups nested too deep, which lost their styles: {groups}")]
    GroupsTooDeep { groups: usize },
    #[error("the file is incomplete: some of its groups have no end")]
    UnfinishedGroups,
    #[error("the book lists this chapter, but the file is missing")]
    ChapterMissing,
    #[error("elements nested deeper than {depth} are read flat")]
    ReadFlat { depth: usize },
    #[error("`#+{keyword}` is not closed")]
    NotClosed { keyword: String },
    #[error("a table is not closed: the rest of the file was read as its cells")]
    TableNotClosed,
    #[error("messages nested deeper than {depth} are not opened")]
    MessagesTooDeep { depth: usize },
    #[error("the attachment is left out: {reason}")]
    AttachmentLeftOut { reason: String },
    #[error("attachments beyond the first {most}, left out: {attachments}")]
    AttachmentsLeftOut { most: usize, attachments: usize },
    #[error("a part of the message is damaged: its encoding is invalid")]
    DamagedMessage,
    #[error("{entries} entries have paths outside the archive: they were skipped")]
    OutsidePaths { entries: usize },
    #[error("some names occur twice in the archive: only one entry of each was read")]
    RepeatedNames,
    #[error("cannot be unpacked: {reason}")]
    NotUnpacked { reason: String },
    #[error("unpacks to more than the {mib} MiB allowed")]
    UnpacksTooMuch { mib: u64 },
    #[error("{reason}")]
    NotTaken { reason: String },
    #[error("holds more than {most} elements: the rest is left out")]
    TooManyElements { most: usize },
    #[error("is invalid here, the rest was skipped: {reason}")]
    InvalidXml { reason: String },
    #[error("{elements} elements are nested deeper than {depth}: they are left out")]
    ElementsTooDeep { elements: usize, depth: usize },
    #[error("{entities} custom entities were not expanded")]
    CustomEntities { entities: usize },
    #[error("some bytes are not {encoding} and became �")]
    WrongEncoding { encoding: String },
    #[error("the correction of “{old}” by {by} was not applied: {reason}")]
    NotCorrected { old: String, by: String, reason: String },
    #[error("{problems} more problems are not listed")]
    NotListed { problems: usize },
}

impl ProblemFact {
    /// A short name for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    #[test]
    fn codes_are_those_of_the_json() {
        for problem in ProblemFact::iter() {
            let json = serde_json::to_value(&problem).unwrap();
            assert_eq!(json["code"], problem.code());
            assert_eq!(serde_json::from_value::<ProblemFact>(json).unwrap(), problem);
        }
    }
}
