//! Tests uploads of archives, pending files, watched folders, pages as pictures, and corrections.

use std::io::{Cursor, Write};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::boxes::pdf;
use crate::common::{Place, good_stub};
use crate::serve::{finds, put};
use crate::serving::{Reply, Serving};

const BASE: &str = "/api/v1/bases/default";

pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The content type of a form.
pub(crate) const FORM: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=x1x");

/// A form as browsers send it: field, file name and bytes of each part.
pub(crate) fn form(parts: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (field, file, bytes) in parts {
        let head = format!(
            "--x1x\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{file}\"\r\n\r\n"
        );
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(bytes);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--x1x--\r\n");
    form
}

/// Waits until the job of a reply has ended and returns it.
fn wait_for_job(serving: &Serving, reply: &Reply) -> Value {
    let id = reply.json()["job"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
    serving.wait_until(&format!("{BASE}/jobs/{id}"), "", |job| {
        !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
    })
}

/// A form is larger than other bodies may be, and its client chooses another boundary when it repeats it.
#[test]
fn a_form_with_an_idempotency_key_is_stored_once_whatever_its_size() {
    let place = Place::new();
    place.write("pikerag.toml", "[server]\nbody_mib = 1\n");
    let serving = place.serve(&["--offline"]);
    let large = format!("# Tables\n\n{}", "A row of the table Zyxwort.\n\n".repeat(60_000));
    let files: [(&str, &str, &[u8]); 2] = [
        ("file", "crane.md", b"# Crane\n\nThe crane was built by Quillwort.\n"),
        ("file", "large.md", large.as_bytes()),
    ];
    let post = |boundary: &str, form: &[u8]| {
        let kind = format!("multipart/form-data; boundary={boundary}");
        let headers = [("Content-Type", kind.as_str()), ("Idempotency-Key", "once")];
        serving.request("POST", &format!("{BASE}/files?hold=true"), &headers, form)
    };
    let whole = form(&files);
    // A form that was cut off keeps nothing, so the whole one may follow.
    let cut = post("x1x", &whole[..whole.len() - 9]);
    assert_eq!(cut.status, 400, "{cut:?}");
    let first = post("x1x", &whole);
    assert_eq!(first.status, 200, "{first:?}");
    assert!(!first.head.contains("idempotency-replayed"), "{first:?}");
    let other = String::from_utf8(whole).unwrap().replace("x1x", "y22y");
    let again = post("y22y", other.as_bytes());
    assert_eq!((again.status, &again.text), (200, &first.text));
    assert!(again.head.contains("idempotency-replayed: true"), "{again:?}");
    let changed = post("y22y", other.replace("Quillwort", "Mirabel").as_bytes());
    let reused = (422, json!("idempotency-key-reused"));
    assert_eq!((changed.status, changed.json()["code"].clone()), reused);
}

#[test]
fn files_of_an_archive_are_uploaded_like_single_files() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let mut zip = archive(&[
        ("a/crane.md", b"# Crane\n\nThe crane Quillwort lifts forty tons.\n"),
        ("../../out.md", b"# Out\n\nZyxwort.\n"),
        (".hidden.md", b"# Hidden\n\nZyxwort.\n"),
        ("__MACOSX/._a", b"x"),
        ("QQQQ.md", "# 合同\n\n制动器由布林德尔检修。\n".as_bytes()),
    ]);
    // Windows in China writes names in GBK without declaring it.
    let gbk = [0xba, 0xcf, 0xcd, 0xac];
    while let Some(at) = zip.windows(4).position(|bytes| bytes == b"QQQQ") {
        zip[at..at + 4].copy_from_slice(&gbk);
    }
    let (half, whole) = (zip.len() / 2, zip.len());
    // The archive comes in two pieces, like any other file.
    let first = format!("bytes 0-{}/{whole}", half - 1);
    let begun = put(&serving, "files/law.zip?unpack=true", Some(&first), &zip[..half]);
    let upload = begun.json()["upload"].as_str().unwrap_or_else(|| panic!("{begun:?}")).to_owned();
    assert_eq!(begun.status, 202);
    let parts = serving.get(&format!("{BASE}/parts"), "").json();
    assert_eq!((&parts[0]["file"], &parts[0]["bytes"]), (&json!("law.zip"), &json!(half)));
    // Another sender uses the same name: the pieces of the two are not joined.
    let other = put(&serving, "files/law.zip?hold=true", Some(&first), &vec![b'x'; half]);
    assert_eq!(other.status, 202);
    let other = other.json()["upload"].as_str().unwrap().to_owned();
    let second = format!("bytes {half}-{}/{whole}", whole - 1);
    let path = format!("files/law.zip?hold=true&upload={other}");
    assert_eq!(put(&serving, &path, Some(&second), &vec![b'x'; whole - half]).status, 200);
    assert_eq!(std::fs::read(place.path("base.uploads/law.zip")).unwrap(), vec![b'x'; whole]);
    let gone = serving.request("DELETE", &format!("{BASE}/sent?file=law.zip"), &[], b"");
    assert_eq!(gone.status, 200, "{gone:?}");
    let path = format!("files/law.zip?unpack=true&upload={upload}");
    let reply = put(&serving, &path, Some(&second), &zip[half..]);
    let unpacked = reply.json()["unpacked"].clone();
    assert_eq!(unpacked["files"], json!(["law/a/crane.md", "law/合同.md"]), "{reply:?}");
    let left_out = unpacked["left_out"].to_string();
    for expected in [".hidden.md", "__MACOSX/._a", "paths outside the archive"] {
        assert!(left_out.contains(expected), "{expected}: {left_out}");
    }
    assert_eq!(wait_for_job(&serving, &reply)["stand"], "done");
    assert!(
        finds(&serving, "Quillwort") && finds(&serving, "布林德尔") && !finds(&serving, "Zyxwort")
    );
    assert!(!place.path("out.md").exists() && !place.path("base.uploads/law.zip").exists());
    let parts: Vec<_> = std::fs::read_dir(place.path("base.uploads/.parts")).unwrap().collect();
    assert!(parts.is_empty(), "{parts:?}");
    // A newer archive replaces the files that it contains, and leaves the rest.
    let newer = archive(&[("a/crane.md", b"# Crane\n\nThe crane Brindlewick lifts fifty.\n")]);
    let reply = put(&serving, "files/law.zip?unpack=true", None, &newer);
    assert_eq!(wait_for_job(&serving, &reply)["stand"], "done");
    assert!(
        finds(&serving, "Brindlewick")
            && !finds(&serving, "Quillwort")
            && finds(&serving, "布林德尔")
    );
    // A file that is no archive and a harmful archive are refused, and nothing of them is left.
    for (name, bytes) in [("no.zip", b"no archive".to_vec()), ("bomb.zip", bomb())] {
        let reply = put(&serving, &format!("files/{name}?unpack=true"), None, &bytes);
        assert_eq!(
            (reply.status, reply.json()["code"].as_str()),
            (422, Some("file-not-read")),
            "{name}"
        );
    }
    assert!(!place.path("base.uploads/bomb").exists());
}

#[test]
fn files_of_a_form_are_uploaded_like_single_files() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let files = format!("{BASE}/files");
    let post = |query: &str, form: &[u8]| {
        serving.request("POST", &format!("{files}{query}"), &[FORM], form)
    };
    let crane = &b"# Crane\r\n\r\nThe crane Quillwort lifts forty tons.\r\n"[..];
    let law = "# 合同\n\n制动器由布林德尔检修。\n".as_bytes();
    let reply = post("", &form(&[("file", "docs/crane.md", crane), ("file", "合同.md", law)]));
    assert_eq!(reply.status, 200, "{reply:?}");
    let sent = reply.json()["files"].clone();
    assert_eq!((&sent[0]["file"], &sent[1]["file"]), (&json!("docs/crane.md"), &json!("合同.md")));
    assert_eq!((&sent[0]["held"], &sent[0]["job"]), (&json!(crane.len()), &sent[1]["job"]));
    let id = sent[0]["job"].as_u64().unwrap();
    let job = serving.wait_until(&format!("{BASE}/jobs/{id}"), "", |job| {
        !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
    });
    assert_eq!(job["stand"], "done");
    assert!(finds(&serving, "Quillwort") && finds(&serving, "布林德尔"));
    assert_eq!(std::fs::read(place.path("base.uploads/docs/crane.md")).unwrap(), crane);
    // A form with a mistake stores nothing, not even the parts before it.
    let fine = ("file", "fine.md", &b"# Fine\n"[..]);
    let mut cut = form(&[fine]);
    cut.truncate(cut.len() - 6);
    for (form, code) in [
        (form(&[fine, ("file", "../out.md", b"x")]), "bad-name"),
        (form(&[fine, fine]), "bad-request"),
        (form(&[fine, ("file", "fine.md/a.md", b"x")]), "bad-request"),
        (form(&[("file", "fine.md/a.md", b"x"), fine]), "bad-request"),
        (form(&[fine, ("other", "a.md", b"x")]), "bad-request"),
        (form(&[fine, ("file", "", b"x")]), "bad-request"),
        (form(&[]), "bad-request"),
        (cut, "bad-request"),
    ] {
        let reply = post("", &form);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (400, Some(code)), "{reply:?}");
    }
    // Nor does a form of which a file cannot have its place.
    for taken in ["docs/crane.md/a.md", "docs"] {
        let reply = post("", &form(&[fine, ("file", taken, b"x")]));
        let refusal = (reply.status, reply.json()["code"].clone());
        assert_eq!(refusal, (409, json!("name-taken")), "{taken}: {reply:?}");
    }
    let json = serving.post(&files, "", &json!({}));
    assert_eq!((json.status, json.json()["code"].as_str()), (415, Some("no-form")));
    assert!(!place.path("base.uploads/fine.md").exists());
    assert_eq!(serving.get(&format!("{BASE}/parts"), "").json(), json!([]));
    // Archives and pending files are as with PUT.
    let zip = archive(&[("a.md", b"# A\n\nOne.\n")]);
    let sent = post("?hold=true&unpack=true", &form(&[("file", "all.zip", &zip)])).json();
    let first = &sent["files"][0];
    assert_eq!((&first["unpacked"]["files"], &first["job"]), (&json!(["all/a.md"]), &Value::Null));
    // An archive before an unreadable one stays and is indexed.
    let zip = archive(&[("winch.md", b"# Winch\n\nThe winch Mirabel pulls.\n")]);
    let parts = [("file", "good.zip", &zip[..]), ("file", "bad.zip", &b"no archive"[..])];
    let reply = post("?unpack=true", &form(&parts));
    let refusal = (reply.status, reply.json()["code"].clone());
    assert_eq!(refusal, (422, json!("file-not-read")), "{reply:?}");
    let jobs = serving.get(&format!("{BASE}/jobs"), "").json();
    let ids = jobs.as_array().unwrap().iter().map(|job| job["id"].as_u64().unwrap());
    let latest = ids.max().unwrap();
    assert!(id < latest, "{jobs}");
    let job = serving.wait_until(&format!("{BASE}/jobs/{latest}"), "", |job| {
        !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
    });
    assert_eq!(job["stand"], "done");
    assert!(finds(&serving, "Mirabel"));
}

