"""The only reader of the environment. Every setting is listed in docs/operations.md (a test compares)."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.vocabulary import AuthMode, EmbedderName, LogFormat, LogLevel, VectorIndexName


class Settings(BaseSettings):
    """Settings of one process; each field is read from `PLAYBOOK_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="PLAYBOOK_", extra="ignore")

    database_url: str = Field(default="", description="Where the truth is kept; empty means SQLite under VAR_DIR.")
    var_dir: Path = Field(default=Path("var"), description="Derived files: default database, vector index.")
    embedder: EmbedderName = Field(default=EmbedderName.MINILM, description="Sentence model: minilm, onnx or hash.")
    vector_index: VectorIndexName = Field(
        default=VectorIndexName.AUTO, description="Where the nearest vectors are looked up: auto, faiss or pgvector."
    )
    host: str = Field(default="127.0.0.1", description="Address the service binds.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port the service binds; 0 takes a free one.")
    auth: AuthMode = Field(default=AuthMode.KEYS, description="keys, or off: nobody needs a key; on loopback only.")
    workers: int = Field(default=1, ge=1, le=64, description="Processes that serve one port together.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of `playbook mcp`; without one it trusts you.")
    threshold: float = Field(default=0.15, ge=0, le=1, description="Default lowest score of a search result.")
    rate_limit: int = Field(default=60_000, ge=0, description="Reading requests a minute and key; 0 sets no limit.")
    rate_limit_writes: int = Field(default=12_000, ge=0, description="Other requests a minute and key; 0: no limit.")
    max_requests: int = Field(default=128, ge=1, description="Requests answered at once; more are answered 503.")
    patience_seconds: float = Field(default=30, gt=0, description="How long a body, or a piece of an answer, may take.")
    cors_origins: str = Field(default="", description="Origins of pages that may call, with commas; empty: none.")
    max_body_bytes: int = Field(default=4_000_000, gt=0, description="Largest request body, in bytes.")
    max_import_bytes: int = Field(default=256_000_000, gt=0, description="Largest file of POST /v1/import, in bytes.")
    torch_threads: int = Field(default=1, ge=1, le=256, description="Threads the sentence model may use for a query.")
    busy_timeout_ms: int = Field(default=30_000, ge=0, description="How long SQLite waits for another writer.")
    session_minutes: float = Field(default=720, gt=0, le=43_200, description="How long a sign-in to /admin lasts.")
    session_secret: SecretStr = Field(default=SecretStr(""), description="Signs sessions; empty: kept under VAR_DIR.")
    queue_url: str = Field(default="", description="Queue of the workers; empty means a SQLite file under VAR_DIR.")
    problems: str = Field(default="bullets/problems", description="Folders of problem files, joined by colons.")
    worker_silence_s: float = Field(
        default=60.0, gt=0, description="Seconds without heartbeat after which a run is requeued."
    )
    run_attempts: int = Field(
        default=3, ge=1, description="Workers that may fall silent over a run before it is given up."
    )
    heartbeat_s: float = Field(default=5.0, gt=0, description="Seconds between heartbeats of a running run.")
    stop_grace_s: float = Field(default=120.0, ge=0, description="Seconds a stopping worker may finish its runs in.")
    night_limit: int = Field(default=200, ge=1, description="Kernels a night judges at most on each hardware.")
    night_hours: float = Field(default=8.0, gt=0, description="Hours after which a night is closed as it stands.")
    webhook_url: str = Field(default="", description="Where regressions are told; empty tells nobody.")
    webhook_secret: str = Field(default="", description="Key of the webhook's signature.")
    webhook_private: bool = Field(default=False, description="Whether the webhook may go to private addresses.")
    log_level: LogLevel = Field(default=LogLevel.INFO, description="critical, error, warning, info or debug.")
    log_format: LogFormat = Field(default=LogFormat.TEXT, description="text, or json: one object a line.")

    @property
    def problem_folders(self) -> list[Path]:
        """Folders of problem files, in the order in which they are searched."""
        return [Path(folder) for folder in self.problems.split(":") if folder]

    @property
    def sqlalchemy_url(self) -> str:
        """Database URL with its driver spelled out."""
        url = self.database_url or f"sqlite:///{self.var_dir / 'playbook.sqlite3'}"
        for plain in ("postgresql://", "postgres://"):
            if url.startswith(plain):
                return "postgresql+psycopg://" + url.removeprefix(plain)
        return url
