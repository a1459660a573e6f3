//! `serve` and `keys`: the base for programs, and who may ask it.

use std::time::Duration;

use anyhow::Context;
use pikerag_engine::keys::{KeyParams, KeyUse, Keys, KeysError, mark_as_needed, now};
use pikerag_engine::parts::Secret;
use pikerag_engine::settings::{Settings, SettingsError};
use pikerag_engine::{Engine, Session};
use pikerag_server::{JobOffer, Reloader, openapi, serve as listen};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::advice::told;
use crate::cli::{KeysVerb, MakeKey, Serve};
use crate::interrupt::signalled;
use crate::output::{note, problem, say, say_json};
use crate::plain::one_line;
use crate::render::when;

/// What the arguments say of the server, over the settings.
pub(super) fn set(settings: &mut Settings, arguments: &Serve) {
    if let Some(host) = &arguments.host {
        settings.server.host.clone_from(host);
    }
    if let Some(port) = arguments.port {
        settings.server.port = port;
    }
}

/// Serves until a signal ends it; `SIGHUP` takes what `again` reads.
pub(super) async fn serve(
    engine: Engine,
    json: bool,
    arguments: &Serve,
    again: impl Fn() -> Result<Settings, SettingsError> + Send + 'static,
) -> anyhow::Result<u8> {
    if arguments.openapi {
        say(openapi().trim_end());
        return Ok(0);
    }
    let grace = engine.settings().server.grace;
    let serving = listen(engine, |offer| note(&offered(offer))).await?;
    tokio::spawn(reload_at_hangup(serving.reloader(), again));
    let url = format!("http://{}", serving.address());
    match json {
        true => {
            say_json(&json!({ "listening": url }))?;
        }
        false => {
            say(&format!("listening on {url}; {url}/openapi.json describes it; Ctrl-C ends it"));
        }
    }
    serving
        .until(async {
            signalled().await;
            at_the_latest(grace);
            note("no further request is taken; what is under way comes to its end (once more ends it at once)");
        })
        .await;
    Ok(0)
}

/// Reads the settings again at each `SIGHUP`. Settings that cannot be read change nothing.
async fn reload_at_hangup(
    reloader: Reloader,
    again: impl Fn() -> Result<Settings, SettingsError> + Send + 'static,
) {
    // Where the signal cannot be heard, it ends the program by itself.
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        let taken = again()
            .map_err(anyhow::Error::from)
            .and_then(|settings| Ok(reloader.reload(settings)?));
        match taken {
            Ok(later) if later.is_empty() => note("the settings are read again"),
            Ok(later) => note(&format!(
                "the settings are read again; a restart is needed for {}",
                later.join(", ")
            )),
            Err(error) => {
                problem(&told(&error));
                note("the server goes on with the settings that it had");
            }
        }
    }
}

/// Ends the program after so long, whatever a model, a disk or somebody who holds a lock does. What is committed by then stays.
fn at_the_latest(grace: Duration) {
    let end = move || {
        std::thread::sleep(grace);
        std::process::exit(i32::from(crate::exit::FAILED));
    };
    // Without a thread it ends as soon as it can.
    let _ = std::thread::Builder::new().name("grace".to_owned()).spawn(end);
}

/// What a job would take that waits to be accepted, and how to accept it.
fn offered(JobOffer { base, id, bill }: &JobOffer) -> String {
    let mut takes = Vec::new();
    if 0 < bill.calls {
        takes.push(format!("{} calls to models ({} tokens)", bill.calls, bill.tokens));
    }
    if 0 < bill.texts {
        takes.push(format!("{} texts to embed", bill.texts));
    }
    let usd = bill.usd.map(|usd| format!(", ${usd:.2}")).unwrap_or_default();
    let base = one_line(base);
    format!(
        "{base}: {}{usd} waiting, and nobody has accepted them: `POST /api/v1/bases/{base}/jobs/{id}/begin` begins",
        takes.join(", ")
    )
}

