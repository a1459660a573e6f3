//! Recognizes files in folders that are no documents, by name and, for unknown text, by content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use pikerag_parse::Format;
use serde::Serialize;
use utoipa::ToSchema;

use crate::settings::FileChoice;

/// The kind of files that `index` does not take from a folder.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
pub enum OmittedKind {
    /// Scripts, style sheets and icons of web pages.
    Asset,
    /// Fonts.
    Font,
    /// Drawings in a format that cannot be read.
    Drawing,
    /// Code without line breaks.
    Minified,
    /// Files that a program wrote for programs, such as an index of a search.
    Generated,
    /// Versions of dependencies.
    LockFile,
    /// Source code.
    SourceCode,
    /// Folders of dependencies, caches and results of builds.
    BuildFolder,
    /// Files and folders that `.gitignore` or `.pikeragignore` leaves out.
    Ignored,
    /// Files and folders that `--exclude` or the settings leave out.
    Excluded,
}

/// Names of files, in lower case.
const NAMES: [(OmittedKind, &str); 2] = [
    (
        OmittedKind::LockFile,
        "bun.lock bun.lockb cargo.lock composer.lock conda-lock.yml deno.lock flake.lock \
         gemfile.lock go.sum go.work.sum gradle.lockfile mix.lock npm-shrinkwrap.json \
         package-lock.json package.resolved packages.lock.json pdm.lock pipfile.lock pixi.lock \
         pnpm-lock.yaml podfile.lock poetry.lock pubspec.lock uv.lock yarn.lock",
    ),
    (
        OmittedKind::Generated,
        "asset-manifest.json compile_commands.json objects.inv search-index.js search-index.json \
         search_index.js search_index.json sitemap.xml sitemap.xml.gz",
    ),
];

/// Extensions, in lower case. None of them is of a document format.
const EXTENSIONS: [(OmittedKind, &str); 4] = [
    (OmittedKind::Asset, "cur ico map wasm webmanifest"),
    (OmittedKind::Font, "eot otf ttf woff woff2"),
    (OmittedKind::Drawing, "svg svgz"),
    (
        OmittedKind::SourceCode,
        "asm bash bat c cc clj cmd cpp cs cu cxx dart erl ex exs f90 fish fs go gradle groovy h hh \
         hpp hs hxx ino java jl jsx kt kts lua m ml mm nim php pl pm proto ps1 psm1 py pyi pyw r rb \
         rs s scala sh sql svelte sv swift tf ts tsx vb vbs vhd vhdl vue zig zsh",
    ),
];

/// Extensions of scripts and style sheets: assets beside pages, source code on request.
const SCRIPTS: &str = "cjs css js less mjs sass scss styl";

/// Extensions of text that is data or prose, besides those of [`Format`].
const TEXTS: &str = "bib cfg conf geojson har ini ipynb tex toml yaml yml";

/// Names and endings of folders that contain no documents.
const FOLDERS: &str = "__pycache__ bower_components jspm_packages node_modules";
const FOLDER_ENDINGS: [&str; 2] = [".dist-info", ".egg-info"];
/// Files that mark their folder as the result of a build.
const MARKS: [&str; 2] = ["CMakeCache.txt", "pyvenv.cfg"];
/// The folder of a Sphinx site with copies of the pages' sources, and the file beside it.
const SPHINX: (&str, &str) = ("_sources", "searchindex.js");
/// The mark of a cache, with the first bytes that its specification demands.
const CACHE_MARK: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// The most bytes that are read of a file.
const HEAD: u64 = 64 * 1024;
/// The first bytes in which a generator names itself.
const HEADER: usize = 1024;
/// The shortest line of minified code, in bytes.
const MINIFIED_LINE: usize = 5_000;

