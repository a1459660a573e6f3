//! Defines how workers take parts of jobs, and chooses the next part.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{JobFile, JobKind, JobPriority, JobRecord, JobState};

/// The right of one worker to a part of a job. It ends when it is released, stopped, or taken again
/// after its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The job; 0 while the jobs of the base are held.
    pub job: u64,
    /// A number that grows with each taking in the base.
    pub fence: u64,
}

/// A request for a part of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taking {
    /// The worker: its host, its process and a random part.
    pub worker: String,
    /// The time until the lease runs out, unless it is renewed.
    pub holds: Duration,
    /// How workers share a job.
    pub share: Share,
}

/// How workers share the jobs of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// One worker takes a whole job, and no other works on the base meanwhile.
    Whole,
    /// Several workers take at most N files each.
    Files(NonZeroUsize),
}

/// The part of a job that a lease covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPart {
    /// All of it. Nothing else of the base is taken meanwhile.
    Whole,
    /// Some files.
    Files,
    /// The pending work of the base after the last file. Nothing else of the base is taken
    /// meanwhile.
    Rest,
}

impl JobPart {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Files, Self::Rest];

    /// Its name in the base.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Files => "files",
            Self::Rest => "rest",
        }
    }

    /// Whether nothing else of the base is taken meanwhile.
    pub fn is_alone(self) -> bool {
        self != Self::Files
    }
}

/// A part of a job that a worker has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenJob {
    /// The worker's right to it.
    pub lease: Lease,
    /// The job.
    pub job: JobRecord,
    /// The part.
    pub part: JobPart,
    /// The unfinished files of the part, by name.
    pub files: Vec<JobFile>,
    /// Whether an earlier worker ended without releasing the part.
    pub is_left: bool,
}

/// The rest of the work, when a taken job is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartsLeft {
    /// Unfinished files of the job, taken ones included.
    pub files: usize,
    /// Other leases on the job.
    pub leases: usize,
    /// Whether another accepted job of the base has unfinished files.
    pub has_next: bool,
}

/// Whether a lease goes on after a change of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseAfter {
    /// The worker goes on.
    Held,
    /// The part is over: its unfinished files can be taken again.
    Released,
}

/// Changes a job within a transaction that no other change of the job can enter.
pub type ChangeJob = Box<dyn FnOnce(&mut JobRecord, PartsLeft) + Send>;

/// The leases that a request stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopLeases {
    /// Those that read one of the files, or any file.
    Readers,
    /// All of the base.
    All,
}

/// An unfinished job that is due, as [`next_part`] sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueJob {
    /// Its number.
    pub id: u64,
    /// The kind of work.
    pub kind: JobKind,
    /// Its priority.
    pub priority: JobPriority,
    /// The only worker that may take it.
    pub worker: Option<String>,
    /// Whether it has an unfinished file that no lease covers.
    pub has_files: bool,
    /// Whether a lease covers a part of it.
    pub is_leased: bool,
}

/// The leases of a base that have not run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldLeases {
    /// There is none.
    Nothing,
    /// They cover files.
    Files,
    /// One of them covers a whole job or the rest of the base, or holds all jobs.
    Alone,
}

/// Chooses the next part for a worker: by priority, then by age. A part that must run alone is
/// taken when no lease is left, and later jobs wait for it.
pub fn next_part(
    candidates: &[DueJob],
    held: HeldLeases,
    taking: &Taking,
) -> Option<(u64, JobPart)> {
    if held == HeldLeases::Alone {
        return None;
    }
    let may = |job: &&DueJob| job.worker.as_ref().is_none_or(|own| *own == taking.worker);
    let mut in_order: Vec<&DueJob> = candidates.iter().filter(may).collect();
    in_order.sort_by_key(|job| (job.priority, job.id));
    for job in in_order {
        let part = match (taking.share, job.kind) {
            (Share::Whole, _) | (_, JobKind::Watch | JobKind::Complete) => JobPart::Whole,
            (Share::Files(_), JobKind::Index) if job.has_files => JobPart::Files,
            // The last of its workers ends the job.
            (Share::Files(_), JobKind::Index) if job.is_leased => continue,
            (Share::Files(_), JobKind::Index) => JobPart::Rest,
        };
        let is_free = !part.is_alone() || held == HeldLeases::Nothing;
        return is_free.then_some((job.id, part));
    }
    None
}

