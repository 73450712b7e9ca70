"""The MCP server: the playbook as tools, over stdio or streamable HTTP."""

from collections.abc import Callable

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from app.mcp.entry import Desk, Entrance
from app.mcp.reading import Reading
from app.mcp.writing import Writing
from app.services.assembly import Services

INSTRUCTIONS = (
    "Curated knowledge about writing fast, correct GPU kernels. Before an attempt, call get_context with your task and "
    "put its text into your prompt, or search_playbook for single items. After the attempt, call record_feedback with "
    "the context_id and the ids that helped or misled you. What you learned, propose with propose_item."
)


def built(services: Callable[[], Services], entrance: Entrance, version: str) -> MCPServer:
    """The server with its tools; `services` is asked at each call, `entrance` finds out who calls."""
    server: MCPServer = MCPServer(
        "kernel-playbook", title="Kernel Playbook", instructions=INSTRUCTIONS, version=version, log_level="WARNING"
    )
    desk = Desk(services, entrance)
    reading, writing = Reading(desk), Writing(desk)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    adds = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    for tool in (
        reading.search_playbook,
        reading.get_context,
        reading.get_item,
        reading.list_kernels,
        reading.get_kernel,
        reading.stats,
    ):
        server.add_tool(tool, annotations=reads)
    for adding in (writing.record_feedback, writing.propose_item):
        server.add_tool(adding, annotations=adds)
    return server
