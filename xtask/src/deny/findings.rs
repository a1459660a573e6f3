//! Finds dependencies that break the rules, and rules that no longer apply to any.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use spdx::{Expression, Licensee, ParseMode};

use super::graph::{Locked, Package};
use super::rules::{Bans, Licenses, Rules, Sources};

/// One line for each dependency that is not allowed.
///
/// # Errors
/// A licence of the rules is unknown to SPDX.
pub(super) fn findings(
    rules: &Rules,
    packages: &[Package],
    sources: &[Locked],
) -> Result<Vec<String>> {
    let mut found = licences(&rules.licenses, packages)?;
    found.extend(versions(&rules.bans, packages));
    found.extend(wildcards(&rules.bans, packages));
    found.extend(origins(&rules.sources, sources));
    Ok(found)
}

/// Each licence expression holds with the licences that are allowed for everybody and for this
/// crate.
fn licences(rules: &Licenses, packages: &[Package]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let allowed = licensees(&rules.allow)?;
    let mut needed = vec![false; allowed.len()];
    let exceptions: Vec<Vec<Licensee>> = rules
        .exceptions
        .iter()
        .map(|exception| licensees(&exception.allow))
        .collect::<Result<_>>()?;
    let mut taken = vec![false; exceptions.len()];
    for Package { name, version, license, .. } in packages {
        let Some(license) = license else {
            found.push(format!("{name} {version} names no licence"));
            continue;
        };
        // Old crates write `MIT/Apache-2.0`.
        let expression = match Expression::parse_mode(license, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => {
                found.push(format!(
                    "{name} {version} has an unreadable licence: {license} ({})",
                    error.reason
                ));
                continue;
            }
        };
        let own = rules.exceptions.iter().position(|exception| exception.name == *name);
        let own_licences = own.and_then(|own| exceptions.get(own)).map_or(&[][..], Vec::as_slice);
        if let Some(taken) = own.and_then(|own| taken.get_mut(own)) {
            *taken = true;
        }
        let holds = expression.evaluate(|asked| {
            let at = allowed.iter().position(|licence| licence.satisfies(asked));
            if let Some(needed) = at.and_then(|at| needed.get_mut(at)) {
                *needed = true;
            }
            at.is_some() || own_licences.iter().any(|licence| licence.satisfies(asked))
        });
        if !holds {
            found.push(format!("{name} {version} has a licence that is not allowed: {license}"));
        }
    }
    for (licence, _) in rules.allow.iter().zip(needed).filter(|(_, needed)| !needed) {
        found.push(format!("licence {licence} is allowed, but no crate has it"));
    }
    for (exception, _) in rules.exceptions.iter().zip(taken).filter(|(_, taken)| !taken) {
        found.push(format!("the exception for {} matches no crate", exception.name));
    }
    Ok(found)
}

fn licensees(names: &[String]) -> Result<Vec<Licensee>> {
    let parse = |name: &String| {
        Licensee::parse(name)
            .with_context(|| format!("deny.toml allows `{name}`, which is not a licence"))
    };
    names.iter().map(parse).collect()
}

/// One version of each crate, apart from those that are skipped with a reason.
fn versions(rules: &Bans, packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Package { name, version, .. } in packages {
        versions.entry(name).or_default().push(version);
    }
    let is_skipped = |name: &str, version: &str| {
        let package = format!("{name}@{version}");
        rules.skip.iter().any(|skip| skip.package == package)
    };
    for (name, versions) in &versions {
        let counted: Vec<&str> =
            versions.iter().copied().filter(|version| !is_skipped(name, version)).collect();
        if 1 < counted.len() {
            found.push(format!("{name} has several versions: {}", counted.join(", ")));
        }
    }
    for skip in &rules.skip {
        let (name, version) = skip.package.split_once('@').unwrap_or((&skip.package, ""));
        let there = versions.get(name).map_or(&[][..], Vec::as_slice);
        if !there.contains(&version) {
            found.push(format!("{} is skipped, but is not used", skip.package));
        } else if there.len() == 1 {
            found.push(format!("{} is skipped, but is the only version", skip.package));
        }
        if skip.reason.trim().is_empty() {
            found.push(format!("{} is skipped without a reason", skip.package));
        }
    }
    found
}

/// No dependency accepts any version.
fn wildcards(rules: &Bans, packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        for dependency in &package.dependencies {
            let is_folder = rules.allow_wildcard_paths && dependency.path.is_some();
            if dependency.req == "*" && !is_folder {
                let Package { name, version, .. } = package;
                found.push(format!("{name} {version} accepts any version of {}", dependency.name));
            }
        }
    }
    found
}

