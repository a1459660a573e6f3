//! Writes the bill of materials of a release in `CycloneDX` 1.6, for programs that look for known
//! vulnerabilities.
//!
//! cargo-cyclonedx is not used: it does not know the page's packages, which the program contains
//! too, and it would have to be compiled for this alone.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::packages::{Kind, Package, Tree, is_program};

/// The bill of materials as of `time` (RFC 3339). The same tree gives the same text.
pub(super) fn sbom(tree: &Tree, time: &str) -> Result<String> {
    let program = tree.packages.iter().find(|package| is_program(package));
    let program = program.context("there is no package `pikerag`")?;
    let parts: Vec<Value> =
        tree.packages.iter().filter(|package| !is_program(package)).map(component).collect();
    let dependencies: Vec<Value> = tree
        .packages
        .iter()
        .map(|package| {
            let reference = package.reference();
            let mut needs = tree.needs.get(&reference).cloned().unwrap_or_default();
            needs.sort();
            needs.dedup();
            json!({ "ref": reference, "dependsOn": needs })
        })
        .collect();
    let list = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "lifecycles": [{ "phase": "build" }],
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist" }] },
            "component": component(program),
        },
        "components": parts,
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn component(package: &Package) -> Value {
    let Package { name, version, license, kind, checksum, is_inside, .. } = package;
    let is_application = is_program(package);
    let mut component = json!({
        "type": if is_application { "application" } else { "library" },
        "bom-ref": package.reference(),
        "name": name,
        "version": version,
        // Build dependencies are listed, because they can affect the result.
        "scope": if *is_inside { "required" } else { "excluded" },
    });
    let Some(fields) = component.as_object_mut() else { return component };
    let licenses = match license {
        // Cargo once wrote `MIT/Apache-2.0`.
        Some(license) => json!([{ "expression": license.replace('/', " OR ") }]),
        None => json!([{ "license": { "name": "see THIRD-PARTY.txt" } }]),
    };
    fields.insert("licenses".to_owned(), licenses);
    if *kind != Kind::Ours {
        fields.insert("purl".to_owned(), package.reference().into());
    }
    if let Some(checksum) = checksum {
        let hashes = json!([{ "alg": "SHA-256", "content": checksum }]);
        fields.insert("hashes".to_owned(), hashes);
    }
    component
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::sbom;
    use crate::dist::packages::tests::small;

    #[test]
    fn every_package_is_listed_with_its_dependencies() {
        let list = sbom(&small(), "2026-11-24T06:00:00+00:00").unwrap();
        assert_eq!(list, sbom(&small(), "2026-11-24T06:00:00+00:00").unwrap());
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(list["metadata"]["component"]["name"], "pikerag");
        let parts = list["components"].as_array().unwrap();
        let by = |name: &str| parts.iter().find(|part| part["name"] == name).unwrap();
        assert_eq!(parts.len(), 3);
        assert_eq!(by("linked")["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(by("linked")["purl"], "pkg:cargo/linked@1.0.0%2Bx");
        assert_eq!(by("linked")["hashes"][0]["content"], "ab");
        assert_eq!(by("below")["licenses"][0]["license"]["name"], "see THIRD-PARTY.txt");
        assert_eq!(
            (&by("linked")["scope"], &by("builds")["scope"]),
            (&"required".into(), &"excluded".into())
        );
        let all = list["dependencies"].as_array().unwrap();
        let program = all.iter().find(|node| node["ref"] == "ours/pikerag@1.0.0+x").unwrap();
        assert_eq!(program["dependsOn"].as_array().unwrap().len(), 2);
    }
}