/// The kind that the name of a file shows; `None` for documents and unknown files.
pub(crate) fn kind_of_name(name: &str, choice: &FileChoice) -> Option<OmittedKind> {
    let name = name.to_lowercase();
    if let Some(kind) = kind_in(&NAMES, &name) {
        return Some(kind);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    // mdBook and Sphinx write `searchindex.js`, with a hash or without.
    if stem.starts_with("searchindex") && ["js", "json"].contains(&extension) {
        return Some(OmittedKind::Generated);
    }
    // Pages name their icon so, whatever its format.
    if stem.starts_with("favicon") || stem.starts_with("apple-touch-icon") {
        return Some(OmittedKind::Asset);
    }
    let is_script = is_in(SCRIPTS, extension);
    if is_script && stem.rsplit_once('.').is_some_and(|(_, ending)| ending == "min") {
        return Some(OmittedKind::Minified);
    }
    if is_script {
        return (!choice.source_code).then_some(OmittedKind::Asset);
    }
    let kind = kind_in(&EXTENSIONS, extension)?;
    (kind != OmittedKind::SourceCode || !choice.source_code).then_some(kind)
}

/// The kind whose list contains a word.
fn kind_in(table: &[(OmittedKind, &str)], word: &str) -> Option<OmittedKind> {
    table.iter().find(|(_, words)| is_in(words, word)).map(|(kind, _)| *kind)
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|listed| listed == word)
}

/// The kind that the path of a file shows, in folders of dependencies too.
pub(crate) fn kind_of_path(path: &str, choice: &FileChoice) -> Option<OmittedKind> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    if folders.split('/').any(is_build_folder_name) {
        return Some(OmittedKind::BuildFolder);
    }
    kind_of_name(name, choice)
}

/// The kind that the first bytes of a file show. Only source code and text of unknown extensions
/// are read: a document stays a document, however it is written.
pub(super) fn kind_of_content(path: &Path) -> Option<OmittedKind> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_document = Format::ALL.iter().any(|format| format.extensions().contains(&extension));
    if is_document || is_in(TEXTS, extension) {
        return None;
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let by_name = match is_in(SCRIPTS, extension) {
        true => Some(OmittedKind::SourceCode),
        false => kind_in(&EXTENSIONS, extension),
    };
    kind_of_text(&head, by_name)
}

/// The kind that the first bytes of a file show, whose name shows `by_name`.
fn kind_of_text(head: &[u8], by_name: Option<OmittedKind>) -> Option<OmittedKind> {
    let header = String::from_utf8_lossy(head.get(..HEADER).unwrap_or(head));
    let is_marked = header.contains("@generated") || header.contains("DO NOT EDIT");
    if by_name == Some(OmittedKind::SourceCode) && is_marked {
        return Some(OmittedKind::Generated);
    }
    is_minified(head).then_some(OmittedKind::Minified)
}

/// Whether a line is as long as in minified code, with few spaces and many signs of code. Prose has
/// spaces or is not ASCII; data has few of these signs.
fn is_minified(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n');
    let line = lines.max_by_key(|line| line.len()).unwrap_or_default();
    let percent = |is_counted: fn(&u8) -> bool| {
        100 * line.iter().filter(|byte| is_counted(byte)).count() / line.len().max(1)
    };
    MINIFIED_LINE <= line.len()
        && !head.contains(&0)
        && percent(|byte| !byte.is_ascii()) < 5
        && percent(u8::is_ascii_whitespace) < 8
        && 5 <= percent(|byte| b"();=".contains(byte))
}

/// Whether a folder contains dependencies, a cache or the results of a build.
pub(super) fn is_build_folder(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    if name.is_some_and(is_build_folder_name) {
        return true;
    }
    let (copies, mark) = SPHINX;
    // Sphinx copies the sources of its pages beside them.
    let are_copies = name == Some(copies) && folder.with_file_name(mark).is_file();
    are_copies || MARKS.iter().any(|mark| folder.join(mark).is_file()) || is_cache(folder)
}

fn is_cache(folder: &Path) -> bool {
    let (mark, signature) = CACHE_MARK;
    let mut first = vec![0; signature.len()];
    let read = File::open(folder.join(mark)).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == signature
}

