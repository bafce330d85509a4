//! The members of a workspace and the edges between them, as their manifests say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::finding::{Finding, Location};

/// A workspace on disk.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// Its members, by name.
    pub members: Vec<Member>,
}

/// A package of the workspace.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name of its library with hyphens, as folders have it, or of a package without one.
    pub name: String,
    /// Its manifest, relative to the folder of the workspace.
    pub manifest: String,
    /// `lib.rs`, for a package with a library.
    pub library: Option<PathBuf>,
    /// Members that the library, the binaries or the build script need, optional ones included.
    pub normal: BTreeMap<String, Location>,
    /// Members that only tests, examples and benches need.
    pub dev: BTreeMap<String, Location>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Absent for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
    rename: Option<String>,
    /// Where it is, when that is no registry.
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Workspace {
    /// Reads all manifests, by `cargo metadata`, without a network.
    ///
    /// # Errors
    ///
    /// When a manifest is not one.
    pub fn read(root: &Path) -> Result<Self, Finding> {
        let failed = |reason: String| Finding::unreadable("Cargo.toml", 0, reason);
        // Cargo names files without links.
        let root = &root
            .canonicalize()
            .map_err(|error| failed(error.to_string()))?;
        let manifest = root.join("Cargo.toml");
        let cargo = option_env!("CARGO").unwrap_or("cargo");
        let output = Command::new(cargo)
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--offline",
            ])
            .arg("--manifest-path")
            .arg(&manifest)
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
        let names: BTreeMap<String, String> = metadata
            .packages
            .iter()
            .map(|package| (package.name.clone(), package.crate_name()))
            .collect();
        let mut members: Vec<Member> = metadata
            .packages
            .into_iter()
            .map(|package| member(root, package, &names))
            .collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Workspace {
            root: root.to_owned(),
            members,
        })
    }
}

impl Package {
    fn library_target(&self) -> Option<&Target> {
        self.targets
            .iter()
            .find(|target| target.kind.iter().any(|kind| kind.contains("lib")))
    }

    fn crate_name(&self) -> String {
        self.library_target()
            .map_or(self.name.clone(), |library| library.name.replace('_', "-"))
    }
}

fn member(root: &Path, package: Package, names: &BTreeMap<String, String>) -> Member {
    let manifest = relative(root, &package.manifest_path);
    let text = std::fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let mut member = Member {
        manifest,
        library: package
            .library_target()
            .map(|target| target.src_path.clone()),
        name: package.crate_name(),
        normal: BTreeMap::new(),
        dev: BTreeMap::new(),
    };
    for dependency in package.dependencies {
        let crate_name = names
            .get(&dependency.name)
            .filter(|_| dependency.path.is_some());
        // A crate may need itself in its tests, with other features.
        let Some(crate_name) = crate_name.filter(|name| **name != member.name) else {
            continue;
        };
        let is_dev = dependency.kind.as_deref() == Some("dev");
        let key = dependency.rename.as_ref().unwrap_or(&dependency.name);
        let location = Location {
            file: member.manifest.clone(),
            line: line_of(&text, key, is_dev),
            text: key.clone(),
        };
        let edges = if is_dev {
            &mut member.dev
        } else {
            &mut member.normal
        };
        edges.insert(crate_name.clone(), location);
    }
    // What is needed anyway is no edge of tests.
    member
        .dev
        .retain(|name, _| !member.normal.contains_key(name));
    member
}

/// The line on which a manifest names a dependency; zero when it does so in an unusual way.
fn line_of(manifest: &str, key: &str, is_dev: bool) -> usize {
    let mut wanted = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            wanted =
                section.contains("dependencies") && section.contains("dev-dependencies") == is_dev;
            if wanted && section.ends_with(&format!(".{key}]")) {
                return index + 1;
            }
        }
        let rest = line.strip_prefix(key).map(str::trim_start);
        if wanted && rest.is_some_and(|rest| rest.starts_with(['.', '='])) {
            return index + 1;
        }
    }
    0
}

/// Writes a path as people name it, from the folder of the workspace, with slashes.
#[must_use]
pub fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_dependency_is_found_in_its_section() {
        let manifest = "[package]\nname = \"x\"\n[dev-dependencies]\nlow.workspace = true\n\
            [dependencies]\nlow-er = \"1\"\nlow = { path = \"low\" }\n[dependencies.other]\n";
        assert_eq!(line_of(manifest, "low", false), 7);
        assert_eq!(line_of(manifest, "low", true), 4);
        assert_eq!(line_of(manifest, "other", false), 8);
        assert_eq!(line_of(manifest, "absent", false), 0);
    }
}
