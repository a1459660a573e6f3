//! Finds the files of a base that programs name: by their names or URIs in the base, by the names of
//! their uploads, or by their absolute paths.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use pikerag_knowledge::uri::{file_path, file_uri};
use pikerag_knowledge::{FileRecord, Filter, FilterField};

use super::root::Root;
use super::{Names, without_links};
use crate::base::{Base, folder_of};
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::settings::this_folder;
use crate::uploads::UploadPlaces;

/// The files of a base as programs name them. Making it costs one pass over the files, and finding a
/// file does not depend on their number.
pub(crate) struct CalledFiles<'a> {
    names: &'a Names,
    uploads: &'a UploadPlaces,
    /// Positions in the list of files, by name and by URI.
    by_name: HashMap<Cow<'a, str>, Vec<usize>>,
    by_place: HashMap<&'a Path, Vec<usize>>,
}

impl Names {
    /// The files of the base as programs name them.
    pub(crate) fn called_files<'a>(&'a self, uploads: &'a UploadPlaces) -> CalledFiles<'a> {
        let mut by_name: HashMap<Cow<'a, str>, Vec<usize>> = HashMap::new();
        let mut by_place: HashMap<&'a Path, Vec<usize>> = HashMap::new();
        for (at, file) in self.records.iter().enumerate() {
            let (name, uri) = (file.path.as_str(), file_uri(&file.path));
            by_name.entry(Cow::Borrowed(name)).or_default().push(at);
            if uri.as_ref() != name {
                by_name.entry(uri).or_default().push(at);
            }
            if let Some(place) = self.places.get(name) {
                by_place.entry(place.as_path()).or_default().push(at);
            }
        }
        CalledFiles { names: self, uploads, by_name, by_place }
    }
}

impl<'a> CalledFiles<'a> {
    /// The file that a program names: by its name or URI in the base, by the name of its upload, or
    /// by its absolute path. The working folder has no effect. An absolute path is never ambiguous.
    ///
    /// # Errors
    /// [`EngineError::NotFound`]; [`EngineError::UnclearFile`] if an upload has the name of another
    /// file of the base.
    pub(crate) fn file(&self, name: &str) -> Result<&'a FileRecord> {
        let known = self.names;
        let uploaded = self.uploads.place(name).ok().map(|place| known.absolute(&place));
        let typed = Path::new(name);
        let typed = typed.is_absolute().then(|| known.absolute(typed));
        let places = uploaded.iter().chain(&typed);
        let at_places = places.filter_map(|place| self.by_place.get(place.as_path()));
        let named = self.by_name.get(name).into_iter();
        let found: BTreeSet<usize> = named.chain(at_places).flatten().copied().collect();
        let files: Vec<&'a FileRecord> =
            found.into_iter().filter_map(|at| known.records.get(at)).collect();
        let Some(&first) = files.first() else {
            return Err(EngineError::NotFound { what: Missing::File, name: name.to_owned() });
        };
        let place = known.place(&first.path);
        if files.iter().all(|file| known.place(&file.path) == place) {
            // A file that is on record twice has this name at least once.
            return Ok(files.iter().find(|file| file.path == name).copied().unwrap_or(first));
        }
        let shown = |file: &&FileRecord| known.shown_place(&file.path).display().to_string();
        Err(EngineError::UnclearFile {
            name: name.to_owned(),
            files: files.iter().map(shown).collect(),
        })
    }
}

/// The names of the uploaded files of a base.
pub(crate) struct UploadNames {
    root: Root,
    uploads: UploadPlaces,
}

impl Session {
    /// The names of the uploaded files of a base; `None` if the base stores no root yet. It reads no
    /// list of files.
    pub(crate) async fn upload_names(&self, base: &Base) -> Result<Option<UploadNames>> {
        let Some(kept) = base.root().await? else { return Ok(None) };
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let root = Root::kept(&kept, &here.join(folder_of(base.folder())));
        let uploads = match base.stored_uploads() {
            Some(_) => UploadPlaces::below(&root.folder, self.folder()),
            None => UploadPlaces::beside(&here.join(folder_of(self.folder()))),
        };
        Ok(Some(UploadNames { root, uploads }))
    }

    /// The filter, whose conditions on documents also admit uploaded files by the names of their
    /// uploads. For filters of requests only: the filter of a key means exactly the files that it
    /// names, because a later upload must not widen it.
    pub(crate) async fn with_upload_names<'a>(
        &self,
        base: &Base,
        filter: &'a Filter,
    ) -> Result<Cow<'a, Filter>> {
        if !filter.conditions.iter().any(|condition| condition.field == FilterField::Source) {
            return Ok(Cow::Borrowed(filter));
        }
        let names = self.upload_names(base).await?;
        Ok(names.map_or(Cow::Borrowed(filter), |names| names.added_to(filter)))
    }
}

impl UploadNames {
    /// The name of the upload that a document comes from; `None` for a file that was not uploaded.
    pub(crate) fn of_document(&self, uri: &str) -> Option<String> {
        self.uploads.name_of(&self.root.folder.join(file_path(uri)))
    }