fn is_build_folder_name(name: &str) -> bool {
    is_in(FOLDERS, name) || FOLDER_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_kinds() {
        let (plain, with_source) =
            (FileChoice::default(), FileChoice { source_code: true, ..FileChoice::default() });
        for (name, kind, kind_with_source) in [
            ("app.JS", Some(OmittedKind::Asset), None),
            ("style.css", Some(OmittedKind::Asset), None),
            ("favicon-1a2b.png", Some(OmittedKind::Asset), Some(OmittedKind::Asset)),
            ("app.js.map", Some(OmittedKind::Asset), Some(OmittedKind::Asset)),
            ("a.min.js", Some(OmittedKind::Minified), Some(OmittedKind::Minified)),
            ("a.woff2", Some(OmittedKind::Font), Some(OmittedKind::Font)),
            ("plan.svg", Some(OmittedKind::Drawing), Some(OmittedKind::Drawing)),
            ("searchindex-1a2b.js", Some(OmittedKind::Generated), Some(OmittedKind::Generated)),
            ("searchindex.json", Some(OmittedKind::Generated), Some(OmittedKind::Generated)),
            ("objects.inv", Some(OmittedKind::Generated), Some(OmittedKind::Generated)),
            ("Cargo.lock", Some(OmittedKind::LockFile), Some(OmittedKind::LockFile)),
            ("package-lock.json", Some(OmittedKind::LockFile), Some(OmittedKind::LockFile)),
            ("main.rs", Some(OmittedKind::SourceCode), None),
            ("notes.min.md", None, None),
            ("data.json", None, None),
            ("settings.yaml", None, None),
            ("README", None, None),
            ("报告.pdf", None, None),
        ] {
            assert_eq!(kind_of_name(name, &plain), kind, "{name}");
            assert_eq!(kind_of_name(name, &with_source), kind_with_source, "{name}");
        }
        let kind = |path| kind_of_path(path, &plain);
        assert_eq!(kind("web/node_modules/a/README.md"), Some(OmittedKind::BuildFolder));
        assert_eq!(kind("web/a.js"), Some(OmittedKind::Asset));
        assert_eq!(kind("node_modules.md"), None);
    }

    #[test]
    fn no_document_format_is_left_out_by_name() {
        for format in Format::ALL {
            for extension in format.extensions() {
                let name = format!("report.{extension}");
                assert_eq!(kind_of_name(&name, &FileChoice::default()), None, "{name}");
            }
        }
    }

    #[test]
    fn content_shows_minified_and_generated_code() {
        let code = "function a(b){return c(b)==d?e(b):f(g,h);};".repeat(300);
        let source = Some(OmittedKind::SourceCode);
        assert_eq!(kind_of_text(code.as_bytes(), None), Some(OmittedKind::Minified));
        let header = b"// Code generated by a tool. DO NOT EDIT.\n";
        assert_eq!(kind_of_text(header, source), Some(OmittedKind::Generated));
        assert_eq!(kind_of_text(header, None), None);
        for text in [
            "One line of words, which a program wrote without line breaks. ".repeat(300),
            "起重机的回转轴承已更换。".repeat(2_000),
            "0.25,1.5,".repeat(2_000),
            r#"{"id":7,"name":"crane"},"#.repeat(1_000),
            "fn main() {\n    run();\n}\n".repeat(1_000),
        ] {
            assert_eq!(kind_of_text(text.as_bytes(), source), None, "{text:.40}");
        }
    }

    #[test]
    fn documents_are_not_judged_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let code = "function a(b){return c(b)==d?e(b):f(g,h);};".repeat(300);
        let kind = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, &code).unwrap();
            kind_of_content(&path)
        };
        for name in ["a.html", "a.json", "a.txt", "a.log", "a.yaml", "a.md"] {
            assert_eq!(kind(name), None, "{name}");
        }
        for name in ["bundle", "a.unknown", "a.ts"] {
            assert_eq!(kind(name), Some(OmittedKind::Minified), "{name}");
        }
    }

    #[test]
    fn build_folders_have_unmistakable_marks() {
        let top = tempfile::tempdir().unwrap();
        let (mark, signature) = CACHE_MARK;
        let folder = |name: &str, file: &str, bytes: &[u8]| {
            let folder = top.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file), bytes).unwrap();
            is_build_folder(&folder)
        };
        assert!(folder("node_modules", "a.md", b"a"));
        assert!(folder("pikerag-1.0.dist-info", "METADATA", b"a"));
        assert!(folder("environment", "pyvenv.cfg", b"home = /usr"));
        assert!(folder("target", mark, signature));
        assert!(!folder("_sources", "page.rst.txt", b"a"));
        std::fs::write(top.path().join("searchindex.js"), "x").unwrap();
        assert!(folder("_sources", "page.rst.txt", b"a"));
        assert!(!folder("target2", mark, b"notes about a cache of the target folder, in words"));
        assert!(!folder("build", "report.md", b"a"));
        assert!(!folder("vendor", "price-list.csv", b"a"));
    }
}
