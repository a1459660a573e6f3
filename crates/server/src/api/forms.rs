//! Receives several files at once, as browsers and most HTTP clients send them.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use std::path::PathBuf;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::{Extension, Json};
use futures::StreamExt;
use pikerag_engine::CreateBase;
use pikerag_engine::uploads::{Part, UploadId, Uploads};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};

use super::files::{Uploaded, cut_off, stored};
use crate::app::{App, Caller};
use crate::form::{BadForm, FormPiece, FormReader, PartHead};
use crate::jobs::Work;
use crate::problem::{Fault, Parts, Problem, Query};

/// The name of the fields that hold files.
const FIELD: &str = "file";
/// The largest number of files in a form: each needs an open file until the form is complete.
pub(crate) const MOST: usize = 100;

/// What to do once the files have arrived.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AfterUpload {
    /// The files are stored but not indexed yet, so that you can estimate them first (`POST
    /// …/index`).
    #[serde(default)]
    hold: bool,
    /// Each file is a ZIP archive: its files are stored in its place, below a folder of its name.
    #[serde(default)]
    unpack: bool,
}

/// A form with files.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document describes it, and the handler reads the form itself")]
pub(crate) struct UploadForm {
    /// One or more files, each with its file name: the name that it is uploaded under. At most 100.
    file: Vec<Vec<u8>>,
}

/// The files of a form, in its order.
#[derive(Serialize, ToSchema)]
pub(crate) struct UploadedFiles {
    /// What became of each file. All have the same job.
    files: Vec<Uploaded>,
}

/// Uploads files as a form: each as `PUT …/files/{file}` does, and one job indexes them. Nothing
/// is stored before the whole form has arrived and all names are valid and free. If a file cannot
/// be stored after that (full disk, unreadable archive), the files before it stay and are indexed.
/// The limit of a file's bytes holds for each.
#[utoipa::path(post, path = "/api/v1/bases/{base}/files", operation_id = "uploadFiles", tag = "files",
    params(("base" = String, Path), AfterUpload),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, body = UploadedFiles), (status = 409, body = Problem)))]
pub(crate) async fn upload(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(AfterUpload { hold, unpack }): Query<AfterUpload>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<UploadedFiles>, Problem> {
    let session = app.whole_base(&caller, &base)?;
    let uploads = session.uploads(CreateBase::Yes).await?;
    let most = session.settings().parser_limits.file_bytes;
    let mut arriving = Arriving { uploads: &uploads, most, files: Vec::new() };
    arriving.receive_whole(reader(&headers)?, body, unpack).await?;
    let (mut files, mut paths) = (Vec::new(), Vec::<PathBuf>::new());
    let mut failed: Option<Problem> = None;
    while failed.is_none() && !arriving.files.is_empty() {
        let (file, part) = arriving.files.remove(0);
        let held = part.held();
        match stored(&session, part, &file, (None, unpack)).await {
            Ok((places, unpacked)) => {
                paths.extend(places);
                let (upload, job) = (None, None);
                files.push(Uploaded { file, held, is_whole: true, upload, job, unpacked });
            }
            Err(problem) => failed = Some(problem),
        }
    }
    // Earlier files may have replaced older versions, so they stay and get their job.
    if !hold && !paths.is_empty() {
        let job = app.begin(&caller, &base, &session, Work::files(paths)).await?.id();
        for file in &mut files {
            file.job = Some(job);
        }
    }
    match failed {
        None => Ok(Json(UploadedFiles { files })),
        Some(problem) if files.is_empty() => Err(problem),
        Some(problem) => Err(problem.hint(
            "earlier files of the form are stored: GET …/sent lists them; send the others again",
        )),
    }
}

fn reader(headers: &HeaderMap) -> Result<FormReader, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(FormReader::new).ok_or_else(|| {
        Problem::new(415, "no-form", Fault::Caller)
            .saying("the body must be `multipart/form-data` with a boundary")
            .in_chinese("请求体须为带分隔符（boundary）的 `multipart/form-data`")
            .hint("send the bytes of one file with `PUT …/files/NAME`")
    })
}

