//! Reads documents in Rich Text Format.

mod codepage;
mod page;
mod tokens;

use std::collections::{BTreeMap, HashMap};

use encoding_rs::{Encoding, WINDOWS_1252};
use pikerag_knowledge::{Document, ProblemFact};

use crate::document::blocks::one_line;
use crate::document::file::Input;
use page::{Page, Paragraph};
use pikerag_unpack::Problems;
use tokens::{Token, Tokens};

/// Groups nested deeper are read as if they had this depth.
const DEEPEST: usize = 2_000;

/// Reads a document; damage is skipped, so any bytes give a document.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Document {
    let mut reader = Reader::new(input.limits.max_cells);
    for token in Tokens::new(input.bytes) {
        reader.take(token);
    }
    reader.flush();
    let Reader { page, state, mut metadata, n_pictures, n_deep, n_furniture, stack, .. } = reader;
    let writing = page.finish(state.paragraph);
    if !stack.is_empty() {
        problems.add("", ProblemFact::UnfinishedGroups);
    }
    let counts = [
        (n_pictures, ProblemFact::PicturesLeftOut { pictures: n_pictures }),
        (n_furniture, ProblemFact::PageFurniture { pieces: n_furniture }),
        (n_deep, ProblemFact::GroupsTooDeep { groups: n_deep }),
    ];
    for (_, reason) in counts.into_iter().filter(|(n, _)| 0 < *n) {
        problems.add("", reason);
    }
    if writing.cut {
        problems.add("", ProblemFact::CellsRead { most: input.limits.max_cells });
    }
    let title = metadata.remove("title");
    let mut document = input.document(title, writing);
    document.metadata = metadata;
    document
}

/// The state that a group inherits and its end restores.
#[derive(Clone)]
struct State {
    into: Into,
    is_hidden: bool,
    encoding: &'static Encoding,
    /// The number of bytes that repeat the character of a `\u` before them.
    n_fallback: usize,
    paragraph: Paragraph,
    /// The start of a link's text, and the link's target.
    link: Option<(usize, String)>,
    /// The number of the current font or style in its table.
    number: i32,
}

/// The destination of a group's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Page,
    Nowhere,
    Fonts,
    Styles,
    /// The instruction of a field.
    Instruction,
    Metadata(&'static str),
}

struct Reader {
    page: Page,
    state: State,
    stack: Vec<State>,
    /// The number of open groups beyond the deepest.
    n_open_deep: usize,
    /// Bytes of an incomplete character.
    bytes: Vec<u8>,
    /// UTF-16 code units of `\u`, which may be halves of a pair.
    units: Vec<u16>,
    /// The number of bytes to skip because they repeat a `\u`.
    n_repeated: usize,
    /// Whether the next defined cell continues from the row above.
    goes_on: bool,
    /// Whether `\*` was read: an unknown destination is then skipped.
    is_starred: bool,
    default: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    /// Outline levels by style.
    levels: HashMap<i32, u8>,
    instruction: String,
    metadata: BTreeMap<String, String>,
    n_pictures: usize,
    n_furniture: usize,
    n_deep: usize,
}

impl Reader {
    fn new(max_cells: usize) -> Self {
        let state = State {
            into: Into::Page,
            is_hidden: false,
            encoding: WINDOWS_1252,
            n_fallback: 1,
            paragraph: Paragraph::default(),
            link: None,
            number: 0,
        };
        Self {
            page: Page::new(max_cells),
            state,
            stack: Vec::new(),
            n_open_deep: 0,
            bytes: Vec::new(),
            units: Vec::new(),
            n_repeated: 0,
            goes_on: false,
            is_starred: false,
            default: WINDOWS_1252,
            fonts: HashMap::new(),
            levels: HashMap::new(),
            instruction: String::new(),
            metadata: BTreeMap::new(),
            n_pictures: 0,
            n_furniture: 0,
            n_deep: 0,
        }
    }

    fn take(&mut self, token: Token) {
        match token {
            Token::Byte(byte) => {
                if 0 < self.n_repeated {
                    self.n_repeated -= 1;
                    return;
                }
                self.flush_units();
                self.bytes.push(byte);
                return;
            }
            Token::Open => {
                self.flush();
                if self.stack.len() < DEEPEST {
                    self.stack.push(self.state.clone());
                    self.state.link = None;
                } else {
                    self.n_open_deep += 1;
                    self.n_deep += 1;
                }
            }
            Token::Close => {
                self.flush();
                if 0 < self.n_open_deep {
                    self.n_open_deep -= 1;
                } else if let Some(state) = self.stack.pop() {
                    self.close(state);
                }
            }
            Token::Word { name: b"*", .. } => {
                self.is_starred = true;
                return;
            }
            Token::Word { name: b"u", number: Some(number) } => {
                self.flush_bytes();
                // A negative number is the signed form of a 16-bit value.
                self.units.push(number as u16);
                self.n_repeated = self.state.n_fallback;
                return;
            }
            Token::Word { name: b"bin", .. } => return,
            Token::Word { name, number } => {
                self.flush();
                self.word(name, number);
            }
        }
        self.n_repeated = 0;
        self.is_starred = false;
    }

    fn close(&mut self, outer: State) {
        let inner = std::mem::replace(&mut self.state, outer);
        if let Some((start, target)) = inner.link {
            self.page.link(start, target);
        }
    }

