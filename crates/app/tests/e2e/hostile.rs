//! Tests that hostile documents do no harm: each is read or refused with a reason, and nothing in
//! it causes a request.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use pikerag_test_support::hostile::{CANARY, FINE, HIDDEN, TRAPS};
use pikerag_test_support::{absent, hostile};

use crate::common::Place;

#[test]
fn every_hostile_file_is_read_or_refused_for_a_reason() {
    let place = Place::new();
    for (name, bytes) in hostile::all() {
        place.write(&format!("in/{name}"), bytes);
    }
    let n_files = std::fs::read_dir(place.path("in")).unwrap().count();
    // Another program may hold a port; then the test cannot watch it.
    let traps: Vec<TcpListener> =
        TRAPS.iter().filter_map(|port| TcpListener::bind(("127.0.0.1", *port)).ok()).collect();
    for trap in &traps {
        trap.set_nonblocking(true).unwrap();
    }
    // A line of fifty megabytes is harmless, but indexing it takes minutes.
    place.write("pikerag.toml", "[limits]\nfile_mib = 24\n");

    let ran = place.run(&["--base", "base", "index", "in", "--json"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{:?}: {}", ran.code, ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let report = ran.json()["report"].clone();
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), n_files);
    for file in files {
        let name = file[0].as_str().unwrap();
        let reason = file[1]["reason"].as_str().unwrap_or_default();
        println!("{name}: {} {reason}", file[1]["outcome"]);
        // A parser may reach its memory limit and report it; any other end is our fault.
        for fault in [
            "crashed",
            "the parser failed",
            "was killed",
            "cut off",
            "took more than",
            "took longer than",
        ] {
            assert!(!reason.contains(fault), "{name}: {reason}");
        }
    }
    for fine in FINE.map(|name| format!("in/{name}")) {
        let outcome = files.iter().find(|file| file[0] == fine.as_str()).unwrap();
        assert_eq!(outcome[1]["outcome"], "stored", "{outcome}");
    }

    for trap in &traps {
        assert!(trap.accept().is_err(), "a document made us call {:?}", trap.local_addr());
    }
    let export = place.export("base");
    assert!(!export.contains("root:x:0"), "an entity was read from a file");
    // Text that no reader sees is kept only if it is marked as hidden.
    for line in export.lines().filter(|line| line.contains(HIDDEN)) {
        let node: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_marked = node["hidden"] == true || node["chunk"]["hidden"] == true;
        assert!(is_marked || node.get("blocks").is_some() || node["node"] == "source", "{line}");
    }
    assert!(!export.contains(CANARY));
    assert!(!std::path::Path::new("/tmp/PIKERAG-SLIP").exists());
}

/// Helper programs have limits, too, and are killed with their children.
#[test]
fn a_program_that_hangs_is_killed_with_its_children() {
    let place = Place::new();
    // Stands in for Tesseract: lists a language, then sleeps in a child process.
    let program = "#!/bin/sh\ncase \"$1\" in --list-langs) echo List; echo eng;; *) sleep 4242 & sleep 4242;; esac\n";
    place.write("tesseract", program);
    let executable = place.path("tesseract");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&executable, mode).unwrap();
    let settings =
        format!("[tools]\ntesseract = \"{}\"\n[limits]\nocr_seconds = 1\n", executable.display());
    place.write("pikerag.toml", settings);
    place.write("in/good.md", "# Cranes\n\nThey lift.\n");
    place
        .write("in/scan.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04\x08\0\0\0\0");
    let began = Instant::now();
    let ran = place.run_to(3, &["--base", "base", "index", "in"]);
    assert!(ran.stderr.contains("Tesseract: it took longer than 1 s"), "{}", ran.stderr);
    assert!(began.elapsed() < Duration::from_mins(1));
    let left = Command::new("pgrep").args(["-f", "sleep 4242"]).output();
    if let Ok(left) = left {
        assert!(left.stdout.is_empty(), "{left:?} still runs");
    }
}

#[test]
fn a_picture_without_tesseract_is_named_with_the_package_to_install() {
    let place = Place::new().set("PATH", "");
    place
        .write("in/scan.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04\x08\0\0\0\0");
    let ran = place.run_to(3, &["--base", "base", "index", "in"]);
    assert!(
        ran.stderr.contains("in/scan.png") && ran.stderr.contains("install tesseract-ocr"),
        "{}",
        ran.stderr
    );
    // A missing program is no fault; a setting that names no program is one.
    assert!(place.run_to(0, &["doctor"]).stdout.contains("Tesseract is not installed: install"));
    place.write("pikerag.toml", "[tools]\ntesseract = \"/nowhere\"\nsoffice = \"/nowhere\"\n");
    let ran = place.run_to(1, &["doctor"]);
    for tool in ["✗ text recognition (Tesseract)", "✗ old formats (LibreOffice)"] {
        let line = ran.stdout.lines().find(|line| line.starts_with(tool)).unwrap();
        assert!(line.contains("is /nowhere, which is no program"), "{line}");
    }
}

