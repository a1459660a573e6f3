//! Keeps jobs with their files in a map.

use async_trait::async_trait;
use pikerag_knowledge::{FileMark, JobFile, JobQuery, JobRecord, JobState, Jobs, StoreError};

use super::Oracle;

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
            let Some(file) = held.get_mut(&file) else { continue };
            file.attempts = if mark == FileMark::Begun { file.attempts + 1 } else { 0 };
            file.is_done = match mark {
                FileMark::Begun => file.is_done,
                FileMark::PutBack => false,
                FileMark::Done => true,
            };
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
}
