//! How much memory the process may use.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory that is assumed where the system does not say.
const UNKNOWN: u64 = 4 << 30;

/// Returns the memory of the machine, or of the control group that the process is in where that has
/// less, in bytes.
#[must_use]
pub(crate) fn available() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .as_deref()
        .and_then(total)
        .unwrap_or(UNKNOWN);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups, Path::new("/sys/fs/cgroup"));
    let limits = limits.iter().filter_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        // `max` is no limit.
        text.trim().parse().ok()
    });
    limits.fold(machine, u64::min)
}

/// Reads `MemTotal` from the text of `/proc/meminfo`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Returns the files with the limits of the control groups of a process and of those around them,
/// from the text of `/proc/self/cgroup`; version 1 and version 2 may be mounted together.
fn limit_files(groups: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (folder, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        // Within a container the group may be named as seen from outside, and only the root be there.
        let group = folder.join(group.trim_start_matches('/'));
        let around = group
            .ancestors()
            .take_while(|path| path.starts_with(&folder));
        files.extend(around.map(|path| path.join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let text = "MemTotal:       24689764 kB\nMemFree:        20000000 kB\n";
        assert_eq!(total(text), Some(24_689_764 * 1024));
        assert_eq!(total("MemFree: 1 kB"), None);
        assert!(available() >= 1 << 20);
    }

    #[test]
    fn limits_of_both_versions_of_control_groups_are_found() {
        let root = Path::new("/sys/fs/cgroup");
        let shown = |groups: &str| -> Vec<String> {
            let files = limit_files(groups, root);
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect()
        };
        assert_eq!(
            shown("0::/system.slice/soml.service\n"),
            [
                "/sys/fs/cgroup/system.slice/soml.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            shown("5:cpu,cpuacct:/a\n4:memory:/docker/1\n"),
            [
                "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ]
        );
        assert!(shown("").is_empty());
    }
}
