"""The errors of the clients: one class for each decision that a caller can take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

import httpx

if TYPE_CHECKING:
    from .types import Job, Problem


class PikeragError(Exception):
    """Every error of this package."""


class ConnectionFailed(PikeragError):
    """The server was not reached, or the connection broke. Start `pikerag serve`, or check the address."""


class TimedOut(ConnectionFailed):
    """The server sent nothing for longer than the timeout. Its run stops when the connection closes."""


class ReplyError(PikeragError):
    """The reply is not one of a pikerag server, or of a version that this package does not know."""


class JobError(PikeragError):
    """A job did not reach `done`. `job.stand` is its state, `job.failed` lists the files that failed."""

    def __init__(self, job: Job) -> None:
        self.job = job
        reasons = [failed.reason for failed in job.failed] or [job.reason or (job.problem.detail if job.problem else "")]
        super().__init__(f"job {job.id} is `{job.stand}`: {'; '.join(reasons) or 'no reason given'}")


class ProblemError(PikeragError):
    """The server refused the request, or failed. `code` is stable across versions of the server."""

    def __init__(self, problem: Problem, retry_after: Optional[float] = None) -> None:
        self.problem = problem
        self.status = problem.status
        self.code = problem.code
        self.title = problem.title
        self.detail = problem.detail
        self.detail_zh = problem.detail_zh
        self.fault = problem.fault
        self.hint = problem.hint
        self.id = problem.id
        self.param = problem.param  # The field of the request that must change, if it is known.
        self.retry_after = retry_after  # Seconds to wait before the next attempt, if the server names them.
        message = f"{self.status} {self.code}: {self.detail or self.title}"
        super().__init__(f"{message} ({self.hint})" if self.hint else message)


class RequestError(ProblemError):
    """400, 413, 422 and other 4xx: correct the request."""


class AuthenticationError(ProblemError):
    """401: give a valid key."""


class BudgetError(ProblemError):
    """402: a cap of the key or of the server is reached."""


class PermissionDeniedError(ProblemError):
    """403: the key has a smaller scope than the request needs."""


class NotFoundError(ProblemError):
    """404: the named thing does not exist, or the key does not show it."""


class ConflictError(ProblemError):
    """409: the state of the base or of a run does not allow it."""


class RateLimitError(ProblemError):
    """429: try again after `retry_after` seconds."""


class ServerError(ProblemError):
    """5xx: the server or a model failed. `id` finds the explanation in the server's log."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    401: AuthenticationError,
    402: BudgetError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(problem: Problem, retry_after: Optional[float] = None) -> ProblemError:
    """The error of a problem, by its status."""
    other = ServerError if 500 <= problem.status else RequestError
    return _BY_STATUS.get(problem.status, other)(problem, retry_after)


def connection_error(error: httpx.TransportError, url: Union[str, httpx.URL]) -> ConnectionFailed:
    shown = without_user(url)
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        return ConnectionFailed(f"cannot connect to {shown}: {reason}; is `pikerag serve` running there?")
    if isinstance(error, httpx.TimeoutException):
        return TimedOut(f"{shown} sent nothing for too long ({reason}); raise `timeout`, or use a stream")
    return ConnectionFailed(f"the connection to {shown} broke: {reason}")


def without_user(url: Union[str, httpx.URL]) -> str:
    """An address without user and password, which no message shows."""
    return str(httpx.URL(url).copy_with(userinfo=b""))
