//! Reads EPUB books: their chapters in the order of the spine, each as a web page.

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::{BlockKind, Document, Link, ProblemFact};

use crate::document::blocks::one_line;
use crate::document::file::{Input, TextFile};
use crate::document::writing::Writing;
use crate::formats::web::html;
use crate::{Format, ParseError};
use pikerag_unpack::Problems;
use pikerag_unpack::archive::{self, Archive};
use pikerag_unpack::xml::{Element, Tree, decode};

/// The most chapters of one book.
const MOST_CHAPTERS: usize = 5_000;

/// Reads a book: its chapters become one document; its pictures are counted, not kept.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let mut archive = Archive::open(input.name, input.bytes, problems)?;
    let package = package_of(&mut archive, problems).ok_or_else(|| {
        input.malformed("an EPUB book", "its package document is missing or damaged")
    })?;
    if let Some(locked) = locked(&mut archive, &package, problems) {
        return Err(ParseError::Unsupported {
            name: input.name.to_owned(),
            seen: format!("protected against copying (`{locked}` is encrypted)"),
            hint: "give a copy without protection".to_owned(),
        });
    }
    let headings = table_of_contents(&mut archive, &package, problems);
    let mut writing = Writing::new(input.limits.max_cells);
    for chapter in &package.spine {
        let Some(bytes) = archive.entry(chapter, problems) else {
            if !archive.has(chapter) {
                problems.add(chapter, ProblemFact::ChapterMissing);
            }
            continue;
        };
        let Some(mut page) = page_of(input, chapter, &bytes, problems) else { continue };
        // Drops links from chapter to chapter, which stay inside the book.
        page.links.retain(|link| !is_inside(&package, chapter, link));
        let begins =
            page.blocks.first().is_some_and(|b| matches!(b.kind, BlockKind::Heading { .. }));
        if let Some(heading) = headings.get(chapter).filter(|_| !begins) {
            writing.plain(BlockKind::Heading { level: 1 }, heading);
        }
        writing.append(page);
    }
    let n_pictures = package.n_pictures;
    if 0 < n_pictures {
        problems.add("", ProblemFact::PicturesInWords { pictures: n_pictures });
    }
    let mut document = input.document(package.metadata.get("title").cloned(), writing);
    document.metadata = package.metadata;
    document.metadata.remove("title");
    Ok(document)
}

/// The contents of the book's package document.
struct Package {
    metadata: BTreeMap<String, String>,
    /// Entries of the archive, in reading order.
    spine: Vec<String>,
    /// Its table of contents, in the old or the new form.
    contents: Option<String>,
    n_pictures: usize,
}

fn package_of(archive: &mut Archive, problems: &mut Problems) -> Option<Package> {
    let container = archive.entry("META-INF/container.xml", problems);
    let named = container.and_then(|bytes| {
        let text = decode(&bytes);
        let tree = Tree::read(&text, "META-INF/container.xml", problems);
        Some(tree.root()?.find("rootfile")?.attr("full-path")?.into_owned())
    });
    let place = match named {
        Some(place) => place,
        None => archive.names().find(|name| name.to_lowercase().ends_with(".opf"))?.to_owned(),
    };
    let bytes = archive.entry(&place, problems)?;
    let text = decode(&bytes);
    let tree = Tree::read(&text, &place, problems);
    let root = tree.root()?;
    let manifest = root.child("manifest")?;
    let mut entries = HashMap::new();
    let mut contents = None;
    let mut navigation = None;
    let mut n_pictures = 0;
    for item in manifest.all("item") {
        let (Some(id), Some(href)) = (item.attr("id"), item.attr("href")) else { continue };
        let entry = beside(&place, &href);
        let media_type = item.attr("media-type").unwrap_or_default();
        n_pictures += usize::from(media_type.starts_with("image/"));
        if item.attr("properties").is_some_and(|all| all.split_whitespace().any(|p| p == "nav")) {
            navigation = Some(entry.clone());
        } else if media_type == "application/x-dtbncx+xml" {
            contents = Some(entry.clone());
        }
        entries.insert(id.into_owned(), entry);
    }
    let spine = root.child("spine")?.all("itemref").filter_map(|item| {
        let entry = entries.get(&*item.attr("idref")?)?;
        // Skips the page with the contents, which only repeats headings.
        (navigation.as_ref() != Some(entry)).then(|| entry.clone())
    });
    let spine: Vec<String> = spine.take(MOST_CHAPTERS).collect();
    let metadata = root.child("metadata").map(metadata).unwrap_or_default();
    (!spine.is_empty()).then(|| Package {
        metadata,
        spine,
        contents: navigation.or(contents),
        n_pictures,
    })
}

fn metadata(element: Element) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let keys = [
        ("title", "title"),
        ("creator", "author"),
        ("language", "language"),
        ("date", "date"),
        ("publisher", "publisher"),
        ("description", "description"),
    ];
    for (name, key) in keys {
        let mut values: Vec<String> =
            element.all(name).filter_map(|value| one_line(&value.text())).collect();
        if !values.is_empty() {
            let value = if key == "author" { values.join(", ") } else { values.swap_remove(0) };
            metadata.insert(key.to_owned(), value);
        }
    }
    metadata
}

