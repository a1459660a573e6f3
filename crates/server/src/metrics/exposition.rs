//! Chooses the format of the counters by the header `Accept`: `OpenMetrics` 1.0.0 if it is preferred,
//! else Prometheus' text format 0.0.4.

/// A format of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exposition {
    /// `OpenMetrics` 1.0.0, which ends with `# EOF`.
    OpenMetrics,
    /// Prometheus' text format 0.0.4, the default.
    Prometheus,
}

/// A media range of a header `Accept`, in lower case.
struct Accepted {
    kind: String,
    version: Option<String>,
    /// From 0 (refused) to 1 (preferred).
    quality: f32,
}

impl Exposition {
    /// The preferred format; Prometheus' text if both are equal, as for `*/*`. `None` if the header
    /// accepts neither. An empty header accepts both.
    pub(crate) fn accepted(header: &str) -> Option<Self> {
        let ranges: Vec<Accepted> = header.split(',').filter_map(Accepted::read).collect();
        if ranges.is_empty() {
            return Some(Self::Prometheus);
        }
        let (open, plain) = (Self::OpenMetrics.quality(&ranges), Self::Prometheus.quality(&ranges));
        if plain < open {
            return Some(Self::OpenMetrics);
        }
        (0.0 < plain).then_some(Self::Prometheus)
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// The counters in this format, from `OpenMetrics` text.
    pub(crate) fn of(self, text: String) -> String {
        match self {
            Self::OpenMetrics => text,
            Self::Prometheus => prometheus_text(&text),
        }
    }

    /// The quality of the range that names this format most precisely; the highest one of equals, 0
    /// if none does.
    fn quality(self, ranges: &[Accepted]) -> f32 {
        let mut best = (0, 0.0);
        for range in ranges {
            let precision = self.precision(range);
            if best.0 < precision || (best.0 == precision && best.1 < range.quality) {
                best = (precision, range.quality);
            }
        }
        if best.0 == 0 { 0.0 } else { best.1 }
    }

    /// From 3 for this media type to 1 for any type; 0 if the range does not admit it. Prometheus
    /// text of any version is admitted, because our names are the same in all.
    fn precision(self, range: &Accepted) -> u8 {
        let is_version = |known: &str| range.version.as_deref().is_none_or(|asked| asked == known);
        match (self, range.kind.as_str()) {
            (Self::OpenMetrics, "application/openmetrics-text") => {
                3 * u8::from(is_version("1.0.0") || is_version("0.0.1"))
            }
            (Self::Prometheus, "text/plain") => 3,
            (Self::OpenMetrics, "application/*") | (Self::Prometheus, "text/*") => 2,
            (_, "*/*") => 1,
            _ => 0,
        }
    }
}

impl Accepted {
    /// Reads `text/plain;version=0.0.4;q=0.5`; `None` for an empty one. A quality that is no number
    /// counts as 1.
    fn read(range: &str) -> Option<Self> {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().filter(|kind| !kind.is_empty())?.to_lowercase();
        let (mut version, mut quality) = (None, 1.0);
        for part in parts {
            let Some((name, value)) = part.split_once('=') else { continue };
            let value = value.trim().trim_matches('"');
            match name.trim().to_lowercase().as_str() {
                "version" => version = Some(value.to_owned()),
                "q" => quality = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        Some(Self { kind, version, quality })
    }
}

/// Turns `OpenMetrics` text into Prometheus' text format. That format declares counters by the names
/// of their samples (`…_total`), and has neither the type `info` nor units.
fn prometheus_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut help = None;
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ').map(|(_, text)| text);
        } else if let Some((name, kind)) =
            line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' '))
        {
            let (ending, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                other => ("", other),
            };
            if let Some(help) = help.take() {
                plain.extend(["# HELP ", name, ending, " ", help, "\n"]);
            }
            plain.extend(["# TYPE ", name, ending, " ", kind, "\n"]);
        } else if !line.starts_with("# ") {
            plain.extend([line, "\n"]);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Prometheus 2.54 and 3.0 send.
    const PROMETHEUS_2: &str = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    const PROMETHEUS_3: &str = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";

    #[test]
    fn the_format_follows_the_header() {
        let open = Some(Exposition::OpenMetrics);
        let plain = Some(Exposition::Prometheus);
        for (header, format) in [
            ("", plain),
            ("*/*", plain),
            ("text/plain", plain),
            ("text/plain;version=0.0.4", plain),
            ("text/*, application/json", plain),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", plain),
            ("application/openmetrics-text", open),
            ("Application/OpenMetrics-Text; version=\"1.0.0\"; charset=utf-8", open),
            ("application/*", open),
            ("application/openmetrics-text;q=0.4, text/plain;q=0.6", plain),
            ("application/openmetrics-text, text/plain;q=0.9", open),
            ("application/openmetrics-text;q=0, */*", plain),
            ("text/plain;q=0, */*", open),
            ("application/openmetrics-text;version=9.0.0, text/plain;q=0.1", plain),
            ("application/vnd.google.protobuf;q=0.9, text/plain;q=0.1", plain),
            (PROMETHEUS_2, open),
            (PROMETHEUS_3, open),
            ("application/json", None),
            ("application/openmetrics-text;version=9.0.0", None),
            ("*/*;q=0", None),
        ] {
            assert_eq!(Exposition::accepted(header), format, "{header}");
        }
    }

    #[test]
    fn prometheus_text_declares_samples_by_their_names() {
        let text = "# HELP p_build The running program.\n# TYPE p_build info\np_build_info{version=\"1\"} 1\n\
                    # HELP p_requests Requests.\n# TYPE p_requests counter\np_requests_total{route=\"/ # x\"} 2\n\
                    # HELP p_seconds Time.\n# TYPE p_seconds histogram\n# UNIT p_seconds seconds\n\
                    p_seconds_sum 0.5\np_seconds_bucket{le=\"+Inf\"} 1\n# EOF\n";
        let expected = "# HELP p_build_info The running program.\n# TYPE p_build_info gauge\np_build_info{version=\"1\"} 1\n\
                        # HELP p_requests_total Requests.\n# TYPE p_requests_total counter\np_requests_total{route=\"/ # x\"} 2\n\
                        # HELP p_seconds Time.\n# TYPE p_seconds histogram\n\
                        p_seconds_sum 0.5\np_seconds_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(Exposition::Prometheus.of(text.to_owned()), expected);
        assert_eq!(Exposition::OpenMetrics.of(text.to_owned()), text);
    }
}
