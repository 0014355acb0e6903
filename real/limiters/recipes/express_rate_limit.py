"""express-rate-limit (npm): a fixed window that starts with a client's first request.

headers: none, or any of legacy, draft-6, draft-7, draft-8 joined with + (legacy+draft-7).
"""

import json

import rig

OPTIONS = {"limit": "10", "window_ms": "5000", "headers": "draft-8"}


def commands(port, run, options):
    return [["node", rig.SERVERS / "express.mjs", port, json.dumps(options)]]