/// A method that a route does not have is refused with a problem, and only to callers with a key.
#[test]
fn wrong_methods_are_refused_with_a_problem() {
    let place = Place::new();
    let key = place.key("ada", &["--scope", "admin"]);
    let serving = place.serve(&["--offline"]);
    let reply = |key: &str| {
        let bearer = format!("Bearer {key}");
        serving.request("DELETE", "/api/v1/budget", &[("Authorization", &bearer)], b"")
    };
    let refused = reply(&key);
    assert_eq!(refused.status, 405, "{refused:?}");
    let head = refused.head.to_lowercase();
    assert!(head.contains("allow: get,head"), "{head}");
    assert!(head.contains("content-type: application/problem+json"), "{head}");
    assert_eq!(refused.json()["code"], "wrong-method");
    assert_eq!(reply("pikerag_00000000_0000").status, 401);
}

/// Pending files are listed, indexed later or discarded. Files of the disk are read again by their
/// names.
#[test]
fn pending_files_are_listed_indexed_or_discarded() {
    let place = Place::new();
    place.write("docs/here.md", "# Here\n\nThe winch Hollowmere stands here.\n");
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let serving = place.serve(&["--offline"]);
    assert_eq!(serving.get(&format!("{BASE}/sent"), "").json(), json!([]));
    let text = b"# Crane\n\nThe crane Quillwort lifts forty tons.\n";
    for (name, hold) in [("a/crane.md", "?hold=true"), ("b.md", "?hold=true"), ("bad.pdf", "")] {
        let bytes = if name == "bad.pdf" { b"%PDF-1.7 no".as_slice() } else { text };
        let reply = put(&serving, &format!("files/{name}{hold}"), None, bytes);
        assert_eq!(reply.status, 200, "{reply:?}");
        if hold.is_empty() {
            let failed = wait_for_job(&serving, &reply)["failed"].clone();
            assert_eq!(failed[0]["sent_as"], "bad.pdf", "{failed:#}");
        }
    }
    let line = |file: &str, bytes: usize, in_base: bool| json!({"file": file, "bytes": bytes, "in_base": in_base});
    let (crane, other) = (line("a/crane.md", text.len(), false), line("b.md", text.len(), false));
    let sent = || serving.get(&format!("{BASE}/sent"), "").json();
    assert_eq!(sent(), json!([crane, other, line("bad.pdf", 11, false)]));
    let discard =
        |file: &str| serving.request("DELETE", &format!("{BASE}/sent?file={file}"), &[], b"");
    assert_eq!(discard("b.md").json(), json!([other]));
    assert_eq!(discard("b.md").status, 404);
    assert_eq!(discard("../docs/here.md").status, 400);
    assert!(place.path("docs/here.md").exists() && !place.path("base.uploads/b.md").exists());
    let index = |body: &Value| serving.post(&format!("{BASE}/index"), "", body);
    let wait_for = |reply: &Reply| {
        let id = reply.json()["id"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
        serving.wait_until(&format!("{BASE}/jobs/{id}"), "", |job| job["stand"] == "done")
    };
    wait_for(&index(&json!({"files": ["a/crane.md"]})));
    assert_eq!(sent()[0], line("a/crane.md", text.len(), true));
    let refused = discard("a/crane.md");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("in-base")));
    let files = serving.get(&format!("{BASE}/files"), "").json();
    let called: Vec<_> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["name"].as_str().unwrap(), file["sent_as"].as_str()))
        .collect();
    assert_eq!(called, [("base.uploads/a/crane.md", Some("a/crane.md")), ("docs/here.md", None)]);
    // Discards all pending files at once; files of the base stay.
    assert_eq!(put(&serving, "files/c.md?hold=true", None, text).status, 200);
    let all = serving.request("DELETE", &format!("{BASE}/sent"), &[], b"").json();
    assert_eq!(all, json!([line("bad.pdf", 11, false), line("c.md", text.len(), false)]));
    assert_eq!(sent(), json!([line("a/crane.md", text.len(), true)]));
    // A folder has that name.
    let taken = put(&serving, "files/a?hold=true", None, text);
    assert_eq!((taken.status, taken.json()["code"].as_str()), (409, Some("name-taken")));
    // A file of the disk has changed.
    place.write("docs/here.md", "# Here\n\nThe winch Varnsund stands here.\n");
    assert_eq!(index(&json!({"known": ["docs/nothing.md"]})).status, 404);
    wait_for(&index(&json!({"known": ["docs/here.md"]})));
    assert!(finds(&serving, "Varnsund") && !finds(&serving, "Hollowmere"));
}