impl From<BadForm> for Problem {
    fn from(bad: BadForm) -> Self {
        Self::bad_request(bad.to_string()).in_chinese("无法读取此表单：格式有误")
    }
}

/// The files of a form that is not complete yet. Files that were not stored are discarded.
struct Arriving<'a> {
    uploads: &'a Uploads,
    /// The largest number of bytes of a file.
    most: u64,
    files: Vec<(String, Part)>,
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        // Without a runtime, the process is ending: parts that do not grow expire.
        let Ok(runtime) = Handle::try_current() else { return };
        for (_, part) in self.files.drain(..) {
            runtime.spawn(part.discard());
        }
    }
}

impl Arriving<'_> {
    /// Receives all files, and checks that each can have its name. Otherwise nothing of them stays.
    async fn receive_whole(
        &mut self,
        form: FormReader,
        body: Body,
        unpack: bool,
    ) -> Result<(), Problem> {
        let came = async {
            self.receive(form, body).await?;
            // The names of the files in an archive are not known yet.
            let checked = if unpack { &[] } else { self.files.as_slice() };
            for (_, part) in checked {
                part.check_place().await?;
            }
            Ok(())
        };
        let came = came.await;
        if came.is_err() {
            for (_, part) in self.files.drain(..) {
                part.discard().await;
            }
        }
        came
    }

    async fn receive(&mut self, mut form: FormReader, body: Body) -> Result<(), Problem> {
        let mut arriving = body.into_data_stream();
        while let Some(bytes) = arriving.next().await {
            form.take(&bytes.map_err(|error| cut_off(&error))?);
            while let Some(piece) = form.next_piece()? {
                match piece {
                    FormPiece::Part(head) => self.begin(head).await?,
                    FormPiece::Bytes(bytes) => {
                        if let Some((_, part)) = self.files.last_mut() {
                            part.take(&bytes).await?;
                        }
                    }
                    FormPiece::End if self.files.is_empty() => {
                        return Err(Problem::bad_request("the form contains no file")
                            .in_chinese("表单中没有文件"));
                    }
                    FormPiece::End => return Ok(()),
                }
            }
        }
        Err(Problem::bad_request("the form was cut off: its last boundary is missing")
            .in_chinese("表单不完整：缺少最后的分隔符"))
    }

    async fn begin(&mut self, PartHead { field, file }: PartHead) -> Result<(), Problem> {
        if field != FIELD {
            let says =
                format!("`{field}` is an unknown field: each field must have the name `file`");
            return Err(Problem::bad_request(says)
                .in_chinese(format!("未知的字段 `{field}`：每个字段的名称须为 `file`")));
        }
        let Some(file) = file.filter(|file| !file.is_empty()) else {
            return Err(Problem::bad_request("a part has no file name")
                .in_chinese("表单的一部分没有文件名"));
        };
        if self.files.iter().any(|(other, _)| *other == file) {
            return Err(Problem::bad_request(format!("the form contains `{file}` twice"))
                .in_chinese(format!("表单中有两个 `{file}`")));
        }
        if let Some((other, _)) = self.files.iter().find(|(other, _)| conflict(other, &file)) {
            let says = format!("`{other}` and `{file}` cannot both be stored: one is a folder");
            return Err(Problem::bad_request(says)
                .in_chinese(format!("`{other}` 与 `{file}` 不能同时保存：其中之一是文件夹")));
        }
        if MOST <= self.files.len() {
            return Err(Problem::bad_request(format!("a form holds at most {MOST} files"))
                .in_chinese(format!("一个表单最多有 {MOST} 个文件")));
        }
        if let Some((_, before)) = self.files.last_mut() {
            before.store_arrived().await?;
        }
        let part = self.uploads.begin(&file, &UploadId::random()?, 0, self.most).await?;
        self.files.push((file, part));
        Ok(())
    }
}

/// Whether one of two names is the folder of the other.
fn conflict(one: &str, other: &str) -> bool {
    let is_below = |file: &str, folder: &str| {
        file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    is_below(one, other) || is_below(other, one)
}
