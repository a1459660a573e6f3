//! Sends traces to a collector over HTTP (`OTLP`), if the usual variables name one (`OTEL_EXPORTER_OTLP_ENDPOINT`).

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{Array, KeyValue, StringValue, Value, global};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter as Exporter};
use pikerag_engine::knowledge::telemetry::TRACED;
use pikerag_engine::settings::Environment;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::failure::Failure;

/// The longest time to send a batch of spans, also the last one at the end of the program.
const PATIENCE: Duration = Duration::from_secs(5);
/// An attribute with a list of values, which our spans hold as one value.
const MANY: &str = "gen_ai.response.finish_reasons";

/// The traces that go to a collector.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// `None` where no collector is named, or traces are switched off (`OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER=none`).
    ///
    /// # Errors
    /// The variables cannot be used.
    pub(crate) fn to_collector(
        environment: &Environment,
        runtime: &Handle,
    ) -> anyhow::Result<Option<Self>> {
        let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
        let is_off = environment.get("OTEL_SDK_DISABLED").is_some_and(|value| value == "true")
            || environment.get("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        if is_off || named.iter().all(|name| environment.get(name).is_none()) {
            return Ok(None);
        }
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        let client = Client { client, runtime: runtime.clone() };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).build();
        let exporter = exporter.map_err(|error| Failure::NoCollector.of(error))?;
        let mut resource = Resource::builder();
        if environment.get("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("pikerag");
        }
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Lists(exporter))
            .with_resource(resource.with_attribute(version).build())
            .build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Some(Self(provider)))
    }

    /// Receives the spans for a collector, and no events.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        OpenTelemetryLayer::new(self.0.tracer("pikerag"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|about| about.is_span() && about.target() == TRACED))
    }

    /// Sends the remaining spans.
    pub(crate) fn end(self) {
        if let Err(error) = self.0.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(%error, "the last traces did not reach their collector");
        }
    }
}

/// Sends on the runtime of the program: the thread that collects spans has none.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let response = client.execute(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            Ok::<_, reqwest::Error>((status, headers, response.bytes().await?))
        });
        let (status, headers, body) = sent.await??;
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

/// Makes lists of the attributes that the conventions require as lists: spans of `tracing` have no lists.
#[derive(Debug)]
struct Lists(SpanExporter);

impl Exporter for Lists {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes.filter(|attribute| attribute.key.as_str() == MANY) {
            let one = StringValue::from(attribute.value.as_str().into_owned());
            attribute.value = Value::Array(Array::String(vec![one]));
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