/// Forty megabytes of zeros in forty kilobytes.
fn bomb() -> Vec<u8> {
    archive(&[("zeros.txt", &vec![0; 40 << 20])])
}

/// Jobs and searches share connections to models: those that a job opened must not close with it.
#[test]
fn searches_are_answered_during_and_after_uploads() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&[]);
    let upload =
        put(&serving, "files/0.md", None, b"# Crane\n\nThe crane Quillwort lifts forty tons.\n");
    assert_eq!(wait_for_job(&serving, &upload)["stand"], "done");
    for round in 1..6 {
        let began = std::time::Instant::now();
        std::thread::scope(|threads| {
            for one in 0..4 {
                let serving = &serving;
                threads.spawn(move || {
                    for another in 0..8 {
                        let query = format!("crane {round} {one} {another}");
                        let reply =
                            serving.post(&format!("{BASE}/search"), "", &json!({ "query": query }));
                        assert_eq!(reply.status, 200, "{reply:?}");
                    }
                });
            }
            let text = format!("# Winch {round}\n\nThe winch {round} pulls {round} tons.\n");
            let upload = put(&serving, &format!("files/{round}.md"), None, text.as_bytes());
            assert_eq!(wait_for_job(&serving, &upload)["stand"], "done");
        });
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(30), "round {round} took {took:?}");
    }
}

