//! The setting of the allocator that decides how soon the system gets freed memory back.

#[cfg(unix)]
use std::{env, os::unix::process::CommandExt as _, process::Command};

/// What the allocator reads before `main`: milliseconds.
#[cfg(unix)]
const SETTING: &str = "MIMALLOC_PURGE_DELAY";

/// When the system gets freed memory back. The allocator's own default is a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// After 10 milliseconds. With the default, a service under load holds half as much again as it uses.
    Soon,
    /// At once, for programs that build an image: with the default, they hold half as much again at their peak. It takes
    /// them a twentieth more CPU time.
    AtOnce,
}

/// Runs the program anew in the same process, with the allocator giving memory back as said; does nothing
/// where that is set already, to whatever value.
///
/// To be called before anything else is done. The allocator takes its settings from the environment
/// alone, as the process starts. Where the program cannot be run anew, it goes on with the default.
pub fn give_memory_back(when: Return) {
    #[cfg(not(unix))]
    let _ = when;
    #[cfg(unix)]
    {
        let value = match when {
            Return::Soon => "10",
            Return::AtOnce => "0",
        };
        let mut arguments = env::args_os();
        let called = arguments.next();
        let Ok(program) = env::current_exe() else {
            return;
        };
        if env::var_os(SETTING).is_some() {
            return;
        }
        let mut again = Command::new(program);
        again.args(arguments).env(SETTING, value);
        if let Some(called) = called {
            again.arg0(called);
        }
        // Returns only where it failed.
        let _error = again.exec();
    }
}
