# One static program and what it reads, nothing else: no shell, no library, no /tmp.
#
# The build runs on the builder's own architecture and compiles for the one asked for, amd64
# or arm64. `make image` and `make push` call it; old podman and buildah need to be told
# --build-arg BUILDPLATFORM=linux/amd64 (their own).

FROM --platform=$BUILDPLATFORM debian:bookworm-slim AS deps
ARG TARGETARCH
# A library more is its -dev package here or, where Debian has no static archive of it, a
# function in .ci/static-libs. /cc is the name of the compiler.
RUN arch=${TARGETARCH:-$(dpkg --print-architecture)} \
 && case $arch in \
        amd64) gnu=x86_64-linux-gnu ;; \
        arm64) gnu=aarch64-linux-gnu ;; \
        *) echo "no image for '$arch'" && exit 1 ;; \
    esac \
 && echo $gnu-gcc >/cc \
 && dpkg --add-architecture $arch && apt-get -qq update \
 && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        ca-certificates dpkg-dev gcc-$(echo $gnu | tr _ -) libjs-chart.js make pkg-config \
        libc6-dev:$arch libssl-dev:$arch liburing-dev:$arch libyaml-dev:$arch >/dev/null
COPY .ci/static-libs /static-libs
RUN CC=$(cat /cc) /static-libs /usr/local

FROM deps AS build
COPY . /src
RUN make -C /src static CC=$(cat /cc) STATIC_LIBS=/usr/local
# Who wrote what the program is linked from.
RUN mkdir /empty && install -D -m 644 /src/LICENSE /licenses/pvcbench \
 && for package in ca-certificates libc6-dev libjs-chart.js libssl-dev liburing-dev \
        libyaml-dev; do \
        cp /usr/share/doc/$package/copyright /licenses/$package || exit; done \
 && for name in $(ls /usr/local/share/doc); do \
        cp /usr/local/share/doc/$name/copyright /licenses/$name || exit; done

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /licenses /licenses
# /data, so that a new volume of docker or podman belongs to the user, and that a pod without its
# volume is told so; /scratch for measuring the container's own file system.
COPY --from=build --chown=65532:65532 /empty /data
COPY --from=build --chown=65532:65532 /empty /scratch
COPY --from=build /src/build/pvcbench-static /pvcbench
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="pvcbench" \
      org.opencontainers.image.description="Measures what a Kubernetes volume really delivers" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
USER 65532:65532
ENTRYPOINT ["/pvcbench"]
