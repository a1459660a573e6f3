//! Tests that a base keeps its data when the disk is full or fails, or the process is killed,
//! during a migration or work on files.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pikerag_test_support::{Interposer, Trouble, absent};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::common::{Place, Ran, good_stub};
use crate::layouts::fixture;
use crate::limits::wait_until;
use crate::serve::{finds, put};
use crate::serving::Serving;

const BASE: &str = "/api/v1/bases/default";
/// The layouts that bases are migrated from, and the points of trouble in each migration.
const LAYOUTS: [u8; 2] = [3, 7];
const POINTS: u64 = 4;

/// A base of an earlier layout, and its rows after an undisturbed migration.
struct Migration {
    interposer: Interposer,
    place: Place,
    layout: u8,
    /// Every row of every table.
    whole: Vec<String>,
}

impl Migration {
    /// Migrates without trouble; `None` if no trouble can be made here.
    fn from(layout: u8) -> Option<Self> {
        let interposer = Interposer::build()?;
        let mut migration = Self { interposer, place: Place::new(), layout, whole: Vec::new() };
        let before = migration.restore();
        migration.place.run_to(0, &["--base", "base", "runs"]);
        migration.whole = rows(&migration.database());
        assert_ne!(migration.whole, before);
        Some(migration)
    }

    fn database(&self) -> PathBuf {
        self.place.path("base").join("base.sqlite")
    }

    /// Restores the base of the earlier layout and returns its rows.
    fn restore(&self) -> Vec<String> {
        let _ = fs::remove_dir_all(self.place.path("base"));
        let earlier = fixture(self.layout).join("base/base.sqlite");
        self.place.write("base/base.sqlite", fs::read(earlier).unwrap());
        rows(&self.database())
    }

    /// Migrates the base of the earlier layout with trouble at one of the calls that change a file.
    fn migrate_with(&self, trouble: Trouble, at: u64) -> Output {
        self.restore();
        let mut command = self.place.command(&["--base", "base", "runs"]);
        let under = self.place.path("base").canonicalize().unwrap();
        self.interposer.put_before(&mut command, &under, trouble, at);
        command.output().unwrap()
    }

    /// Makes trouble at points that are spread over the migration, and compares the rows
    /// afterwards.
    fn check_points(&self, trouble: Trouble, has_ended: impl Fn(&Output) -> bool) {
        // For a full disk, only calls that need space count.
        let counting = if trouble == Trouble::Full { trouble } else { Trouble::None };
        self.migrate_with(counting, u64::MAX);
        let calls = self.interposer.counted();
        let mut reached = 0;
        for n in 0..POINTS {
            let at = 1 + n * (calls - 1) / POINTS;
            let name = format!("{trouble:?} at call {at} of {calls} from layout {}", self.layout);
            let ran = self.migrate_with(trouble, at);
            // At its end the process may or may not move the log into the file, so the last calls
            // may be missing.
            if at <= self.interposer.counted() {
                assert!(has_ended(&ran), "{name}: {ran:?}");
                reached += 1;
            }
            let checked = self.place.run_to(0, &["--base", "base", "check"]).stdout;
            assert!(!checked.contains("DAMAGED"), "{name}: {checked}");
            assert!(rows(&self.database()) == self.whole, "{name}: other rows");
        }
        assert!(POINTS / 2 <= reached, "{trouble:?}: only {reached} points were reached");
    }
}

/// Every row of every table, and the layout.
fn rows(database: &Path) -> Vec<String> {
    let database = Connection::open(database).unwrap();
    let layout: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut names = database.prepare(names).unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut all = vec![format!("layout {layout}")];
    for name in names.map(Result::unwrap) {
        let mut table = database.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let width = table.column_count();
        let rows = table.query_map([], |row| {
            (0..width).map(|at| row.get::<_, Cell>(at)).collect::<Result<Vec<_>, _>>()
        });
        all.extend(rows.unwrap().map(|row| format!("{name}: {:?}", row.unwrap())));
    }
    all.sort();
    all
}

#[test]
fn a_migration_survives_a_kill_at_any_call() {
    for layout in LAYOUTS {
        let Some(migration) = Migration::from(layout) else { return };
        migration.check_points(Trouble::Kill, |ran| ran.status.signal() == Some(9));
    }
}

#[test]
fn a_migration_survives_a_torn_write() {
    for layout in LAYOUTS {
        let Some(migration) = Migration::from(layout) else { return };
        migration.check_points(Trouble::Tear, |ran| ran.status.signal() == Some(9));
    }
}

#[test]
fn a_migration_on_a_full_disk_fails_and_loses_nothing() {
    for layout in LAYOUTS {
        let Some(migration) = Migration::from(layout) else { return };
        // If the disk is full only while the log is moved into the file, the migration is already
        // done.
        migration.check_points(Trouble::Full, |ran| matches!(ran.status.code(), Some(0 | 1)));
        assert_eq!(migration.migrate_with(Trouble::Full, 1).status.code(), Some(1));
    }
}

