"""Interactive documentation under /docs, from files that come with the installation: nothing is loaded from outside."""

from importlib import resources
from types import MappingProxyType

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

_FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
_CONTENT = {name: resources.files("fastapi_swagger.resources").joinpath(name).read_bytes() for name in _FILES}
_A_DAY = MappingProxyType({"Cache-Control": "public, max-age=86400"})

PATHS = frozenset({"/docs", *(f"/docs/{name}" for name in _FILES)})
"""What is shown to whoever comes."""


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Swagger UI over the OpenAPI document."""
    root = request.scope.get("root_path", "").rstrip("/")
    return get_swagger_ui_html(
        openapi_url=f"{root}/openapi.json",
        title="Kernel Playbook API",
        swagger_js_url=f"{root}/docs/swagger-ui-bundle.js",
        swagger_css_url=f"{root}/docs/swagger-ui.css",
        swagger_favicon_url=f"{root}/docs/favicon-32x32.png",
    )


def _served(name: str) -> None:
    @router.get(f"/docs/{name}", name=f"docs {name}")
    def file() -> Response:
        return Response(_CONTENT[name], media_type=_FILES[name], headers=_A_DAY)


for _name in _FILES:
    _served(_name)
