//! Runs the programs that help to read files: Tesseract recognises the words on pictures,
//! `LibreOffice` converts documents of old formats. Both are optional, run within limits
//! ([`limited`]), and only if the parsing child requests them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pikerag_knowledge::error_chain;
use pikerag_narrate::Words;
use tokio::sync::OnceCell;

use super::limited::{self, Job, ProcessLimits, ProcessOutput, find};

/// The programs that were found, and their limits.
pub(crate) struct Programs {
    /// This program, which sets the limits.
    ours: PathBuf,
    /// The path, or readable advice how to get the program.
    tesseract: Result<PathBuf, String>,
    soffice: Result<PathBuf, String>,
    /// The languages to read; if none are set, those of [`LANGUAGES`] that are installed.
    languages: Vec<String>,
    /// The folder of Tesseract's languages, if it is not the usual one.
    tessdata: Option<OsString>,
    pub(crate) limits: ProgramLimits,
    installed: OnceCell<Result<Vec<String>, String>>,
}

/// The limits of these programs for one file.
#[derive(Clone, Debug)]
pub struct ProgramLimits {
    /// Address space of each process, in MiB.
    pub memory_mib: u64,
    /// The most pictures whose words are recognised.
    pub pictures: usize,
    /// Time for one picture.
    pub picture: Duration,
    /// Time for one conversion.
    pub conversion: Duration,
}

/// The settings of the programs.
#[derive(Clone, Debug, Default)]
pub struct ProgramSettings {
    /// Tesseract; searched in `path` if it is not set.
    pub tesseract: Option<PathBuf>,
    /// `LibreOffice`; searched in `path` if it is not set.
    pub soffice: Option<PathBuf>,
    /// The languages that Tesseract reads; if none are set, `eng` and `chi_sim` if they are
    /// installed.
    pub languages: Vec<String>,
    /// The folders in which programs are searched.
    pub path: Vec<PathBuf>,
    /// The folder of Tesseract's languages, if it is not the usual one.
    pub tessdata: Option<PathBuf>,
}

const LANGUAGES: [&str; 2] = ["eng", "chi_sim"];
/// The most bytes that a program may return.
const MOST_OUTPUT: u64 = 64 << 20;
/// The largest file that `LibreOffice` may write, in MiB: profile, temporary files, result.
const MOST_FILE_MIB: u64 = 256;

const NO_TESSERACT: &str = "Tesseract is not installed: install tesseract-ocr and tesseract-ocr-chi-sim \
     (Debian, Ubuntu) or tesseract (Fedora, Homebrew), or set `tools.tesseract`";
const NO_LANGUAGE: &str =
    "Tesseract has no language to read: install tesseract-ocr-eng or set `tools.languages`";
const NO_SOFFICE: &str =
    "LibreOffice is not installed: install libreoffice, or set `tools.soffice`";

/// The Chinese of a reason why a program cannot be used.
fn in_chinese(reason: &str) -> String {
    match reason {
        NO_TESSERACT => "Tesseract 未安装：请安装 tesseract-ocr 与 tesseract-ocr-chi-sim（Debian、Ubuntu）或 tesseract\
            （Fedora、Homebrew），或设置 `tools.tesseract`"
            .to_owned(),
        NO_SOFFICE => "LibreOffice 未安装：请安装 libreoffice，或设置 `tools.soffice`".to_owned(),
        NO_LANGUAGE => {
            "Tesseract 没有可用的语言：请安装 tesseract-ocr-eng，或设置 `tools.languages`".to_owned()
        }
        other => other.to_owned(),
    }
}

impl Programs {
    pub(crate) fn new(ours: PathBuf, set: &ProgramSettings, limits: ProgramLimits) -> Self {
        let found = |set_to: Option<&Path>, setting, names: &[&str], missing: &str| {
            find(set_to, names, &set.path).ok_or_else(|| match set_to {
                Some(path) => {
                    format!("`tools.{setting}` is {}, which is no program", path.display())
                }
                None => missing.to_owned(),
            })
        };
        Self {
            ours,
            tesseract: found(set.tesseract.as_deref(), "tesseract", &["tesseract"], NO_TESSERACT),
            soffice: found(
                set.soffice.as_deref(),
                "soffice",
                &["soffice", "libreoffice"],
                NO_SOFFICE,
            ),
            languages: set.languages.clone(),
            tessdata: set.tessdata.clone().map(OsString::from),
            limits,
            installed: OnceCell::new(),
        }
    }