#[test]
fn a_migration_on_a_full_disk_says_what_to_do() {
    let Some(migration) = Migration::from(3) else { return };
    for at in [1, 20] {
        let ran = migration.migrate_with(Trouble::Full, at);
        let message = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(message.contains("disk is full") && message.contains("space"), "{at}: {message}");
        assert!(!message.contains("rusqlite"), "{at}: {message}");
    }
}

/// Fails each sync while the file exists that `SYNC_FAILS` names, and each sync of a folder while
/// the file exists that `FOLDER_SYNC_FAILS` names.
const FAILING: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_set(const char *name) {
    const char *flag = getenv(name);
    return flag && !syscall(SYS_faccessat, AT_FDCWD, flag, F_OK, 0);
}

static int is_folder(int fd) {
    struct stat about;
    return !fstat(fd, &about) && S_ISDIR(about.st_mode);
}

static int fails(int fd) {
    int before = errno;
    int is_failing = is_set("SYNC_FAILS") || (is_set("FOLDER_SYNC_FAILS") && is_folder(fd));
    errno = is_failing ? EIO : before;
    return is_failing;
}

int fsync(int fd) {
    return fails(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}
"#;

/// A place whose disk fails on request.
struct Disk {
    place: Place,
    flag: PathBuf,
    folder_flag: PathBuf,
}

impl Disk {
    /// `None` if such a disk cannot be simulated here.
    fn new(place: Place) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            absent("LD_PRELOAD", "is available on Linux only");
            return None;
        }
        let (source, library) = (place.own_path("sync.c"), place.own_path("sync.so"));
        fs::write(&source, FAILING).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&library).arg(&source);
        match cc.output() {
            Ok(built) => assert!(built.status.success(), "{built:?}"),
            Err(error) => {
                absent("cc", &format!("is not installed: {error}"));
                return None;
            }
        }
        let flag = place.own_path("sync-fails");
        let folder_flag = place.own_path("folder-sync-fails");
        let place = place
            .set("LD_PRELOAD", &library.display().to_string())
            .set("SYNC_FAILS", &flag.display().to_string())
            .set("FOLDER_SYNC_FAILS", &folder_flag.display().to_string());
        Some(Self { place, flag, folder_flag })
    }

    fn fail(&self) {
        fs::write(&self.flag, "").unwrap();
    }

    fn recover(&self) {
        fs::remove_file(&self.flag).unwrap();
    }

    fn assert_sound(&self) {
        let checked = self.place.run_to(0, &["--base", "base", "check"]).stdout;
        assert!(!checked.contains("DAMAGED"), "{checked}");
    }

    fn index(&self, code: i32) -> Ran {
        self.place.run_to(code, &["--offline", "--base", "base", "index", "docs"])
    }
}

fn wait_for_job(serving: &Serving, job: &Value) -> Value {
    serving.wait_until(&format!("{BASE}/jobs/{job}"), "", |job| {
        !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
    })
}

fn kill(mut serving: Serving) {
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
}

#[test]
fn indexing_on_a_failing_disk_fails_and_loses_nothing() {
    let Some(disk) = Disk::new(Place::new()) else { return };
    disk.fail();
    disk.place.write("docs/crane.md", "# Crane\n\nThe crane Quillwort lifts.\n");
    let ran = disk.index(1);
    assert!(ran.stderr.contains("disk I/O error"), "{}", ran.stderr);
    disk.recover();
    disk.index(0);
    disk.fail();
    disk.place.write("docs/winch.md", "# Winch\n\nThe winch Brindlewick pulls.\n");
    let ran = disk.index(1);
    assert!(ran.stderr.contains("disk I/O error"), "{}", ran.stderr);
    let found = disk.place.run_to(0, &["--base", "base", "search", "Quillwort"]).stdout;
    assert!(found.contains("docs/crane.md"), "{found}");
    disk.recover();
    disk.assert_sound();
    disk.index(0);
    disk.assert_sound();
    for (word, file) in [("Quillwort", "docs/crane.md"), ("Brindlewick", "docs/winch.md")] {
        let found = disk.place.run_to(0, &["--base", "base", "search", word]).stdout;
        assert!(found.contains(file), "{found}");
    }
}

