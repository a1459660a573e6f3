//! Lets one process claim a model call, so that two processes on one base do not make and pay the
//! same call twice. A claim is valid until it expires or its process is gone.

use std::fs;

use pikerag_knowledge::Claim;
use rusqlite::{OptionalExtension, Transaction, params};

/// How long a claim that is not renewed is valid, in seconds.
const VALID_FOR: i64 = 60;

/// This process, identified so that others can tell whether it still runs.
pub struct ProcessIdentity {
    /// The boot of the machine and the process namespace of the container; empty if unknown.
    pub place: String,
    /// Its number, which another process may have later.
    pub process: u32,
    /// The start time of the process, because process numbers are reused.
    pub began: u64,
}

impl ProcessIdentity {
    /// The process that calls.
    pub fn this_process() -> Self {
        let process = std::process::id();
        let place = fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .and_then(|boot| Ok((boot, fs::read_link("/proc/self/ns/pid")?)))
            .map(|(boot, view)| format!("{} {}", boot.trim(), view.display()));
        match (place, began(process)) {
            (Ok(place), Some(began)) => Self { place, process, began },
            _ => Self { place: String::new(), process, began: 0 },
        }
    }

    /// Whether a process has certainly ended. Nothing is known here about other machines and
    /// containers.
    pub fn knows_gone(&self, place: &str, process: u32, then: u64) -> bool {
        !place.is_empty() && place == self.place && began(process) != Some(then)
    }
}

/// Whether a process has certainly ended, as far as this system shows.
pub(super) fn is_gone(process: u32) -> bool {
    began(std::process::id()).is_some() && began(process).is_none()
}

/// The start time of a process, in system ticks; `None` if there is no such process.
fn began(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name in brackets that may contain anything; the start time is field 22.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

/// Claims one call, unless it is recorded or another holder makes it.
pub(super) fn claim(
    tx: &Transaction<'_>,
    who: &ProcessIdentity,
    holder: u64,
    key: &str,
) -> rusqlite::Result<Claim> {
    if tx.prepare_cached("SELECT 1 FROM calls WHERE key = ?1")?.exists([key])? {
        return Ok(Claim::Recorded);
    }
    let taken = tx
        .prepare_cached(
            "SELECT holder, place, process, began, until < unixepoch() FROM claims WHERE key = ?1",
        )?
        .query_row([key], |row| {
            let is_ours = row.get::<_, i64>(0)? == holder.cast_signed();
            let place: String = row.get(1)?;
            let began = row.get::<_, i64>(3)?.cast_unsigned();
            let is_over = row.get::<_, bool>(4)?;
            Ok(!is_ours && !is_over && !who.knows_gone(&place, row.get(2)?, began))
        })
        .optional()?;
    if taken == Some(true) {
        return Ok(Claim::Theirs);
    }
    tx.prepare_cached(
        "INSERT INTO claims(key, holder, place, process, began, until)
         VALUES (?1, ?2, ?3, ?4, ?5, unixepoch() + ?6)
         ON CONFLICT(key) DO UPDATE SET holder = excluded.holder, place = excluded.place,
           process = excluded.process, began = excluded.began, until = excluded.until",
    )?
    .execute(params![
        key,
        holder.cast_signed(),
        who.place,
        who.process,
        who.began.cast_signed(),
        VALID_FOR
    ])?;
    Ok(Claim::Ours)
}

/// Ends a holder's claims.
pub(super) fn release(tx: &Transaction<'_>, claims: &[(u64, String)]) -> rusqlite::Result<()> {
    let mut delete = tx.prepare_cached("DELETE FROM claims WHERE key = ?1 AND holder = ?2")?;
    for (holder, key) in claims {
        delete.execute(params![key, holder.cast_signed()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("layouts/3.sql")).unwrap();
        connection.execute_batch(include_str!("layouts/5.sql")).unwrap();
        connection
    }

    fn claimed(connection: &mut Connection, who: &ProcessIdentity, holder: u64) -> Claim {
        let tx = connection.transaction().unwrap();
        let claimed = claim(&tx, who, holder, "k").unwrap();
        tx.commit().unwrap();
        claimed
    }

    #[test]
    fn a_claim_holds_until_it_is_released_expires_or_its_process_is_gone() {
        let mut connection = database();
        let who = ProcessIdentity::this_process();
        assert_eq!(claimed(&mut connection, &who, 1), Claim::Ours);
        assert_eq!(claimed(&mut connection, &who, 1), Claim::Ours);
        assert_eq!(claimed(&mut connection, &who, 2), Claim::Theirs);
        let tx = connection.transaction().unwrap();
        release(&tx, &[(2, "k".to_owned())]).unwrap();
        tx.commit().unwrap();
        assert_eq!(claimed(&mut connection, &who, 2), Claim::Theirs);
        let tx = connection.transaction().unwrap();
        release(&tx, &[(1, "k".to_owned())]).unwrap();
        tx.commit().unwrap();
        assert_eq!(claimed(&mut connection, &who, 2), Claim::Ours);

        connection.execute("UPDATE claims SET until = unixepoch() - 1", []).unwrap();
        assert_eq!(claimed(&mut connection, &who, 3), Claim::Ours);
        // Another process had the number before.
        connection.execute("UPDATE claims SET began = began - 1", []).unwrap();
        assert_eq!(claimed(&mut connection, &who, 4), Claim::Ours);
        // Processes of another machine cannot be checked from here.
        connection.execute("UPDATE claims SET place = 'elsewhere', began = 0", []).unwrap();
        assert_eq!(claimed(&mut connection, &who, 5), Claim::Theirs);
    }

    #[test]
    fn recorded_calls_are_not_claimed() {
        let mut connection = database();
        connection
            .execute("INSERT INTO calls VALUES ('k', 'answer', 'm', '{}', '{}', 0, 0, 0)", [])
            .unwrap();
        assert_eq!(claimed(&mut connection, &ProcessIdentity::this_process(), 1), Claim::Recorded);
    }
}
