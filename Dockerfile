# Two images: `api` serves, migrates, schedules and works through everything that needs no GPU; `worker` judges kernels.
# Versions are those of constraints.txt. Both run as an unprivileged user and need no writable root.

ARG PYTHON_IMAGE=python:3.11-slim-bookworm
ARG CUDA_IMAGE=nvidia/cuda:13.0.0-devel-ubuntu24.04

# The environment of the api: the sentence model in int8 by onnxruntime, so no torch.
FROM ${PYTHON_IMAGE} AS api-build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
WORKDIR /srv/playbook
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app ./app
RUN /opt/venv/bin/pip install -c constraints.txt -e '.[onnx,postgres]'

FROM ${PYTHON_IMAGE} AS api
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin playbook \
    && install -d -o playbook -g playbook /var/lib/playbook
COPY --from=api-build /opt/venv /opt/venv
WORKDIR /srv/playbook
COPY pyproject.toml alembic.ini ./
COPY app ./app
COPY migrations ./migrations
COPY bullets ./bullets
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp \
    PLAYBOOK_VAR_DIR=/var/lib/playbook PLAYBOOK_EMBEDDER=onnx PLAYBOOK_HOST=0.0.0.0 PLAYBOOK_PORT=8080
USER 10001:10001
VOLUME /var/lib/playbook
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
CMD ["playbook", "serve"]

# The environment of the worker: torch with CUDA and Triton; nvcc comes with the base image, for kernels in CUDA C++.
FROM ${CUDA_IMAGE} AS worker
ENV DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-dev python3-venv gcc g++ bubblewrap \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin playbook \
    && install -d -o playbook -g playbook /var/lib/playbook \
    && python3 -m venv /opt/venv
WORKDIR /srv/playbook
COPY pyproject.toml constraints.txt README.md LICENSE alembic.ini ./
COPY app ./app
RUN /opt/venv/bin/pip install -c constraints.txt -e '.[onnx,postgres,verification]'
COPY migrations ./migrations
COPY bullets ./bullets
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp \
    PLAYBOOK_VAR_DIR=/var/lib/playbook PLAYBOOK_EMBEDDER=onnx
USER 10001:10001
VOLUME /var/lib/playbook
CMD ["playbook", "worker", "--gpu", "all"]
