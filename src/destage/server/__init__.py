"""A web server that shows the report of one sweep while it runs, and answers read-only SQL.

It listens on the loopback interface by default. Every request needs the token that the server prints.
"""

from destage.server.access import AllowedHosts, make_token
from destage.server.http_server import listen, serve_sweep

__all__ = ["AllowedHosts", "listen", "make_token", "serve_sweep"]