/// While the disk fails, the server acknowledges no change but answers searches. Changes that it
/// acknowledged earlier stay.
#[test]
fn a_server_on_a_failing_disk_acknowledges_no_change() {
    let Some(disk) = Disk::new(Place::new()) else { return };
    let serving = disk.place.serve(&["--offline"]);
    let text = b"# Crane\n\nThe crane Quillwort lifts.\n";
    let first = put(&serving, "files/crane.md", None, text);
    assert_eq!(wait_for_job(&serving, &first.json()["job"])["stand"], "done");
    let held = b"# Winch\n\nThe winch Brindlewick pulls.\n";
    assert_eq!(put(&serving, "files/winch.md?hold=true", None, held).status, 200);
    disk.fail();
    let newer = b"# Crane\n\nThe crane Hollowmere lifts.\n";
    for (name, path) in [
        ("a newer version", "files/crane.md"),
        ("another file", "files/hoist.md"),
        ("a held file", "files/hoist.md?hold=true"),
    ] {
        let reply = put(&serving, path, None, newer);
        assert_eq!(
            (reply.status, reply.json()["code"].as_str()),
            (500, Some("not-written")),
            "{name}"
        );
    }
    let index = |serving: &Serving| {
        serving.post(&format!("{BASE}/index"), "", &json!({"files": ["winch.md"]}))
    };
    let refused = index(&serving);
    assert_eq!((refused.status, refused.json()["code"].as_str()), (500, Some("base-failed")));
    assert!(finds(&serving, "Quillwort") && !finds(&serving, "Hollowmere"));
    assert_eq!(fs::read(disk.place.path("base.uploads/crane.md")).unwrap(), text);
    disk.recover();
    kill(serving);
    disk.assert_sound();
    let serving = disk.place.serve(&["--offline"]);
    assert!(finds(&serving, "Quillwort"));
    let again = index(&serving);
    assert_eq!(wait_for_job(&serving, &again.json()["id"])["stand"], "done", "{again:?}");
    let again = put(&serving, "files/crane.md", None, newer);
    assert_eq!(wait_for_job(&serving, &again.json()["job"])["stand"], "done", "{again:?}");
    for (word, is_there) in [("Quillwort", false), ("Brindlewick", true), ("Hollowmere", true)] {
        assert_eq!(finds(&serving, word), is_there, "{word}");
    }
    drop(serving);
    disk.assert_sound();
}

/// The name of a renamed file survives a loss of power only once its folder is synced.
#[test]
fn an_upload_whose_folder_cannot_be_synced_is_not_acknowledged() {
    let Some(disk) = Disk::new(Place::new()) else { return };
    let serving = disk.place.serve(&["--offline"]);
    let send = |name: &str| {
        let text = b"# Crane\n\nThe crane Quillwort lifts.\n";
        put(&serving, &format!("files/{name}?hold=true"), None, text)
    };
    assert_eq!(send("law/crane.md").status, 200);
    fs::write(&disk.folder_flag, "").unwrap();
    for name in ["law/crane.md", "law/hoist.md", "new/crane.md"] {
        let reply = send(name);
        let code = reply.json()["code"].clone();
        assert_eq!((reply.status, code), (500, json!("not-written")), "{name}");
    }
    fs::remove_file(&disk.folder_flag).unwrap();
    assert_eq!(send("new/crane.md").status, 200);
}

/// While the disk fails, the job of an acknowledged upload waits; after a restart it is done.
#[test]
fn a_job_on_a_failing_disk_is_done_after_a_restart() {
    let stub = good_stub();
    let Some(disk) = Disk::new(Place::with(&stub)) else { return };
    let serving = disk.place.serve(&[]);
    let first = put(&serving, "files/winch.md", None, b"# Winch\n\nThe winch Brindlewick pulls.\n");
    assert_eq!(wait_for_job(&serving, &first.json()["job"])["stand"], "done");
    assert!(finds(&serving, "Brindlewick"));
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let text = b"# Crane\n\nThe crane Quillwort lifts.\n";
    let reply = put(&serving, "files/crane.md", None, text);
    assert_eq!(reply.status, 200, "{reply:?}");
    let job = reply.json()["job"].clone();
    wait_until("the model is asked", || requests < stub.received().requests());
    disk.fail();
    stub.answer_all();
    let path = format!("{BASE}/jobs/{job}");
    let failed = serving.wait_until(&path, "", |job| job["stand"] != "running");
    assert!(failed["stand"] == "waiting" && failed["reason"].is_string(), "{failed}");
    assert!(finds(&serving, "Brindlewick"));
    disk.recover();
    kill(serving);
    disk.assert_sound();
    let serving = disk.place.serve(&[]);
    assert_eq!(wait_for_job(&serving, &job)["stand"], "done");
    assert!(finds(&serving, "Quillwort"));
    drop(serving);
    disk.assert_sound();
}

/// The request fails while the revocation cannot be written; a second request revokes the key.
#[test]
fn a_failing_disk_acknowledges_no_revocation() {
    let Some(disk) = Disk::new(Place::new()) else { return };
    let admin = disk.place.key("ada", &["--scope", "admin"]);
    let reader = disk.place.key("eve", &[]);
    let serving = disk.place.serve(&["--offline"]);
    let keys = serving.get("/api/v1/keys", &admin).json();
    let line = |name: &str| {
        keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == name).unwrap()
    };
    let path = format!("/api/v1/keys/{}", line("eve")["id"].as_str().unwrap());
    let bearer = format!("Bearer {admin}");
    let revoke = || serving.request("DELETE", &path, &[("Authorization", &bearer)], b"").status;
    disk.fail();
    assert_eq!(revoke(), 500);
    disk.recover();
    assert!([204, 404].contains(&revoke()));
    kill(serving);
    let serving = disk.place.serve(&["--offline"]);
    assert_eq!(serving.get("/api/v1/bases", &reader).status, 401);
    assert_eq!(serving.get("/api/v1/bases", &admin).status, 200);
}