/// Reads a drawn picture with the real program, if it is installed.
#[test]
fn a_picture_of_words_is_read() {
    let place = Place::new();
    if !place.run(&["doctor"]).stdout.contains("reads eng") {
        absent("tesseract", "that reads English is not installed");
        return;
    }
    place.write("scan.bmp", bitmap("HELLO"));
    let parsed = place.run_to(0, &["--json", "parse", "scan.bmp"]).json();
    let document = &parsed["documents"][0];
    assert!(document["text"].as_str().unwrap().to_uppercase().contains("HELLO"), "{document}");
    let kinds: Vec<_> =
        document["blocks"].as_array().unwrap().iter().map(|b| &b["kind"]["block"]).collect();
    assert!(kinds.contains(&&serde_json::json!("figure")), "{kinds:?}");
}

/// A bitmap of a word; each dot of a letter is eight pixels wide.
fn bitmap(word: &str) -> Vec<u8> {
    let letter = |c: char| match c {
        'H' => ["#...#", "#...#", "#...#", "#####", "#...#", "#...#", "#...#"],
        'E' => ["#####", "#....", "#....", "####.", "#....", "#....", "#####"],
        'L' => ["#....", "#....", "#....", "#....", "#....", "#....", "#####"],
        _ => [".###.", "#...#", "#...#", "#...#", "#...#", "#...#", ".###."],
    };
    let (scale, margin) = (8, 60);
    let (width, height) = (word.len() * 7 * scale + 2 * margin, 7 * scale + 2 * margin);
    let mut pixels = vec![255u8; width * height];
    for (number, c) in word.chars().enumerate() {
        for (row, line) in letter(c).iter().enumerate() {
            for (column, _) in line.chars().enumerate().filter(|(_, dot)| *dot == '#') {
                for (dy, dx) in (0..scale).flat_map(|dy| (0..scale).map(move |dx| (dy, dx))) {
                    let (x, y) =
                        (margin + (number * 7 + column) * scale + dx, margin + row * scale + dy);
                    pixels[y * width + x] = 0;
                }
            }
        }
    }
    let mut file = b"BM".to_vec();
    let number = |n: usize| (n as u32).to_le_bytes();
    let stride = (width * 3).next_multiple_of(4);
    for n in [54 + stride * height, 0, 54, 40, width, height] {
        file.extend(number(n));
    }
    file.extend([1, 0, 24, 0]);
    for n in [0, stride * height, 2835, 2835, 0, 0] {
        file.extend(number(n));
    }
    // A bitmap stores its rows from the bottom up.
    for row in pixels.chunks(width).rev() {
        let mut line: Vec<u8> = row.iter().flat_map(|dot| [*dot; 3]).collect();
        line.resize(stride, 0);
        file.extend(line);
    }
    file
}

/// By default `LibreOffice` fetches linked pictures when it converts a document.
#[test]
fn a_linked_picture_is_not_fetched_by_the_program_that_converts() {
    let place = Place::new();
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    let text = format!(
        r#"<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
        xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
        xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
        <office:body><office:text><text:p>Cranes lift.<draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char">
        <draw:image xlink:href="http://127.0.0.1:{port}/x.png" xlink:type="simple"/></draw:frame></text:p></office:text></office:body></office:document>"#
    );
    place.write("x.fodt", text);
    // LibreOffice with its default settings makes the old document.
    let made = Command::new("soffice")
        .env("HOME", place.path(""))
        .arg(format!("-env:UserInstallation=file://{}/profile", place.path("").display()))
        .args(["--headless", "--convert-to", "doc", "x.fodt"])
        .current_dir(place.path(""))
        .output();
    if made.is_err() || !place.path("x.doc").exists() {
        absent("libreoffice", &format!("does not make an old document: {made:?}"));
        return;
    }
    while trap.accept().is_ok() {}
    let parsed = place.run_to(0, &["--json", "parse", "x.doc"]).json();
    assert!(parsed["documents"][0]["text"].as_str().unwrap().contains("Cranes lift."), "{parsed}");
    assert!(trap.accept().is_err(), "the picture was asked for");
}
