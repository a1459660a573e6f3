//! Does an installation hold what it promises: completions, manual pages, a look at the server, and a program that finds
//! itself wherever it was put?

use std::process::Command;

use crate::common::Place;

/// The commands that the help lists, by their names.
fn commands(place: &Place) -> Vec<String> {
    let help = place.run_to(0, &["--help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    // What a command does may go on in a line that is indented further.
    let named = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let named = named.filter(|line| !line.starts_with(' '));
    named.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn completions_know_every_command_and_none_that_is_hidden() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(20 < commands.len(), "{commands:?}");
    // What each shell writes before and after the name of a command that follows `pikerag`.
    for (shell, before, after) in [
        ("bash", "pikerag,", ")"),
        ("zsh", "'", ":"),
        ("fish", "__fish_pikerag_needs_command\" -f -a \"", "\""),
        ("elvish", "cand ", " '"),
        ("powershell", "::new('", "',"),
    ] {
        let script = place.run_to(0, &["completions", shell]).stdout;
        for command in &commands {
            let entry = format!("{before}{command}{after}");
            assert!(script.contains(&entry), "{entry} is not in the completions of {shell}");
        }
        assert!(script.contains("cap-usd"), "{shell}: options of a verb below a verb");
        assert!(!script.contains("parse-child") && !script.contains("run-limited"), "{shell}");
    }
    place.run_to(2, &["completions", "tcsh"]);
    // Settings that make no sense are no reason to write none.
    place.write("pikerag.toml", "no settings");
    place.run_to(0, &["completions", "bash"]);
    place.run_to(0, &["man"]);
}

/// Bash takes the script, and what it completes is what a person means.
#[test]
fn bash_completes() {
    let place = Place::new();
    place.write("pikerag.bash", place.run_to(0, &["completions", "bash"]).stdout);
    let script = r#"
        source pikerag.bash
        complete() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _pikerag pikerag "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
        }
        complete pikerag hea
        complete pikerag keys ma
        complete pikerag keys make --scope ""
    "#;
    let bash = Command::new("bash").args(["-c", script]).current_dir(place.path("")).output();
    let bash = bash.unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&bash.stdout), String::from_utf8_lossy(&bash.stderr));
    assert_eq!(said, "health\nmake\nread write admin\n", "{complaint}");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    place.run_to(0, &["man", "--out", "share/man1"]);
    for command in commands(&place).iter().filter(|command| *command != "help") {
        let page = place.read(&format!("share/man1/pikerag-{command}.1"));
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(page.contains(part), "{command} has no {part}");
        }
    }
    assert!(place.path("share/man1/pikerag-keys-make.1").is_file());
    assert!(!place.path("share/man1/pikerag-parse-child.1").exists());
    let own = place.run_to(0, &["man"]).stdout;
    assert!(own.contains("pikerag\\-index(1)") && own.contains("Exit codes"), "{own}");
    // A folder that cannot be made is an error that names it.
    place.write("file", "");
    let error = place.run_to(1, &["man", "--out", "file/man1"]).stderr;
    assert!(error.contains("file/man1"), "{error}");
}

#[test]
fn health_says_whether_the_server_takes_requests() {
    let place = Place::new();
    let mut serving = place.serve(&[]);
    let address = serving.address.clone();
    let (_, port) = address.rsplit_once(':').unwrap();
    let health = ["health", "--port", port];
    let said = place.run_to(0, &health).stdout;
    assert!(said.contains("takes requests"), "{said}");
    let told = place.run_to(0, &["--json", "health", "--port", port]).json();
    assert_eq!(told["ready"], true);
    // With keys, too: it asks for nothing that is anybody's.
    place.key("somebody", &[]);
    place.run_to(0, &health);
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let error = place.run_to(1, &health).stderr;
    assert!(error.contains("no server answers"), "{error}");
}

/// As pipx, uv and a folder of one's own do it: a link on the `PATH` to a program in another folder. Each file is read by a
/// process of the same program.
#[test]
fn a_link_to_the_program_reads_files_too() {
    let place = Place::new();
    place.write("docs/a.md", "# Pelican\n\nThe rig Pelican is kept by Sunniva Clathe.\n");
    std::fs::create_dir(place.path("bin")).unwrap();
    let link = place.path("bin/pikerag");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pikerag"), link).unwrap();
    let run = |arguments: &[&str]| {
        // Found by its name alone, and from another folder than that of the link.
        let output = Command::new("sh")
            .args(["-c", r#"PATH="$PWD/bin:$PATH" exec pikerag "$@""#, "sh"])
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place.path(""))
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        said
    };
    let indexed = run(&["--offline", "index", "docs"]);
    assert!(indexed.contains("1 file read") && indexed.contains("0 left out"), "{indexed}");
    assert!(run(&["--offline", "ask", "Who keeps the rig Pelican?"]).contains("Sunniva Clathe"));
}