/// The files of a part: several files that no process has begun, or one that ended a process.
/// `files` are unfinished, and no lease covers them.
pub fn files_of_part(files: Vec<JobFile>, part: JobPart, share: Share) -> Vec<JobFile> {
    match (part, share) {
        (JobPart::Rest, _) => Vec::new(),
        (JobPart::Whole, _) | (JobPart::Files, Share::Whole) => files,
        (JobPart::Files, Share::Files(most)) => {
            let (fresh, begun): (Vec<JobFile>, Vec<JobFile>) =
                files.into_iter().partition(|file| file.attempts == 0);
            match fresh.is_empty() {
                true => begun.into_iter().take(1).collect(),
                false => fresh.into_iter().take(most.get()).collect(),
            }
        }
    }
}

/// Puts a stopped job back, as if its attempt had not begun. `leases`: those that still cover parts
/// of it.
pub fn put_back(job: &mut JobRecord, leases: usize) {
    if job.state == JobState::Running && leases == 0 {
        job.state = JobState::Waiting;
        job.attempts = job.attempts.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, kind: JobKind, priority: JobPriority) -> DueJob {
        DueJob { id, kind, priority, worker: None, has_files: true, is_leased: false }
    }

    fn taking(share: Share) -> Taking {
        Taking { worker: "one".to_owned(), holds: Duration::from_secs(30), share }
    }

    fn shared() -> Share {
        Share::Files(NonZeroUsize::new(2).unwrap())
    }

    #[test]
    fn urgent_jobs_come_first_and_the_base_last() {
        let jobs = [
            job(1, JobKind::Complete, JobPriority::Last),
            job(2, JobKind::Index, JobPriority::Usual),
            job(3, JobKind::Index, JobPriority::Soon),
            job(4, JobKind::Index, JobPriority::Soon),
        ];
        let next = |jobs: &[DueJob], held| next_part(jobs, held, &taking(shared()));
        assert_eq!(next(&jobs, HeldLeases::Nothing), Some((3, JobPart::Files)));
        assert_eq!(next(&jobs[..2], HeldLeases::Files), Some((2, JobPart::Files)));
        assert_eq!(next(&jobs[..2], HeldLeases::Alone), None);
        assert_eq!(next(&jobs[..1], HeldLeases::Files), None);
        assert_eq!(next(&jobs[..1], HeldLeases::Nothing), Some((1, JobPart::Whole)));
    }

    #[test]
    fn the_rest_comes_after_the_last_file() {
        let done = DueJob { has_files: false, ..job(1, JobKind::Index, JobPriority::Usual) };
        let leased = DueJob { is_leased: true, ..done.clone() };
        let later = job(2, JobKind::Index, JobPriority::Usual);
        let next = |jobs: &[DueJob], held| next_part(jobs, held, &taking(shared()));
        assert_eq!(
            next(std::slice::from_ref(&done), HeldLeases::Nothing),
            Some((1, JobPart::Rest))
        );
        assert_eq!(next(std::slice::from_ref(&leased), HeldLeases::Files), None);
        assert_eq!(next(&[leased, later.clone()], HeldLeases::Files), Some((2, JobPart::Files)));
        // Otherwise later files would delay it for ever.
        assert_eq!(next(&[done, later], HeldLeases::Files), None);
    }

    #[test]
    fn a_whole_job_is_taken_alone() {
        let jobs = [job(1, JobKind::Index, JobPriority::Usual)];
        assert_eq!(
            next_part(&jobs, HeldLeases::Nothing, &taking(Share::Whole)),
            Some((1, JobPart::Whole))
        );
        assert_eq!(next_part(&jobs, HeldLeases::Files, &taking(Share::Whole)), None);
        let others = [DueJob { worker: Some("two".to_owned()), ..jobs[0].clone() }];
        assert_eq!(next_part(&others, HeldLeases::Nothing, &taking(Share::Whole)), None);
    }

    #[test]
    fn a_file_that_ended_a_process_is_read_alone() {
        let file =
            |name: &str, attempts| JobFile { file: name.to_owned(), attempts, is_done: false };
        let names = |files: Vec<JobFile>| {
            let part = files_of_part(files, JobPart::Files, shared());
            part.into_iter().map(|file| file.file).collect::<Vec<_>>()
        };
        let files = [file("a", 1), file("b", 0), file("c", 0), file("d", 0), file("e", 2)];
        assert_eq!(names(files.to_vec()), ["b", "c"]);
        assert_eq!(names(vec![files[0].clone(), files[4].clone()]), ["a"]);
    }
}
