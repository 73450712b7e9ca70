"""The curators' pages, rendered on the server."""
