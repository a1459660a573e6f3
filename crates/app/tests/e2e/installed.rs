//! Tests an installation: shell completions, manual pages, the health check, and a program behind a
//! link.

use std::process::Command;

use crate::common::Place;

/// The commands that the help lists, by their names.
fn commands(place: &Place) -> Vec<String> {
    let help = place.run_to(0, &["--help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    // A description may continue on a line with a deeper indent.
    let named = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let named = named.filter(|line| !line.starts_with(' '));
    named.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn completions_list_every_visible_command_and_no_hidden_one() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(20 < commands.len(), "{commands:?}");
    // The text before and after the name of a command of `pikerag`, by shell.
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
        assert!(script.contains("cap-usd"), "{shell}: options of a subcommand");
        assert!(!script.contains("parse-child") && !script.contains("run-limited"), "{shell}");
    }
    place.run_to(2, &["completions", "tcsh"]);
    // Broken settings prevent neither completions nor manual pages.
    place.write("pikerag.toml", "no settings");
    place.run_to(0, &["completions", "bash"]);
    place.run_to(0, &["man"]);
}

/// Bash accepts the script and completes commands, subcommands and values.
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
    let (completed, errors) =
        (String::from_utf8_lossy(&bash.stdout), String::from_utf8_lossy(&bash.stderr));
    assert_eq!(completed, "health\nmake\nread write admin\n", "{errors}");
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
    // An error names a folder that cannot be created.
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
    let text = place.run_to(0, &health).stdout;
    assert!(text.contains("accepts requests"), "{text}");
    let report = place.run_to(0, &["--json", "health", "--port", port]).json();
    assert_eq!(report["ready"], true);
    // The check needs no key, even if keys exist.
    place.key("somebody", &[]);
    place.run_to(0, &health);
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let error = place.run_to(1, &health).stderr;
    assert!(error.contains("no server answers") && error.contains("`pikerag serve`"), "{error}");
}

/// pipx and uv put a link to the program on the `PATH`. A child process of the same program reads
/// each file.
#[test]
fn a_link_to_the_program_reads_files_too() {
    let place = Place::new();
    place.write("docs/a.md", "# Pelican\n\nThe rig Pelican is kept by Sunniva Clathe.\n");
    std::fs::create_dir(place.path("bin")).unwrap();
    let link = place.path("bin/pikerag");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pikerag"), link).unwrap();
    let run = |arguments: &[&str]| {
        // The shell finds the program by name, from another folder than that of the link.
        let output = Command::new("sh")
            .args(["-c", r#"PATH="$PWD/bin:$PATH" exec pikerag "$@""#, "sh"])
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place.path(""))
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let indexed = run(&["--offline", "index", "docs"]);
    assert!(indexed.contains("1 file read") && indexed.contains("0 left out"), "{indexed}");
    assert!(run(&["--offline", "ask", "Who keeps the rig Pelican?"]).contains("Sunniva Clathe"));
}