    /// The words on a picture, as Tesseract's table; `Err` has a readable reason.
    pub(crate) async fn recognize(&self, picture: Vec<u8>) -> Result<Vec<u8>, String> {
        let tesseract = self
            .tesseract
            .as_deref()
            .map_err(|missing| format!("its words must be recognised, and {missing}"))?;
        let languages = self.languages().await?.join("+");
        let arguments = ["stdin", "stdout", "-l", &languages, "tsv"].map(OsString::from).to_vec();
        let limits = self.limits(self.limits.picture, 0);
        let outcome = self.run(tesseract, arguments, self.for_tesseract(), picture, &limits).await;
        let ProcessOutput { status, output, complaint } = outcome
            .map_err(|reason| format!("its words were not recognised: Tesseract: {reason}"))?;
        if !status.success() {
            return Err(format!(
                "its words were not recognised: Tesseract failed ({status}): {complaint}"
            ));
        }
        Ok(output)
    }

    /// A document in a newer format; `from` is the extension of the old one.
    pub(crate) async fn convert(&self, document: Vec<u8>, from: &str) -> Result<Vec<u8>, String> {
        let soffice = self.soffice.as_deref().map_err(|missing| {
            format!(
                "only LibreOffice reads this format, and {missing}, or save the file in a newer format"
            )
        })?;
        let to = match from {
            "doc" => "docx",
            "xls" => "xlsx",
            "ppt" => "pptx",
            other => return Err(format!("LibreOffice is not used to convert .{other} files")),
        };
        let failed = |error: std::io::Error| format!("it was not converted: {error}");
        // The folder is removed with its content when it goes out of scope, also if the future is
        // dropped.
        let folder = tempfile::Builder::new().prefix("pikerag-").tempdir().map_err(failed)?;
        let (at, old) = (folder.path(), format!("document.{from}"));
        let profile = at.join("profile/user");
        tokio::fs::create_dir_all(&profile).await.map_err(failed)?;
        let careful = profile.join("registrymodifications.xcu");
        tokio::fs::write(careful, include_str!("soffice.xcu")).await.map_err(failed)?;
        tokio::fs::write(at.join(&old), document).await.map_err(failed)?;
        let mut arguments =
            vec![OsString::from(format!("-env:UserInstallation=file://{}/profile", at.display()))];
        arguments.extend(
            ["--headless", "--norestore", "--nologo", "--convert-to", to, "--outdir"]
                .map(OsString::from),
        );
        arguments.extend([at.into(), at.join(&old).into()]);
        let environment = vec![
            ("HOME", at.into()),
            ("TMPDIR", at.into()),
            ("PATH", OsString::from("/usr/bin:/bin")),
        ];
        let limits = self.limits(self.limits.conversion, MOST_FILE_MIB);
        let outcome = self.run(soffice, arguments, environment, Vec::new(), &limits).await;
        let outcome =
            outcome.map_err(|reason| format!("it was not converted: LibreOffice: {reason}"))?;
        let new = at.join("document").with_extension(to);
        match tokio::fs::metadata(&new).await {
            Ok(file) if file.len() <= MOST_OUTPUT => tokio::fs::read(&new).await.map_err(failed),
            Ok(file) => Err(format!(
                "after conversion by LibreOffice it has {} MiB, too much",
                file.len() >> 20
            )),
            Err(_) => Err(format!(
                "LibreOffice did not convert it ({}): is it damaged, or protected by a password? {}",
                outcome.status, outcome.complaint
            )),
        }
    }

