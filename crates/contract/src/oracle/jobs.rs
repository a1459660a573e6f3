//! Keeps jobs with their files and leases in maps.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChangeJob, DueJob, FileMark, HeldLeases, JobFile, JobPart, JobQuery, JobRecord, JobState, Jobs,
    Lease, LeaseAfter, Millis, PartsLeft, StopLeases, StoreError, TakenJob, Taking, files_of_part,
    next_part, put_back,
};

use super::{HeldLease, Oracle, State};

#[async_trait]
impl Jobs for Oracle {
    async fn add_job(&self, job: JobRecord, files: Vec<String>) -> Result<u64, StoreError> {
        let mut state = self.state();
        state.last_job += 1;
        let id = state.last_job;
        let file = |file: String| (file.clone(), JobFile { file, attempts: 0, is_done: false });
        state.jobs.insert(id, (JobRecord { id, ..job }, files.into_iter().map(file).collect()));
        Ok(id)
    }

    async fn put_job(&self, job: JobRecord) -> Result<bool, StoreError> {
        let mut state = self.state();
        if state.parts_of(job.id) != 0 {
            return Err(StoreError::LeaseLost { job: job.id });
        }
        let Some(held) = state.jobs.get_mut(&job.id) else { return Ok(false) };
        held.0 = job;
        Ok(true)
    }

    async fn jobs(&self, query: JobQuery) -> Result<Vec<JobRecord>, StoreError> {
        let state = self.state();
        let all = state.jobs.values().map(|(job, _)| job.clone());
        Ok(match query {
            JobQuery::Latest(limit) => all.rev().take(limit).collect(),
            JobQuery::Unfinished => all.filter(|job| !job.state.is_over()).collect(),
            JobQuery::One(id) => all.filter(|job| job.id == id).collect(),
            JobQuery::Next(now) => {
                let waiting = all.filter(|job| job.state == JobState::Waiting);
                let due = |job: &JobRecord| (if job.due <= now { 0 } else { job.due }, job.id);
                waiting.min_by_key(due).into_iter().collect()
            }
        })
    }

    async fn job_files(&self, job: u64) -> Result<Vec<JobFile>, StoreError> {
        let state = self.state();
        Ok(state
            .jobs
            .get(&job)
            .into_iter()
            .flat_map(|(_, files)| files.values().cloned())
            .collect())
    }

    async fn mark_job_files(
        &self,
        job: u64,
        files: Vec<String>,
        mark: FileMark,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        let Some((_, held)) = state.jobs.get_mut(&job) else { return Ok(()) };
        for file in files {
            if let Some(file) = held.get_mut(&file) {
                set(file, mark);
            }
        }
        Ok(())
    }

    async fn withdraw_files(&self, job: Option<u64>, files: Vec<String>) -> Result<(), StoreError> {
        for (record, held) in self.state().jobs.values_mut() {
            if !record.state.is_over() && job.is_none_or(|job| job == record.id) {
                held.retain(|file, _| !files.contains(file));
            }
        }
        Ok(())
    }

    async fn files_to_read(&self) -> Result<Vec<(String, JobState)>, StoreError> {
        let state = self.state();
        let unfinished = state.jobs.values().filter(|(job, _)| !job.state.is_over());
        let files = unfinished.flat_map(|(job, files)| {
            files.values().filter(|file| !file.is_done).map(|file| (file.file.clone(), job.state))
        });
        Ok(files.collect())
    }

    async fn prune_jobs(&self, keep: usize) -> Result<usize, StoreError> {
        let mut state = self.state();
        let before = state.jobs.len();
        let latest: Vec<u64> = state.jobs.keys().rev().take(keep).copied().collect();
        state.jobs.retain(|id, (job, _)| latest.contains(id) || !job.state.is_over());
        Ok(before - state.jobs.len())
    }

    async fn take_job(&self, taking: Taking) -> Result<Option<TakenJob>, StoreError> {
        let mut state = self.state();
        let now = Instant::now();
        let mut left = None;
        for (fence, held) in state.leases.clone() {
            if held.until <= now && (left.is_none() || held.of.is_none()) {
                state.leases.remove(&fence);
                left = left.or(held.of.map(|of| (of, held.files)));
            }
        }
        let is_left = left.is_some();
        let (job, part, files) = match left {
            Some(((job, part), names)) => {
                let files = state.unfinished(job);
                (job, part, files.into_iter().filter(|file| names.contains(&file.file)).collect())
            }
            None => {
                let is_alone = |held: &HeldLease| held.of.is_none_or(|(_, part)| part.is_alone());
                let held = match state.leases.is_empty() {
                    true => HeldLeases::Nothing,
                    false if state.leases.values().any(is_alone) => HeldLeases::Alone,
                    false => HeldLeases::Files,
                };
                let Some((job, part)) = next_part(&state.due(), held, &taking) else {
                    return Ok(None);
                };
                (job, part, files_of_part(state.free(job), part, taking.share))
            }
        };
        let Some((record, _)) = state.jobs.get(&job).cloned() else { return Ok(None) };
        let names: BTreeSet<String> = files.iter().map(|file| file.file.clone()).collect();
        let lease = Lease { job, fence: state.add(Some((job, part)), names, taking.holds) };
        let is_left = is_left || part == JobPart::Whole && record.state == JobState::Running;
        Ok(Some(TakenJob { lease, job: record, part, files, is_left }))
    }

