//! Finds the files of a base that programs name: by their names or URIs in the base, by the names of
//! their uploads, or by their absolute paths.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pikerag_knowledge::uri::{file_path, file_uri};
use pikerag_knowledge::{FileRecord, Filter, FilterField};
use pikerag_store::Base;

use super::root::Root;
use super::{Names, without_links};
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::settings::this_folder;
use crate::uploads::Uploads;

impl Names {
    /// The file that a program names: by its name or URI in the base, by the name of its upload, or
    /// by its absolute path. The working folder has no effect. An absolute path is never ambiguous.
    ///
    /// # Errors
    /// [`EngineError::NotFound`]; [`EngineError::UnclearFile`] if an upload has the name of another
    /// file of the base.
    pub(crate) fn file_called(&self, uploads: &Uploads, name: &str) -> Result<&FileRecord> {
        let uploaded = uploads.place(name).ok().map(|place| self.absolute(&place));
        let typed = Path::new(name);
        let typed = typed.is_absolute().then(|| self.absolute(typed));
        let is_called = |file: &&FileRecord| {
            let place = self.places.get(&file.path);
            let is_at = |at: &Option<PathBuf>| at.is_some() && at.as_ref() == place;
            file.path == name || file_uri(&file.path) == name || is_at(&uploaded) || is_at(&typed)
        };
        let files: Vec<&FileRecord> = self.records.iter().filter(is_called).collect();
        let Some(&first) = files.first() else {
            return Err(EngineError::NotFound { what: Missing::File, name: name.to_owned() });
        };
        let place = self.place(&first.path);
        if files.iter().all(|file| self.place(&file.path) == place) {
            // A file that is on record twice has this name at least once.
            return Ok(files.iter().find(|file| file.path == name).copied().unwrap_or(first));
        }
        let shown = |file: &&FileRecord| self.shown_place(&file.path).display().to_string();
        Err(EngineError::UnclearFile {
            name: name.to_owned(),
            files: files.iter().map(shown).collect(),
        })
    }
}

/// The names of the uploaded files of a base.
pub(crate) struct UploadNames {
    root: Root,
    uploads: Uploads,
}

impl Session {
    /// The names of the uploaded files of a base; `None` if the base stores no root yet. It reads no
    /// list of files.
    pub(crate) async fn upload_names(&self, base: &Base) -> Result<Option<UploadNames>> {
        let Some(kept) = base.root().await? else { return Ok(None) };
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let uploads = Uploads::beside(&here.join(self.folder()));
        Ok(Some(UploadNames { root: Root::kept(&kept, base.folder()), uploads }))
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
    fn names(records: &[&str]) -> (tempfile::TempDir, Names, Uploads) {
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
        let uploads = Uploads::beside(&top.join(".pikerag"));
        (folder, names, uploads)
    }

    #[test]
    fn files_have_their_names_whatever_the_working_folder() {
        let files = ["docs/x.md", "pikerag.uploads/a b/ü.md", "r#1.jsonl", "/far/z.md"];
        let (folder, names, uploads) = names(&files);
        let called = |name: &str| {
            names.file_called(&uploads, name).map(|file| file.path.clone()).map_err(|error| {
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
        let error = names.file_called(&uploads, "docs/x.md").unwrap_err();
        let EngineError::UnclearFile { name, files } = &error else { panic!("{error}") };
        assert_eq!((name.as_str(), files.len()), ("docs/x.md", 2));
        // Each listed path names its file.
        for (path, file) in files.iter().zip(["docs/x.md", "pikerag.uploads/docs/x.md"]) {
            assert_eq!(Path::new(path), top.join(file));
            assert_eq!(names.file_called(&uploads, path).unwrap().path, file);
        }
        let upload = names.file_called(&uploads, "pikerag.uploads/docs/x.md").unwrap();
        assert_eq!(upload.path, "pikerag.uploads/docs/x.md");
    }

    #[test]
    fn a_file_on_record_twice_is_not_ambiguous() {
        let (folder, names, uploads) = names(&["docs/x.md", "TOP/docs/x.md"]);
        let whole = folder.path().canonicalize().unwrap().join("docs/x.md");
        for name in ["docs/x.md", whole.to_str().unwrap()] {
            assert_eq!(names.file_called(&uploads, name).unwrap().path, name);
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