/// Every package comes from an allowed registry or is our own.
fn origins(rules: &Sources, sources: &[Locked]) -> Vec<String> {
    let mut found = Vec::new();
    for Locked { name, version, source } in sources {
        let Some(source) = source else { continue };
        let is_allowed = |url: &String| source.split_once('+') == Some(("registry", url));
        if !rules.allow_registry.iter().any(is_allowed) {
            found.push(format!("{name} {version} comes from {source}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::graph::{packages, sources};
    use super::super::rules::read;
    use super::findings;

    const RULES: &str = r#"
        [graph]
        targets = []
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        unused-allowed-license = "deny"
        exceptions = [{ crate = "moz", allow = ["MPL-2.0"] }]
        [bans]
        wildcards = "deny"
        allow-wildcard-paths = true
        multiple-versions = "deny"
        skip = [{ crate = "twice@1.0.0", reason = "moz has it" }]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
        allow-registry = ["https://crates.example/index"]
    "#;

    /// Name, version and licence of each package, and all findings.
    fn found(rules: &str, given: &[(&str, &str, &str)]) -> Vec<String> {
        let package = |(name, version, license): &(&str, &str, &str)| {
            let license = Some(license).filter(|license| !license.is_empty());
            serde_json::json!({
                "name": name, "version": version, "license": license, "dependencies": [],
            })
        };
        let reply =
            serde_json::json!({ "packages": given.iter().map(package).collect::<Vec<_>>() });
        let given = packages(&reply.to_string()).unwrap();
        findings(&read(rules).unwrap(), &given, &[]).unwrap()
    }

    /// The packages that use every rule of `RULES`.
    const USED: [(&str, &str, &str); 4] = [
        ("a", "1.0.0", "MIT/Apache-2.0"),
        ("moz", "1.0.0", "MPL-2.0"),
        ("twice", "1.0.0", "Apache-2.0 WITH LLVM-exception OR Apache-2.0"),
        ("twice", "2.0.0", "MIT"),
    ];

    #[test]
    fn allowed_packages_give_no_finding() {
        assert_eq!(found(RULES, &USED), [""; 0]);
    }

    #[test]
    fn licences_are_read_as_expressions() {
        let mut given = USED.to_vec();
        given.extend([
            ("both", "1.0.0", "MIT AND GPL-3.0-only"),
            ("either", "1.0.0", "MIT OR GPL-3.0-only"),
            ("none", "1.0.0", ""),
            ("nonsense", "1.0.0", "MIT OR OR"),
            ("other", "1.0.0", "MPL-2.0"),
        ]);
        let found = found(RULES, &given);
        assert_eq!(found.len(), 4, "{found:#?}");
        for (line, start) in found.iter().zip([
            "both 1.0.0 has a licence that is not allowed: MIT AND GPL-3.0-only",
            "none 1.0.0 names no licence",
            "nonsense 1.0.0 has an unreadable licence: MIT OR OR",
            "other 1.0.0 has a licence that is not allowed: MPL-2.0",
        ]) {
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn a_second_version_needs_a_reason() {
        let mut given = USED.to_vec();
        given.extend([("a", "2.0.0", "MIT"), ("twice", "3.0.0", "MIT")]);
        assert_eq!(
            found(RULES, &given),
            ["a has several versions: 1.0.0, 2.0.0", "twice has several versions: 2.0.0, 3.0.0"]
        );
        let hollow = RULES.replace("moz has it", " ");
        assert_eq!(found(&hollow, &USED), ["twice@1.0.0 is skipped without a reason"]);
    }

    #[test]
    fn a_rule_that_matches_nothing_is_a_finding() {
        assert_eq!(
            found(RULES, &[("a", "1.0.0", "MIT")]),
            [
                "licence Apache-2.0 is allowed, but no crate has it",
                "the exception for moz matches no crate",
                "twice@1.0.0 is skipped, but is not used",
            ]
        );
        let alone = [USED[0], USED[1], USED[2]];
        assert_eq!(found(RULES, &alone), ["twice@1.0.0 is skipped, but is the only version"]);
    }

    #[test]
    fn wildcards_and_foreign_sources_are_findings() {
        let reply = r#"{"packages": [{"name": "a", "version": "1.0.0", "license": "MIT", "dependencies": [
            {"name": "b", "req": "*", "path": "/b"}, {"name": "c", "req": "*"}, {"name": "d", "req": "^1"}]}]}"#;
        let lock = "[[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n\
            [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"REGISTRY+https://crates.example/index\"\n\
            [[package]]\nname = \"c\"\nversion = \"1.0.0\"\nsource = \"git+https://crates.example/index#1\"\n\
            [[package]]\nname = \"d\"\nversion = \"1.0.0\"\nsource = \"REGISTRY+https://mirror.example\"\n"
            .replace("REGISTRY", "registry");
        let rules = read(RULES).unwrap();
        let given = packages(reply).unwrap();
        let found = findings(&rules, &given, &sources(&lock).unwrap()).unwrap();
        assert_eq!(
            found[3..],
            [
                "a 1.0.0 accepts any version of c",
                "c 1.0.0 comes from git+https://crates.example/index#1",
                "d 1.0.0 comes from registry\u{2b}https://mirror.example",
            ]
        );
    }
}