    fn added_to<'a>(&self, filter: &'a Filter) -> Cow<'a, Filter> {
        let Some(folder) = self.root.name_of(&without_links(self.uploads.folder())) else {
            return Cow::Borrowed(filter);
        };
        let mut filter = filter.clone();
        for condition in &mut filter.conditions {
            if condition.field != FilterField::Source {
                continue;
            }
            let uploaded = condition.any_of.iter().map(|name| format!("{folder}/{name}"));
            let uploaded: Vec<String> = uploaded.collect();
            condition.any_of.extend(uploaded);
        }
        Cow::Owned(filter)
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Condition;

    use super::*;

    /// Names of a base in `TOP/.pikerag`, typed in `TOP/elsewhere`; its uploads are beside it.
    fn names(records: &[&str]) -> (tempfile::TempDir, Names, UploadPlaces) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("elsewhere")).unwrap();
        let record = |path: &&str| FileRecord {
            path: path.replace("TOP", top.to_str().unwrap()),
            hash: (*path).to_owned(),
            recipe: String::new(),
        };
        let root = Root { folder: top.clone(), is_certain: true };
        let names = Names::new(top.join("elsewhere"), root, records.iter().map(record).collect());
        let uploads = UploadPlaces::beside(&top.join(".pikerag"));
        (folder, names, uploads)
    }

    #[test]
    fn files_have_their_names_whatever_the_working_folder() {
        let files = ["docs/x.md", "pikerag.uploads/a b/ü.md", "r#1.jsonl", "/far/z.md"];
        let (folder, names, uploads) = names(&files);
        let called = |name: &str| {
            names.called_files(&uploads).file(name).map(|file| file.path.clone()).map_err(|error| {
                assert!(matches!(error, EngineError::NotFound { .. }), "{error}");
            })
        };
        let whole = folder.path().canonicalize().unwrap().join("docs/x.md");
        for (name, file) in [
            ("docs/x.md", "docs/x.md"),
            (whole.to_str().unwrap(), "docs/x.md"),
            ("a b/ü.md", "pikerag.uploads/a b/ü.md"),
            ("pikerag.uploads/a b/ü.md", "pikerag.uploads/a b/ü.md"),
            ("r#1.jsonl", "r#1.jsonl"),
            ("r%231.jsonl", "r#1.jsonl"),
            ("/far/z.md", "/far/z.md"),
        ] {
            assert_eq!(called(name).as_deref(), Ok(file), "{name}");
        }
        for name in ["x.md", "../docs/x.md", "a b", "ü.md", "", "docs/X.md"] {
            assert_eq!(called(name), Err(()), "{name}");
        }
    }

    #[test]
    fn an_upload_with_the_name_of_another_file_is_ambiguous() {
        let (folder, names, uploads) = names(&["docs/x.md", "pikerag.uploads/docs/x.md"]);
        let top = folder.path().canonicalize().unwrap();
        let error = names.called_files(&uploads).file("docs/x.md").unwrap_err();
        let EngineError::UnclearFile { name, files } = &error else { panic!("{error}") };
        assert_eq!((name.as_str(), files.len()), ("docs/x.md", 2));
        // Each listed path names its file.
        for (path, file) in files.iter().zip(["docs/x.md", "pikerag.uploads/docs/x.md"]) {
            assert_eq!(Path::new(path), top.join(file));
            assert_eq!(names.called_files(&uploads).file(path).unwrap().path, file);
        }
        let upload = names.called_files(&uploads).file("pikerag.uploads/docs/x.md").unwrap();
        assert_eq!(upload.path, "pikerag.uploads/docs/x.md");
    }

    #[test]
    fn one_pass_over_the_files_serves_many_names() {
        let paths: Vec<String> = (0..500).map(|at| format!("docs/{at}#.md")).collect();
        let records: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (folder, names, uploads) = names(&records);
        let top = folder.path().canonicalize().unwrap();
        let called = names.called_files(&uploads);
        for path in records.into_iter().rev() {
            let whole = top.join(path);
            for name in [path, &file_uri(path), whole.to_str().unwrap()] {
                assert_eq!(called.file(name).unwrap().path, path, "{name}");
            }
        }
        let missing = called.file("docs/500#.md");
        assert!(matches!(missing, Err(EngineError::NotFound { .. })));
    }

    #[test]
    fn a_name_that_is_the_uri_of_another_file_is_ambiguous() {
        let (_folder, names, uploads) = names(&["r#1.jsonl", "r%231.jsonl"]);
        let called = names.called_files(&uploads);
        let unclear = called.file("r%231.jsonl").unwrap_err();
        assert!(matches!(unclear, EngineError::UnclearFile { .. }), "{unclear}");
        assert_eq!(called.file("r#1.jsonl").unwrap().path, "r#1.jsonl");
    }

    #[test]
    fn a_file_on_record_twice_is_not_ambiguous() {
        let (folder, names, uploads) = names(&["docs/x.md", "TOP/docs/x.md"]);
        let whole = folder.path().canonicalize().unwrap().join("docs/x.md");
        for name in ["docs/x.md", whole.to_str().unwrap()] {
            assert_eq!(names.called_files(&uploads).file(name).unwrap().path, name);
        }
    }

    #[test]
    fn filters_admit_uploads_by_their_names() {
        let (folder, _, uploads) = names(&[]);
        let top = folder.path().canonicalize().unwrap();
        let root = Root { folder: top, is_certain: true };
        let names = UploadNames { root, uploads };
        let conditions = ["source=a/ü.md", "folder=a"].map(|one| one.parse::<Condition>().unwrap());
        let filter = Filter { conditions: conditions.to_vec() };
        let added = names.added_to(&filter);
        assert!(added.conditions[0].fits_uri("pikerag.uploads/a/ü.md"));
        assert!(added.conditions[0].fits_uri("a/ü.md"));
        assert!(!added.conditions[0].fits_uri("other/a/ü.md"));
        assert_eq!(added.conditions[1], filter.conditions[1]);
        assert_eq!(names.of_document("pikerag.uploads/a/ü.md#7").as_deref(), Some("a/ü.md"));
        assert_eq!(names.of_document("a/ü.md"), None);
    }
}
