//! Gives jobs what they need from the server.

use std::io::ErrorKind;

use pikerag_engine::keys::Scope;
use pikerag_engine::knowledge::JobRecord;
use pikerag_engine::{Session, shares_jobs};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{Caller, Shared, no_base};
use crate::jobs::{Host, JobOffer, Jobs};
use crate::problem::{Fault, Problem};

impl Host for Shared {
    fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn runs_jobs(&self, base: &str) -> bool {
        // Workers run the jobs of databases alone.
        self.live().settings.run_jobs || !self.owner_of(base).as_ref().is_some_and(shares_jobs)
    }

    fn owner_of(&self, base: &str) -> Option<Session> {
        self.live().bases.get(base).cloned()
    }

    fn session_of(&self, base: &str, key: Option<&str>) -> Result<Option<Session>, Problem> {
        let Some(id) = key else { return Ok(self.owner_of(base)) };
        let key =
            self.key_of(id)?.filter(|key| Scope::Write <= key.params.scope && key.opens(base));
        let caller =
            key.filter(|key| key.params.filter.is_empty()).map(|key| Caller { key: Some(key) });
        caller.map(|caller| self.whole_base(&caller, base)).transpose()
    }

    fn hold(&self, base: &str, session: Session) -> Result<Session, Problem> {
        let live = self.live();
        // No server deletes a base of the settings.
        if !live.made.contains(base) {
            return Ok(session);
        }
        live.engine.hold(session).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => Problem::new(503, "base-busy", Fault::Server)
                .saying(format!("another server is deleting the base `{base}`"))
                .in_chinese(format!("另一台服务器正在删除知识库 `{base}`"))
                .hint("try again in a moment"),
            _ => no_base(base),
        })
    }

    fn begun(&self, _: &str, _: &JobRecord, _: usize) {}

    fn attempted(&self, base: &str, job: &JobRecord) {
        if job.state.is_over() {
            self.metrics.indexed(base, job.state.as_str());
        }
    }

    fn offered(&self, offer: &JobOffer) {
        (self.on_offer)(offer);
    }
}