/// The first chapter that is encrypted.
fn locked(archive: &mut Archive, package: &Package, problems: &mut Problems) -> Option<String> {
    let bytes = archive.entry("META-INF/encryption.xml", problems)?;
    let text = decode(&bytes);
    let tree = Tree::read(&text, "META-INF/encryption.xml", problems);
    let mut named = tree.root()?.descendants().filter(|e| e.name() == "CipherReference");
    named.find_map(|reference| {
        let entry = beside("", &reference.attr("URI")?);
        package.spine.contains(&entry).then_some(entry)
    })
}

/// Headings by chapter, for chapters without a heading.
fn table_of_contents(
    archive: &mut Archive,
    package: &Package,
    problems: &mut Problems,
) -> HashMap<String, String> {
    let mut headings = HashMap::new();
    let Some(place) = &package.contents else { return headings };
    let Some(bytes) = archive.entry(place, problems) else { return headings };
    let text = decode(&bytes);
    let tree = Tree::read(&text, place, problems);
    let Some(root) = tree.root() else { return headings };
    for element in root.descendants() {
        let (target, label) = match element.name() {
            "a" => (element.attr("href"), Some(element)),
            "navPoint" => (
                element.child("content").and_then(|content| content.attr("src")),
                element.child("navLabel"),
            ),
            _ => continue,
        };
        let label = label.and_then(|label| one_line(&label.text()));
        if let (Some(target), Some(label)) = (target, label) {
            headings.entry(beside(place, &target)).or_insert(label);
        }
    }
    headings
}

/// A chapter as a document; `None` if it has no visible words.
fn page_of(
    input: &Input,
    chapter: &str,
    bytes: &[u8],
    problems: &mut Problems,
) -> Option<Document> {
    let file = TextFile::decode(chapter, bytes, Format::Html, input.limits, problems).ok()?;
    html::read(&file, problems).ok()
}

fn is_inside(package: &Package, chapter: &str, link: &Link) -> bool {
    package.spine.contains(&beside(chapter, &link.target))
}

/// Resolves a reference relative to `place`: without fragment, with `%20` decoded.
fn beside(place: &str, reference: &str) -> String {
    let reference = reference.split(['#', '?']).next().unwrap_or_default();
    archive::resolve(place, &unescape(reference))
}

fn unescape(reference: &str) -> String {
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::test_support::run;

    fn book(files: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in files {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    const CONTAINER: (&str, &str) = (
        "META-INF/container.xml",
        "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>",
    );
    const PACKAGE: (&str, &str) = (
        "OPS/book.opf",
        "<package xmlns:dc='x'><metadata><dc:title>On cranes</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator></metadata>\
         <manifest><item id='a' href='one%20a.xhtml' media-type='application/xhtml+xml'/><item id='b' href='two.xhtml'/><item id='c' href='gone.xhtml'/>\
         <item id='n' href='nav.xhtml' properties='nav'/><item id='p' href='p.png' media-type='image/png'/></manifest>\
         <spine><itemref idref='n'/><itemref idref='b'/><itemref idref='a'/><itemref idref='c'/></spine></package>",
    );
    const CHAPTERS: [(&str, &str); 3] = [
        (
            "OPS/one a.xhtml",
            "<html><body><p>First, see <a href='two.xhtml#x'>two</a> and <a href='http://a.example'>more</a>.</p></body></html>",
        ),
        (
            "OPS/two.xhtml",
            "<html><body><h2>Second</h2><p>text</p><img src='p.png' alt='a crane'/></body></html>",
        ),
        (
            "OPS/nav.xhtml",
            "<html><nav><a href='one%20a.xhtml'>Chapter one</a><a href='two.xhtml'>Chapter two</a></nav></html>",
        ),
    ];

    #[test]
    fn chapters_follow_the_spine() {
        let files = [&[CONTAINER, PACKAGE][..], &CHAPTERS].concat();
        insta::assert_snapshot!(run("a.epub", book(&files)), @r#"
        == On cranes
        h2 "Second"
        p "text"
        p "a crane"
        h1 "Chapter one"
        p "First, see two and more."
        link "more" -> http://a.example
        author = Ada, Bob
        ! OPS/gone.xhtml: the book lists this chapter, but the file is missing
        ! : pictures left out, what stands for them in words kept: 1
        "#);
    }

    #[test]
    fn invalid_and_locked_books_are_refused() {
        insta::assert_snapshot!(run("a.epub", book(&[("x", "y")])), @"`a.epub` is not readable as an EPUB book: its package document is missing or damaged; open it in its program and save it again; if it is plain text, rename it to .txt");
        let locked = ("META-INF/encryption.xml", "<e><CipherReference URI='OPS/two.xhtml'/></e>");
        let files = [&[CONTAINER, PACKAGE, locked][..], &CHAPTERS].concat();
        insta::assert_snapshot!(run("a.epub", book(&files)), @"`a.epub` is protected against copying (`OPS/two.xhtml` is encrypted): give a copy without protection");
    }
}
