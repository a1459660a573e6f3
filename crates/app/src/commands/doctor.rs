//! `doctor`: is all in place? Each line says what was looked at, and what to do where it is not.

use pikerag_knowledge::{ChatRequest, KnowledgeBase, Message, Role};
use serde::Serialize;

use crate::exit;
use crate::output::{say, say_json};
use crate::wiring::Wiring;

#[derive(Serialize)]
struct Finding {
    what: &'static str,
    fine: bool,
    says: String,
}

pub(crate) async fn doctor(wiring: &Wiring) -> anyhow::Result<u8> {
    let mut findings = vec![base(wiring).await, parser(wiring).await];
    findings.extend(helpers(wiring).await);
    findings.push(chat(wiring).await);
    findings.push(embedder(wiring).await);
    let sick = findings.iter().any(|finding| !finding.fine);
    if wiring.json {
        say_json(&findings)?;
    } else {
        for Finding { what, fine, says } in &findings {
            say(&format!("{} {what}: {says}", if *fine { "✓" } else { "✗" }));
        }
    }
    Ok(if sick { exit::FAILED } else { 0 })
}

async fn base(wiring: &Wiring) -> Finding {
    let what = "knowledge base";
    if !wiring.base_exists() {
        let says = "none yet; `pikerag index PATH…` makes one".to_owned();
        return Finding { what, fine: true, says };
    }
    let base = match wiring.base() {
        Ok(base) => base,
        Err(error) => return Finding { what, fine: false, says: format!("{error:#}") },
    };
    match base.summary().await {
        Ok(summary) => {
            let says = format!("{} chunks in {}", summary.chunks, base.folder().display());
            Finding { what, fine: true, says }
        }
        Err(error) => Finding { what, fine: false, says: error.to_string() },
    }
}

async fn parser(wiring: &Wiring) -> Finding {
    let what = "file parser";
    let tried = async {
        let file = scratch_file();
        std::fs::write(&file, "# Heading\n\nText.\n")?;
        let name = file.display().to_string();
        let parsed = wiring.reader()?.parse(&name).await;
        std::fs::remove_file(&file)?;
        anyhow::Ok(parsed?)
    };
    match tried.await {
        Ok(_) => {
            Finding { what, fine: true, says: "reads files in a limited child process".to_owned() }
        }
        Err(error) => Finding { what, fine: false, says: format!("{error:#}") },
    }
}

/// Programs that help to read files. Where they are not set, going without is no fault.
async fn helpers(wiring: &Wiring) -> Vec<Finding> {
    let programs = match wiring.programs() {
        Ok(programs) => programs,
        Err(error) => {
            return vec![Finding { what: "helpers", fine: false, says: format!("{error:#}") }];
        }
    };
    let (tesseract, soffice) = wiring.tools_set();
    let finding = |what, set: bool, says: Result<String, String>| match says {
        Ok(says) => Finding { what, fine: true, says },
        Err(says) => Finding { what, fine: !set, says },
    };
    vec![
        finding("text recognition (Tesseract)", tesseract, programs.about_tesseract().await),
        finding("old formats (LibreOffice)", soffice, programs.about_soffice()),
    ]
}

fn scratch_file() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("pikerag-doctor-{}.md", std::process::id()))
}

async fn chat(wiring: &Wiring) -> Finding {
    let what = "chat model";
    let Some(model) = wiring.bare_chat(Role::Answer) else {
        let says = "none: answers quote their evidence. To use one, set OPENAI_BASE_URL, OPENAI_MODEL and, where \
                    needed, OPENAI_API_KEY, or [chat] in pikerag.toml (`pikerag init`)";
        return Finding { what, fine: true, says: says.to_owned() };
    };
    let model = match model {
        Ok(model) => model,
        Err(error) => return Finding { what, fine: false, says: format!("{error:#}") },
    };
    let text = "Reply with the word: ready".to_owned();
    let request = ChatRequest {
        role: Role::Answer,
        messages: vec![Message::User { text, images: Vec::new() }],
        temperature: 0.0,
        max_tokens: 16,
        schema: None,
        sample: 0,
    };
    match model.complete(&request).await {
        Ok(_) => Finding { what, fine: true, says: format!("{} answers", model.name()) },
        Err(error) => {
            Finding { what, fine: false, says: format!("{:#}", anyhow::Error::from(error)) }
        }
    }
}

async fn embedder(wiring: &Wiring) -> Finding {
    let what = "embedder";
    match wiring.embedder() {
        Ok(Some(embedder)) => match embedder.embed(&["ready".to_owned()]).await {
            Ok(vectors) => {
                let dimensions = vectors.first().map_or(0, Vec::len);
                Finding {
                    what,
                    fine: true,
                    says: format!("{}, {dimensions} dimensions", embedder.name()),
                }
            }
            Err(error) => {
                Finding { what, fine: false, says: format!("{:#}", anyhow::Error::from(error)) }
            }
        },
        Ok(None) => Finding { what, fine: true, says: wiring.no_embedder_reason() },
        Err(error) => Finding { what, fine: false, says: format!("{error:#}") },
    }
}
