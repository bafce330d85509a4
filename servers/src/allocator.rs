//! The setting of the allocator that decides how soon the system gets freed memory back.

#[cfg(unix)]
use std::{env, os::unix::process::CommandExt as _, process::Command};

/// What the allocator reads before `main`, and the milliseconds that it waits. Its own default of a
/// second lets a service under load hold half as much again as it uses, and so a program that builds an image.
#[cfg(unix)]
const SETTING: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "10");

/// Runs the program again in the same process, with the allocator giving memory back soon; does nothing
/// where that is set already, to whatever value.
///
/// To be called before anything else is done. The allocator takes its settings from the environment
/// alone, as the process starts. Where the program cannot be run again, it goes on with the default.
pub fn give_memory_back_soon() {
    #[cfg(unix)]
    {
        let (name, value) = SETTING;
        let mut arguments = env::args_os();
        let called = arguments.next();
        let Ok(program) = env::current_exe() else {
            return;
        };
        if env::var_os(name).is_some() {
            return;
        }
        let mut again = Command::new(program);
        again.args(arguments).env(name, value);
        if let Some(called) = called {
            again.arg0(called);
        }
        // Returns only where it failed.
        let _error = again.exec();
    }
}
