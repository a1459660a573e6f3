//! Keeps model calls with their claims, and runs.

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRecord, Claim, Ledger, Pruned, RunEvent, RunId, RunQuery, RunRecord, RunState, RunStore,
    RunsToKeep, StoreError,
};

use super::Oracle;

#[async_trait]
impl Ledger for Oracle {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        let state = self.state();
        Ok(keys.iter().map(|key| state.calls.get(key).cloned()).collect())
    }

    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        let state = self.state();
        let number = |held: &str| match held.strip_prefix(key)?.strip_prefix('#') {
            Some(number) => number.parse::<u64>().ok(),
            None => (held == key).then_some(0),
        };
        let calls = state.calls.values().filter_map(|call| Some((number(&call.key)?, call)));
        Ok(calls.max_by_key(|(number, _)| *number).map(|(_, call)| call.clone()))
    }

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        let mut state = self.state();
        for call in calls {
            state.claims.remove(&call.key);
            state.calls.entry(call.key.clone()).or_insert(call);
        }
        Ok(())
    }

    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
        let mut state = self.state();
        for key in keys {
            if let Some(call) = state.calls.get_mut(key) {
                call.unusable = true;
            }
        }
        Ok(())
    }

    async fn claim_all(&self, holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError> {
        let mut state = self.state();
        let released = std::mem::take(&mut state.released);
        let mut claim = |key: &String| {
            if released.contains(&(holder, key.clone())) {
                return Claim::Theirs;
            }
            if state.calls.contains_key(key) {
                return Claim::Recorded;
            }
            match *state.claims.entry(key.clone()).or_insert(holder) == holder {
                true => Claim::Ours,
                false => Claim::Theirs,
            }
        };
        Ok(keys.iter().map(&mut claim).collect())
    }

    fn release(&self, holder: u64, keys: &[String]) {
        let mut state = self.state();
        state.claims.retain(|key, held| *held != holder || !keys.contains(key));
        state.released.extend(keys.iter().map(|key| (holder, key.clone())));
    }
}

#[async_trait]
impl RunStore for Oracle {
    async fn keep_run(&self, run: RunRecord, events: Vec<RunEvent>) -> Result<(), StoreError> {
        let mut state = self.state();
        let held = state.runs.entry(run.id.clone()).or_default();
        held.0 = run;
        held.1.extend(events.into_iter().map(|event| (event.seq, event)));
        Ok(())
    }

    async fn runs(&self, query: RunQuery<'_>) -> Result<Vec<RunRecord>, StoreError> {
        let state = self.state();
        let all = state.runs.values().map(|(run, _)| run.clone());
        let (mut runs, most): (Vec<RunRecord>, usize) = match query {
            RunQuery::Latest(limit) => (all.collect(), limit),
            RunQuery::Named(prefix) => {
                (all.filter(|run| run.id.0.starts_with(prefix)).collect(), 2)
            }
        };
        if matches!(query, RunQuery::Latest(_)) {
            runs.sort_by(|a, b| (b.started, &a.id).cmp(&(a.started, &b.id)));
        }
        runs.truncate(most);
        Ok(runs)
    }

    async fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, StoreError> {
        let state = self.state();
        Ok(state
            .runs
            .get(run)
            .into_iter()
            .flat_map(|(_, events)| events.values().cloned())
            .collect())
    }

    async fn prune_runs(&self, keep: RunsToKeep) -> Result<Pruned, StoreError> {
        let latest = self.runs(RunQuery::Latest(keep.number)).await?;
        let latest: Vec<RunId> = latest.into_iter().map(|run| run.id).collect();
        let mut state = self.state();
        let held = state.runs.len();
        let mut times: Vec<_> = state.runs.values().map(|(run, _)| run.started).collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let (oldest, leap) = keep.too_old(&times);
        let oldest = oldest.filter(|_| leap.is_none());
        state.runs.retain(|id, (run, _)| {
            oldest.is_none_or(|oldest| oldest < run.started)
                && (latest.contains(id) || run.state == RunState::Running)
        });
        Ok(Pruned { forgotten: held - state.runs.len(), leap })
    }
}
