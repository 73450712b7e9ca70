"""The MCP server inside the HTTP service: stateless, so that any of several processes can answer any call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.mcp.entry import by_request
from app.mcp.server import built
from app.services.assembly import Services

PATH = "/mcp"


@asynccontextmanager
async def opened(services: Services, version: str) -> AsyncIterator[StreamableHTTPSessionManager]:
    """The server, ready for requests until the block ends."""
    server = built(lambda: services, by_request, version)
    server.streamable_http_app(stateless_http=True, json_response=True, host="")
    manager = server.session_manager
    async with manager.run():
        yield manager


class McpDoor:
    """Hands a request to the server of this process."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one MCP request; who calls is known from the guard before."""
        manager: StreamableHTTPSessionManager = Request(scope).app.state.mcp
        await manager.handle_request(scope, receive, send)


route = Route(PATH, endpoint=McpDoor(), include_in_schema=False)
