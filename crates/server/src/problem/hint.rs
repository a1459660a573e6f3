//! Says what a caller can do about a problem.

/// The next step for a code; `None` if the message says enough.
pub(super) fn hint(code: &str) -> Option<&'static str> {
    Some(match code {
        "no-base" => "index documents: `pikerag index PATH…`",
        "over-budget" => {
            "the cap of this key or of the server is reached: ask the operator to raise it"
        }
        "key-ended" => "send a valid key: the server's operator makes one",
        "no-model" => {
            "set a chat model for the server, or choose a method that needs none (GET /api/v1/methods)"
        }
        "no-such-method" => "GET /api/v1/methods lists all methods",
        "only-part" => "this key sees only a part of the base: use a key without a filter",
        "nothing-admitted" => "loosen the filter",
        "model-failed" => "check that the model's endpoint runs: `pikerag doctor`",
        "base-busy" | "database-unreachable" => "try again in a moment",
        "disk-full" => "ask the operator to make space on the disk of the database",
        "cancelled" => {
            "send it again if you still need it: model calls that had ended are not paid again"
        }
        "no-such-table" | "no-such-column" | "bad-sql" | "sql-not-allowed" => {
            "GET …/tables lists the tables with their columns"
        }
        "no-such-run" => "GET …/runs lists the kept runs",
        "no-such-file" => "GET …/files lists the files of the base; GET …/sent lists all uploads",
        "unclear-file" => "send the absolute path of one of them",
        _ => return None,
    })
}