    /// The report of `doctor` on Tesseract; an error if a file with pictures would be left out.
    pub(crate) async fn about_tesseract(&self) -> Result<Words, Words> {
        let program = self.tesseract.as_deref().map_err(|reason| {
            Words::new(
                format!("scanned pages and pictures will be left out: {reason}"),
                format!("扫描页与图片将被略过：{}", in_chinese(reason)),
            )
        })?;
        let languages =
            self.languages().await.map_err(|reason| Words::new(&reason, in_chinese(&reason)))?;
        let missing: Vec<&str> = LANGUAGES
            .into_iter()
            .filter(|wanted| !languages.iter().any(|has| has == wanted))
            .collect();
        let (absent, chinese) = match missing.join(", ") {
            missing if missing.is_empty() || !self.languages.is_empty() => Default::default(),
            missing => (format!(" (not installed: {missing})"), format!("（未安装：{missing}）")),
        };
        let (program, languages) = (program.display(), languages.join(", "));
        Ok(Words::new(
            format!("{program}, reads {languages}{absent}"),
            format!("{program}，可识别 {languages}{chinese}"),
        ))
    }

    /// The report of `doctor` on `LibreOffice`.
    pub(crate) fn about_soffice(&self) -> Result<Words, Words> {
        let program = self.soffice.as_deref().map_err(|reason| {
            Words::new(
                format!("old documents (.doc, .xls, .ppt) will be left out: {reason}"),
                format!("旧格式的文档（.doc、.xls、.ppt）将被略过：{}", in_chinese(reason)),
            )
        })?;
        let program = program.display();
        Ok(Words::new(
            format!("{program}, converts .doc, .xls, .ppt"),
            format!("{program}，可转换 .doc、.xls、.ppt"),
        ))
    }

    /// The installed languages among those that are set, or among the default ones.
    async fn languages(&self) -> Result<Vec<String>, String> {
        let installed = self.installed.get_or_init(|| self.list_languages()).await.clone()?;
        let wanted: Vec<&str> = match self.languages.as_slice() {
            [] => LANGUAGES.to_vec(),
            set => set.iter().map(String::as_str).collect(),
        };
        let has = |language: &&str| installed.iter().any(|has| has == language);
        if let Some(missing) =
            wanted.iter().find(|language| !self.languages.is_empty() && !has(language))
        {
            return Err(format!(
                "Tesseract does not have the language `{missing}` of `tools.languages`; installed are: {}",
                installed.join(", ")
            ));
        }
        let languages: Vec<String> =
            wanted.into_iter().filter(|l| has(l)).map(str::to_owned).collect();
        if languages.is_empty() {
            return Err(NO_LANGUAGE.to_owned());
        }
        Ok(languages)
    }

    async fn list_languages(&self) -> Result<Vec<String>, String> {
        let tesseract = self.tesseract.as_deref().map_err(String::clone)?;
        let limits = self.limits(Duration::from_secs(10), 0);
        let arguments = vec![OsString::from("--list-langs")];
        let outcome =
            self.run(tesseract, arguments, self.for_tesseract(), Vec::new(), &limits).await;
        let outcome = outcome.map_err(|reason| format!("Tesseract does not run: {reason}"))?;
        if !outcome.status.success() {
            return Err(format!(
                "Tesseract does not run ({}): {}",
                outcome.status, outcome.complaint
            ));
        }
        // The first line is a heading.
        let lines = String::from_utf8_lossy(&outcome.output);
        Ok(lines.lines().skip(1).map(|line| line.trim().to_owned()).collect())
    }

    fn for_tesseract(&self) -> Vec<(&'static str, OsString)> {
        // Tesseract gets one thread, because files are read in parallel and threads use address
        // space.
        let mut environment = vec![("OMP_THREAD_LIMIT", OsString::from("1"))];
        environment.extend(self.tessdata.clone().map(|folder| ("TESSDATA_PREFIX", folder)));
        environment
    }

    fn limits(&self, wall: Duration, file_mib: u64) -> ProcessLimits {
        let memory_mib = self.limits.memory_mib;
        ProcessLimits { memory_mib, cpu: wall, wall, file_mib, output: MOST_OUTPUT }
    }

    async fn run(
        &self,
        program: &Path,
        arguments: Vec<OsString>,
        environment: Vec<(&'static str, OsString)>,
        input: Vec<u8>,
        limits: &ProcessLimits,
    ) -> Result<ProcessOutput, String> {
        let job = Job { program, arguments, environment, input };
        let ran = limited::run(&self.ours, job, limits).await;
        ran.map_err(|error| error_chain(&error))
    }
}
