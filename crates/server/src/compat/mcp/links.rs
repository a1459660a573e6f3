//! Makes the links to passages: pages of the server, or files on this machine.

use std::fmt::Write;
use std::path::Path;

use pikerag_engine::Session;
use pikerag_engine::knowledge::ChunkId;
use pikerag_engine::knowledge::uri::percent_encoded;

use crate::app::App;
use crate::problem::Problem;

/// Where the links of results lead.
#[derive(Clone, Copy)]
pub(super) enum Links {
    /// To the pages of this server.
    Served,
    /// No server runs: to the server that `server.public_url` names, or else to the files on this
    /// machine that were read, as far as they exist.
    Local,
}

/// A passage to link to.
pub(super) struct Target<'a> {
    pub(super) chunk: ChunkId,
    pub(super) uri: &'a str,
    pub(super) page: Option<u32>,
}

impl Links {
    /// The link to each passage, in order; `None` if there is nothing to open.
    pub(super) async fn to(
        self,
        app: &App,
        (base, session): (&str, &Session),
        targets: &[Target<'_>],
    ) -> Result<Vec<Option<String>>, Problem> {
        let is_served = match self {
            Self::Served => true,
            Self::Local => app.live().settings.public_url.is_some(),
        };
        if is_served {
            let links = targets.iter().map(|target| Some(app.permalink(base, target.chunk)));
            return Ok(links.collect());
        }
        let uris: Vec<&str> = targets.iter().map(|target| target.uri).collect();
        let files = pikerag_engine::local_files(session, &uris).await?;
        let pairs = targets.iter().zip(files);
        Ok(pairs.map(|(target, file)| Some(file_link(&file?, target.page))).collect())
    }
}

/// The `file://` URI of an absolute path; of a PDF, at its page.
fn file_link(path: &Path, page: Option<u32>) -> String {
    let mut link = format!("file://{}", percent_encoded(path));
    let is_pdf = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"));
    if let (true, Some(page)) = (is_pdf, page) {
        let _ = write!(link, "#page={page}");
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_escaped_and_open_pdfs_at_their_page() {
        let of = |path: &str, page| file_link(Path::new(path), page);
        assert_eq!(of("/srv/crane.md", Some(2)), "file:///srv/crane.md");
        assert_eq!(of("/a b/50%#1.PDF", Some(3)), "file:///a%20b/50%25%231.PDF#page=3");
        assert_eq!(of("/报告.md", None), "file:///%E6%8A%A5%E5%91%8A.md");
    }
}
