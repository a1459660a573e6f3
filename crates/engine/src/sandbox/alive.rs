//! Checks whether a process of this machine still runs.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

/// Whether a process with this number exists, of any user.
pub(crate) fn is_alive(process: u32) -> bool {
    match i32::try_from(process) {
        Ok(number) if 0 < number => kill(Pid::from_raw(number), None) != Err(Errno::ESRCH),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert!(is_alive(std::process::id()) && !is_alive(0) && !is_alive(u32::MAX));
    }
}
