"""@fastify/rate-limit (npm): a fixed window that starts with a client's first request.

headers: legacy (x-ratelimit-*, reset in seconds from now) or draft (ratelimit-*). continue=1: a refusal starts the
window anew. backoff=1: refusals lengthen it. ban=N: after N refusals the answer is 403.
"""

import json

import rig

OPTIONS = {"limit": "10", "window_ms": "5000", "headers": "legacy", "continue": "0", "backoff": "0", "ban": ""}


def commands(port, run, options):
    return [["node", rig.SERVERS / "fastify.mjs", port, json.dumps(options)]]
