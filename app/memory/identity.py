"""What makes two texts the same text."""

import hashlib
import unicodedata


def normalised(text: str) -> str:
    """Text with equal Unicode composition, line ends and outer space; wording and inner layout stay."""
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def content_hash(*parts: str) -> str:
    """SHA-256 (hex) over the parts; the same parts in the same order give the same hash everywhere."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def text_hash(text: str) -> str:
    """Hash of a text up to `normalised`: equal texts, equal hash."""
    return content_hash(normalised(text))