    fn word(&mut self, name: &[u8], number: Option<i32>) {
        if self.destination(name) || self.symbol(name) {
            return;
        }
        let is_on = number != Some(0);
        let state = &mut self.state;
        match name {
            b"ansicpg" => {
                self.default = codepage::by_number(number.unwrap_or(0));
                state.encoding = self.default;
            }
            b"mac" => self.default = encoding_rs::MACINTOSH,
            b"uc" => state.n_fallback = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(16),
            b"f" if state.into == Into::Fonts => state.number = number.unwrap_or(0),
            b"f" => {
                let font = number.unwrap_or(0);
                state.encoding = self.fonts.get(&font).copied().unwrap_or(self.default);
            }
            b"fcharset" => {
                if let Some(encoding) = codepage::by_charset(number.unwrap_or(0)) {
                    self.fonts.insert(state.number, encoding);
                }
            }
            b"s" if state.into == Into::Styles => state.number = number.unwrap_or(0),
            b"s" => state.paragraph.level = self.levels.get(&number.unwrap_or(0)).copied(),
            b"outlinelevel" => {
                let level = number.and_then(|level| u8::try_from(level).ok()).filter(|l| *l < 9);
                match (state.into, level) {
                    (Into::Styles, Some(level)) => {
                        self.levels.insert(state.number, level);
                    }
                    (Into::Styles, None) => {}
                    (_, level) => state.paragraph.level = level,
                }
            }
            b"v" => state.is_hidden = is_on,
            b"plain" => state.is_hidden = false,
            b"pard" => state.paragraph = Paragraph::default(),
            b"intbl" => state.paragraph.in_table = is_on,
            b"ls" => state.paragraph.is_item = is_on,
            b"trowd" => self.page.begin_row(),
            b"trhdr" => self.page.mark_header(),
            b"cellx" => self.page.goes_on.push(std::mem::take(&mut self.goes_on)),
            b"clvmrg" => self.goes_on = true,
            _ if std::mem::take(&mut self.is_starred) => state.into = Into::Nowhere,
            _ => {}
        }
    }

    /// Words that set the destination of their group's text.
    fn destination(&mut self, name: &[u8]) -> bool {
        let into = match name {
            b"fonttbl" => Into::Fonts,
            b"stylesheet" => Into::Styles,
            b"fldinst" => {
                self.instruction.clear();
                Into::Instruction
            }
            b"fldrslt" => {
                let target = target_of(&std::mem::take(&mut self.instruction));
                self.state.link = target.map(|target| (self.page.len(), target));
                return true;
            }
            b"shptxt" => Into::Page,
            b"title" | b"author" | b"subject" | b"keywords" if self.state.into == Into::Nowhere => {
                Into::Metadata(match name {
                    b"title" => "title",
                    b"author" => "author",
                    b"subject" => "subject",
                    _ => "keywords",
                })
            }
            b"pict" => {
                self.n_pictures += usize::from(self.state.into == Into::Page);
                Into::Nowhere
            }
            b"header" | b"headerl" | b"headerr" | b"headerf" | b"footer" | b"footerl"
            | b"footerr" | b"footerf" => {
                self.n_furniture += 1;
                Into::Nowhere
            }
            b"shppict" => return true,
            b"listtext" | b"pntext" => {
                self.state.paragraph.is_item = true;
                return true;
            }
            b"info" | b"colortbl" | b"listtable" | b"listoverridetable" | b"revtbl"
            | b"nonshppict" | b"filetbl" | b"xe" | b"tc" | b"nonesttables" => Into::Nowhere,
            _ => return false,
        };
        self.state.into = into;
        true
    }

    /// Words that represent text, or end a piece of it.
    fn symbol(&mut self, name: &[u8]) -> bool {
        let text = match name {
            b"par" | b"sect" | b"page" => {
                if self.state.into == Into::Page {
                    self.page.end_paragraph(self.state.paragraph);
                }
                return true;
            }
            b"cell" | b"row" | b"nestrow" if self.state.into != Into::Page => return true,
            b"cell" => {
                self.page.end_cell();
                return true;
            }
            b"row" => {
                self.page.end_row();
                return true;
            }
            b"nestcell" | b"nestrow" | b"~" => " ",
            b"line" | b"\n" | b"\r" => "\n",
            b"tab" => "\t",
            b"_" => "-",
            b"emdash" => "—",
            b"endash" => "–",
            b"lquote" => "‘",
            b"rquote" => "’",
            b"ldblquote" => "“",
            b"rdblquote" => "”",
            b"bullet" => "•",
            b"{" => "{",
            b"}" => "}",
            b"\\" => "\\",
            _ => return false,
        };
        self.put(text);
        true
    }

    fn flush(&mut self) {
        self.flush_bytes();
        self.flush_units();
    }

    fn flush_bytes(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let text = self.state.encoding.decode_without_bom_handling(&bytes).0;
            self.put(&text);
        }
    }

    fn flush_units(&mut self) {
        if !self.units.is_empty() {
            let text = String::from_utf16_lossy(&std::mem::take(&mut self.units));
            self.put(&text);
        }
    }

    fn put(&mut self, text: &str) {
        match self.state.into {
            Into::Page => self.page.push(text, self.state.is_hidden),
            Into::Instruction => self.instruction.push_str(text),
            Into::Metadata(key) => {
                if let Some(value) = one_line(text) {
                    let known = self.metadata.entry(key.to_owned()).or_default();
                    known.push_str(&value);
                }
            }
            Into::Nowhere | Into::Fonts | Into::Styles => {}
        }
    }
}

/// `HYPERLINK "http://a.example"` → `http://a.example`.
fn target_of(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?;
    let quoted = rest.split('"').nth(1).unwrap_or_else(|| rest.trim());
    let is_place = rest.trim_start().starts_with("\\l");
    (!is_place && !quoted.is_empty()).then(|| quoted.to_owned())
}

#[cfg(test)]
mod tests;
