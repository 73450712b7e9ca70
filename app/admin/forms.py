"""What forms send. Blank fields count as left out; unknown ones are refused."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.services.texts import Name, Note, not_blank


class AdminForm(BaseModel):
    """Base of forms: browsers send CRLF at line ends, whatever was typed."""

    model_config = ConfigDict(extra="forbid")

    csrf: str = ""

    @model_validator(mode="before")
    @classmethod
    def _as_typed(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        typed = {name: _unix(value) for name, value in values.items()}
        return {name: value for name, value in typed.items() if not (isinstance(value, str) and not value.strip())}


def _unix(value: Any) -> Any:
    if isinstance(value, list):
        return [_unix(entry) for entry in value]
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def chosen(value: Any) -> Any:
    """The values of a list of choices, less the blank one that stands for any."""
    return [entry for entry in _listed(value) if entry] if isinstance(value, list | str) else value


def blank_is_none(value: Any) -> Any:
    """A blank choice is none."""
    return None if isinstance(value, str) and not value.strip() else value


Reason = Annotated[Note, AfterValidator(not_blank)]
"""Why; kept in the history."""

Ids = Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1, max_length=500)]
Family = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Speedup = Annotated[Decimal, Field(ge=0, lt=1_000_000, max_digits=14, decimal_places=8)]