    async fn renew_lease(&self, lease: Lease, holds: Duration) -> Result<(), StoreError> {
        let mut state = self.state();
        let lost = StoreError::LeaseLost { job: lease.job };
        state.leases.get_mut(&lease.fence).ok_or(lost)?.until = Instant::now() + holds;
        Ok(())
    }

    async fn change_job(
        &self,
        lease: Lease,
        (names, mark): (Vec<String>, FileMark),
        after: LeaseAfter,
        change: ChangeJob,
    ) -> Result<JobRecord, StoreError> {
        let mut state = self.state();
        let lost = || StoreError::LeaseLost { job: lease.job };
        let covered = state.leases.get(&lease.fence).ok_or_else(lost)?.files.clone();
        if after == LeaseAfter::Released {
            state.leases.remove(&lease.fence);
        }
        let others = state.leases.iter().filter(|(fence, held)| {
            **fence != lease.fence && held.of.is_some_and(|(job, _)| job == lease.job)
        });
        let leases = others.count();
        let (_, files) = state.jobs.get_mut(&lease.job).ok_or_else(lost)?;
        for name in names.iter().filter(|name| covered.contains(*name)) {
            if let Some(file) = files.get_mut(name) {
                set(file, mark);
            }
        }
        let is_next = |job: &JobRecord| {
            job.id != lease.job && matches!(job.state, JobState::Waiting | JobState::Running)
        };
        let has_next = state
            .jobs
            .values()
            .any(|(job, files)| is_next(job) && files.values().any(|file| !file.is_done));
        let files = state.unfinished(lease.job).len();
        let (job, _) = state.jobs.get_mut(&lease.job).ok_or_else(lost)?;
        change(job, PartsLeft { files, leases, has_next });
        Ok(job.clone())
    }

    async fn stop_jobs(
        &self,
        files: Vec<String>,
        stopped: StopLeases,
        holder: Taking,
    ) -> Result<Option<Lease>, StoreError> {
        self.withdraw_files(None, files.clone()).await?;
        let mut state = self.state();
        let mut has_ended = false;
        for (fence, held) in state.leases.clone() {
            let Some((job, _)) = held.of else { continue };
            let reads = held.files.is_empty() || files.iter().any(|file| held.files.contains(file));
            if stopped == StopLeases::Readers && !reads {
                continue;
            }
            has_ended = true;
            state.leases.remove(&fence);
            let leases = state.parts_of(job);
            let Some((record, own)) = state.jobs.get_mut(&job) else { continue };
            put_back(record, leases);
            for file in own.values_mut().filter(|file| held.files.contains(&file.file)) {
                file.attempts = 0;
            }
        }
        if !has_ended {
            return Ok(None);
        }
        let fence = state.add(None, BTreeSet::new(), holder.holds);
        Ok(Some(Lease { job: 0, fence }))
    }

    async fn release_lease(&self, lease: Lease) -> Result<(), StoreError> {
        self.state().leases.remove(&lease.fence);
        Ok(())
    }

    async fn clock(&self) -> Result<Millis, StoreError> {
        Ok(now())
    }
}

fn now() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

fn set(file: &mut JobFile, mark: FileMark) {
    file.attempts = if mark == FileMark::Begun { file.attempts + 1 } else { 0 };
    file.is_done = match mark {
        FileMark::Begun => file.is_done,
        FileMark::PutBack => false,
        FileMark::Done => true,
    };
}

impl State {
    /// The number of leases on a job.
    fn parts_of(&self, job: u64) -> usize {
        let of_job = |held: &&HeldLease| held.of.is_some_and(|(of, _)| of == job);
        self.leases.values().filter(of_job).count()
    }

    fn unfinished(&self, job: u64) -> Vec<JobFile> {
        let files = self.jobs.get(&job).into_iter().flat_map(|(_, files)| files.values());
        files.filter(|file| !file.is_done).cloned().collect()
    }

    /// The unfinished files of a job that no lease covers.
    fn free(&self, job: u64) -> Vec<JobFile> {
        let covers = |held: &HeldLease, file: &JobFile| {
            held.of.is_some_and(|(of, _)| of == job) && held.files.contains(&file.file)
        };
        let mut files = self.unfinished(job);
        files.retain(|file| !self.leases.values().any(|held| covers(held, file)));
        files
    }

    fn due(&self) -> Vec<DueJob> {
        let jobs = self.jobs.values().map(|(job, _)| job);
        let due = jobs.filter(|job| {
            matches!(job.state, JobState::Waiting | JobState::Running) && job.due <= now()
        });
        let job = |job: &JobRecord| DueJob {
            id: job.id,
            kind: job.kind,
            priority: job.priority,
            worker: job.worker.clone(),
            has_files: !self.free(job.id).is_empty(),
            is_leased: self.parts_of(job.id) != 0,
        };
        due.map(job).collect()
    }

    fn add(&mut self, of: Option<(u64, JobPart)>, files: BTreeSet<String>, holds: Duration) -> u64 {
        self.last_fence += 1;
        let until = Instant::now() + holds;
        self.leases.insert(self.last_fence, HeldLease { of, files, until });
        self.last_fence
    }
}
