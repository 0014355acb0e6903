"""Fetches N URLs with C workers through a peer and prints one JSON line of what came of it."""

import argparse
import json
import os
import sys
import threading
import time
from multiprocessing.pool import ThreadPool
from urllib.parse import urlsplit

parser = argparse.ArgumentParser()
parser.add_argument("--base", required=True)
parser.add_argument("--query", default="")
parser.add_argument("--key", default="peer")
parser.add_argument("--n", type=int, default=60)
parser.add_argument("--c", type=int, default=10)
parser.add_argument("--attempts", type=int, default=4)
parser.add_argument("--wall", type=float, default=120)
options = parser.parse_args()
if urlsplit(options.base).hostname not in ("127.0.0.1", "localhost", "::1"):
    sys.exit(f"--base {options.base}: loopback only")
headers = {"X-Api-Key": options.key}

seen = {"completed": 0, "failed": 0, "refused": 0, "sent": 0}
lock = threading.Lock()


def count(status):
    """Every request that left, retries too; `status` is 0 where no answer came."""
    with lock:
        seen["sent"] += 1
        seen["refused"] += status in (429, 503)


def run(peer, version, fetch_one):
    """`fetch_one(url)` is true when the URL is done, false when the peer gives it up."""
    begin = time.monotonic()

    def finish():
        with lock:
            seen["failed"] = options.n - seen["completed"]
            elapsed = round(time.monotonic() - begin, 3)
            print(json.dumps({"peer": peer, "version": version, **seen, "elapsed_s": elapsed}), flush=True)
            # The wall limit ends threads that still sleep.
            os._exit(0)

    def one(i):
        query = f"?{options.query}" if options.query else ""
        if fetch_one(f"/item/{i}{query}"):
            with lock:
                seen["completed"] += 1

    wall = threading.Timer(options.wall, finish)
    wall.daemon = True
    wall.start()
    with ThreadPool(options.c) as pool:
        pool.map(one, range(options.n), chunksize=1)
    finish()
