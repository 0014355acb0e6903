"""Flask with Flask-Limiter; the options are JSON in the environment (see recipes/flask_limiter.py)."""

import json
import os
import threading
import time

from flask import Flask, jsonify, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address

options = json.loads(os.environ["OPTIONS"])
stats = {"served": 0, "in_flight": 0, "max_in_flight": 0}
counting = threading.Lock()

app = Flask(__name__)
app.config["RATELIMIT_HEADERS_ENABLED"] = options["headers"] == "1"
app.config["RATELIMIT_HEADER_RETRY_AFTER_VALUE"] = options["retry"]
limiter = Limiter(
    lambda: request.headers.get("x-api-key") or get_remote_address(),
    app=app,
    storage_uri="memory://",
    strategy=options["strategy"],
)


@app.get("/__stats")
@limiter.exempt
def show_stats():
    return jsonify(stats)


@app.get("/", defaults={"path": ""})
@app.get("/<path:path>")
@limiter.limit(options["limit"].replace("_", " "))
def work(path):
    with counting:
        stats["in_flight"] += 1
        stats["max_in_flight"] = max(stats["max_in_flight"], stats["in_flight"])
    time.sleep(min(float(request.args.get("ms", 0)), 60_000) / 1000)
    with counting:
        stats["in_flight"] -= 1
        stats["served"] += 1
        return jsonify(ok=True, served=stats["served"])