pub(super) fn keys(session: &Session, json: bool, verb: &KeysVerb) -> anyhow::Result<u8> {
    let path = session.settings().server.keys.clone().ok_or(KeysError::NoPlace)?;
    let keys = Keys::at(&path);
    match verb {
        KeysVerb::Make(make) => made(session, &keys, json, make),
        KeysVerb::List => list(&keys, json),
        KeysVerb::Rotate { id, grace } => {
            let (key, secret) = keys.rotate(id, grace.unwrap_or_default())?;
            show(json, &key.id, &secret)
        }
        KeysVerb::Revoke { id } => {
            let gone = keys.revoke(id)?;
            if json {
                return say_json(&json!({ "revoked": gone.id }));
            }
            say(&format!("taken back: {} ({})", gone.id, one_line(&gone.params.name)));
            Ok(0)
        }
    }
}

fn made(session: &Session, keys: &Keys, json: bool, make: &MakeKey) -> anyhow::Result<u8> {
    let known = &session.settings().server.bases;
    let usual = pikerag_engine::settings::DEFAULT_BASE;
    if let Some(other) = make.bases.iter().find(|base| *base != usual && !known.contains_key(*base))
    {
        anyhow::bail!(
            "there is no base `{other}` in `server.bases`; that of `base` is called `{usual}`"
        );
    }
    let params = KeyParams {
        name: make.name.clone(),
        scope: make.scope,
        bases: make.bases.clone(),
        filter: make.filters.filter(),
        cap_usd: make.cap_usd,
        per_minute: make.per_minute,
        expires: make.expires,
    };
    let no_key = "no key was made";
    match &make.into {
        None => {
            let (key, secret) = keys.make(params).context(no_key)?;
            show(json, &key.id, &secret)?;
        }
        Some(file) => {
            let key = keys.make_into(params, file).context(no_key)?;
            match (json, &key) {
                (true, _) => {
                    say_json(&json!({ "id": key.map(|key| key.id) }))?;
                }
                (false, Some(key)) => note(&format!("key {} is in {}", key.id, file.display())),
                (false, None) => note(&format!("{} holds a good key already", file.display())),
            }
        }
    }
    mark_as_needed(session.settings());
    Ok(0)
}

fn show(json: bool, id: &str, secret: &Secret) -> anyhow::Result<u8> {
    if json {
        return say_json(&json!({ "id": id, "key": secret.expose() }));
    }
    say(secret.expose());
    note(&format!("key {id} is kept as a digest: this is the only time that it is shown"));
    Ok(0)
}

fn list(keys: &Keys, json: bool) -> anyhow::Result<u8> {
    let all = keys.list()?;
    let usd = |picodollars: u64| picodollars as f64 / 1e12;
    if json {
        let line = |line: &KeyUse| json!({ "id": line.key.id, "made": line.key.made, "good_for": line.key.params, "used": line.used, "spent_usd": usd(line.spent), "reserved_usd": usd(line.reserved) });
        return say_json(&json!(all.iter().map(line).collect::<Vec<_>>()));
    }
    if all.is_empty() {
        note(match keys.were_made()? {
            true => {
                "there are no keys any more: the server turns every request away until one is made"
            }
            false => "there are no keys: whoever reaches the server on this machine may do all",
        });
    }
    for KeyUse { key, used, spent, reserved } in &all {
        let params = &key.params;
        let mut told = vec![params.scope.as_str().to_owned()];
        if !params.bases.is_empty() {
            told.push(format!("opens {}", params.bases.join(", ")));
        }
        if !params.filter.is_empty() {
            told.push(format!("sees {}", params.filter));
        }
        if let Some(per_minute) = params.per_minute {
            told.push(format!("{per_minute} a minute"));
        }
        let spent = usd(spent.saturating_add(*reserved));
        match params.cap_usd {
            Some(cap) => told.push(format!("${spent:.2} of ${cap:.2} spent")),
            None if 0.0 < spent => told.push(format!("${spent:.2} spent")),
            None => {}
        }
        match params.expires {
            Some(expires) if expires <= now() => told.push(format!("expired {}", when(expires))),
            Some(expires) => told.push(format!("good until {}", when(expires))),
            None => {}
        }
        if let Some(used) = used {
            told.push(format!("last used {}", when(*used)));
        }
        let name = one_line(&params.name);
        say(&format!("{}  {}  {name}  {}", key.id, when(key.made), one_line(&told.join("; "))));
    }
    Ok(0)
}