/// Names are compared byte by byte: `é` as one character and as `e` with an accent are two files, as on Linux.
#[test]
fn two_unicode_forms_of_a_name_are_two_files() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let [composed, decomposed] = ["%C3%A9.md", "e%CC%81.md"];
    let send = |name: &str, word: &str| {
        let text = format!("# Crane\n\nThe crane {word} lifts.\n");
        let reply = put(&serving, &format!("files/{name}"), None, text.as_bytes());
        assert_eq!(wait_for_job(&serving, &reply)["stand"], "done", "{reply:?}");
    };
    let delete = |name: &str, more: &str| {
        let path = format!("{BASE}/files?file=base.uploads/{name}{more}");
        let reply = serving.request("DELETE", &path, &[], b"");
        assert_eq!(reply.status, 200, "{reply:?}");
    };
    let names = || -> Vec<String> {
        let files = serving.get(&format!("{BASE}/files"), "").json();
        let names = files.as_array().unwrap().iter().map(|file| file["sent_as"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let found = || [finds(&serving, "Quillwort"), finds(&serving, "Brindlewick")];
    send(composed, "Quillwort");
    send(decomposed, "Brindlewick");
    assert_eq!((names(), found()), (vec!["e\u{301}.md".into(), "\u{e9}.md".into()], [true, true]));
    delete(composed, "");
    assert_eq!((names(), found()), (vec!["e\u{301}.md".to_owned()], [false, true]));
    send(composed, "Quillwort");
    delete(decomposed, "&forget=true");
    assert_eq!((names(), found()), (vec!["\u{e9}.md".to_owned()], [true, false]));
    let base = std::fs::read(place.path("base/base.sqlite")).unwrap();
    let holds = |word: &str| base.windows(word.len()).any(|bytes| bytes == word.as_bytes());
    assert!(holds("Quillwort") && !holds("Brindlewick"));
    // A newer version replaces the file with exactly its name.
    send(decomposed, "Brindlewick");
    send(composed, "Hollowmere");
    assert_eq!((names().len(), found()), (2, [false, true]));
    assert!(finds(&serving, "Hollowmere"));
}

#[test]
fn changes_in_a_watched_folder_are_found() {
    let place = Place::new();
    place.write("pikerag.toml", "[server]\nwatch = { default = [\"docs\", \"later\"] }\n");
    place.write("docs/crane.md", "# Crane\n\nThe crane Quillwort lifts forty tons.\n");
    let serving = place.serve(&["--offline"]);
    let wait_for = |word: &str, is_there: bool| {
        let began = std::time::Instant::now();
        while finds(&serving, word) != is_there {
            assert!(began.elapsed() < std::time::Duration::from_mins(1), "{word} {is_there}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    };
    wait_for("Quillwort", true);
    place.write("docs/new/winch.md", "# Winch\n\nThe winch Hollowmere pulls.\n");
    wait_for("Hollowmere", true);
    // An empty folder may be a disk that is not mounted.
    place.write("docs/new/stays.md", "# Stays\n\nIt stays.\n");
    place.write("docs/crane.md", "# Crane\n\nThe crane Brindlewick lifts fifty tons.\n");
    wait_for("Brindlewick", true);
    wait_for("Quillwort", false);
    std::fs::remove_file(place.path("docs/new/winch.md")).unwrap();
    wait_for("Hollowmere", false);
    // A folder that did not exist when the server started.
    place.write("later/hoist.md", "# Hoist\n\nThe hoist Emberfold rises.\n");
    wait_for("Emberfold", true);
    // A folder that is gone as a whole may be on a disk that is not mounted: nothing is removed.
    std::fs::rename(place.path("docs"), place.path("away")).unwrap();
    place.write("later/rope.md", "# Rope\n\nThe rope Larkspur holds.\n");
    wait_for("Larkspur", true);
    assert!(finds(&serving, "Brindlewick"));
    drop(serving);
    place.write("pikerag.toml", "[server]\nwatch = { nowhere = [\"docs\"] }\n");
    assert!(place.run_to(1, &["status"]).stderr.contains("server.watch"));
}

#[test]
fn a_page_is_shown_as_a_picture() {
    let place = Place::new();
    place.write(
        "docs/open/manual.pdf",
        pdf(&[&["The crane Quillwort lifts forty tons."], &["It was built in Varnsund."]]),
    );
    place.write("docs/shut/note.md", "# Note\n\nThe crane is insured.\n");
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let (open, shut) = (
        place.key("open", &["--filter", "folder=open"]),
        place.key("shut", &["--filter", "folder=shut"]),
    );
    let whole = place.key("whole", &[]);
    let serving = place.serve(&["--offline"]);
    let sources = serving.get(&format!("{BASE}/sources"), &whole).json();
    let of = |end: &str| -> String {
        let found = sources
            .as_array()
            .unwrap()
            .iter()
            .find(|source| source["uri"].as_str().unwrap().ends_with(end));
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (manual, note) = (of("manual.pdf"), of("note.md"));
    let page =
        |key: &str, page: &str| serving.get(&format!("{BASE}/sources/{manual}/pages/{page}"), key);
    let first = page(&whole, "1?width=400");
    assert_eq!(first.status, 200, "{first:?}");
    assert!(
        first.head.contains("content-type: image/png")
            && first.head.contains("page-points: 600 800")
            && first.head.contains("page-count: 2"),
        "{}",
        first.head
    );
    assert_ne!(first.text, page(&whole, "2?width=400").text);
    assert_eq!(page(&open, "1").status, 200);
    assert_eq!(page(&shut, "1").status, 404);
    let beyond = page(&whole, "3");
    assert_eq!(
        (beyond.status, beyond.json()["code"].as_str()),
        (404, Some("no-such-page")),
        "{beyond:?}"
    );
    let text = serving.get(&format!("{BASE}/sources/{note}/pages/1"), &whole);
    assert_eq!((text.status, text.json()["code"].as_str()), (422, Some("file-not-read")));
}

#[test]
fn corrections_of_a_reading_are_applied_and_kept() {
    let place = Place::new();
    let pages: [&[&str]; 2] = [
        &["The crane Quillw0rt lifts forty tons."],
        &["It was built in Varnsund by the crane yard."],
    ];
    place.write("docs/manual.pdf", pdf(&pages));
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let serving = place.serve(&["--offline"]);
    let of = |serving: &Serving| {
        serving.get(&format!("{BASE}/sources"), "").json()[0]["id"].as_str().unwrap().to_owned()
    };
    let source = of(&serving);
    let correct = |serving: &Serving, old: &str, new: &str| {
        let path = format!("{BASE}/sources/{}/corrections", of(serving));
        serving.post(&path, "", &json!({"old": old, "new": new}))
    };
    for (old, status) in [("Quillwort", 409), ("crane", 409), (" ", 409)] {
        let reply = correct(&serving, old, "x");
        assert_eq!(
            (reply.status, reply.json()["code"].as_str()),
            (status, Some("misfit")),
            "{old}"
        );
    }
    let corrected = correct(&serving, "Quillw0rt lifts", "Quillwort hardly lifts");
    assert_eq!(wait_for_job(&serving, &corrected)["stand"], "done");
    assert!(finds(&serving, "Quillwort") && !finds(&serving, "Quillw0rt"));
    // Text after the correction keeps its page and its position.
    let hits = serving.post(&format!("{BASE}/search"), "", &json!({"query": "Varnsund"})).json();
    let boxes = hits["hits"][0]["chunk"]["boxes"].as_array().unwrap().clone();
    let last = boxes.last().unwrap();
    let text = serving.get(&format!("{BASE}/sources/{source}/reading"), "").json();
    let at = |name: &str| usize::try_from(last["span"][name].as_u64().unwrap()).unwrap();
    let under =
        text["text"].as_str().unwrap().get(at("start")..at("end")).unwrap().trim().to_owned();
    assert_eq!((under.as_str(), last["page"].as_u64()), (pages[1][0], Some(2)), "{boxes:?}");
    assert_eq!(text["corrections"][0]["old"], "Quillw0rt lifts");
    drop(serving);
    // Each later reading applies the correction, even if the file has moved.
    std::fs::rename(place.path("docs/manual.pdf"), place.path("docs/moved.pdf")).unwrap();
    place.run_to(0, &["--offline", "--base", "base", "index", "--prune", "docs"]);
    let serving = place.serve(&["--offline"]);
    assert!(finds(&serving, "Quillwort") && !finds(&serving, "Quillw0rt"));
    let again = serving.post(&format!("{BASE}/index"), "", &json!({"files": [], "reread": true}));
    assert_eq!(again.status, 202);
    drop(serving);
    // A newer version has other text there: this is reported, and the file is read as it is.
    place.write("docs/moved.pdf", pdf(&[&["The crane Brindlewick lifts fifty tons."]]));
    let newer = place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    assert!(
        newer.stderr.contains("Quillw0rt") && newer.stderr.contains("was not applied"),
        "{}",
        newer.stderr
    );
    let serving = place.serve(&["--offline"]);
    assert!(finds(&serving, "Brindlewick"));
    // A removed correction is undone, and the text is that of the file.
    let path = format!("{BASE}/sources/{}/corrections", of(&serving));
    assert_eq!(serving.request("DELETE", &format!("{path}/2"), &[], b"").status, 404);
    let back = serving.request("DELETE", &format!("{path}/1"), &[], b"");
    assert_eq!(
        (wait_for_job(&serving, &back)["stand"].clone(), back.json()["corrections"].clone()),
        (json!("done"), json!([]))
    );
    // A correction is forgotten with its file, to the last byte.
    let secret = correct(&serving, "fifty", "Zyxwortcanary");
    assert_eq!(wait_for_job(&serving, &secret)["stand"], "done");
    drop(serving);
    place.run_to(0, &["--offline", "--base", "base", "delete", "--forget", "docs/moved.pdf"]);
    for entry in walkdir::WalkDir::new(place.path("base")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            for word in ["Zyxwortcanary", "Quillw0rt"] {
                let held = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!held, "{word}: {}", entry.path().display());
            }
        }
    }
}
