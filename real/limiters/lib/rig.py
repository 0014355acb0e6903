"""Starts and stops limiters on loopback. The only file of the rig that knows ports and processes.

A recipe (`recipes/NAME.py`) has `OPTIONS`, a dict of defaults, and `commands(port, run, options)`, the commands that
together are the limiter; it answers `/__stats` without a limit. `start` runs them as one process group under a shell
that ends them all when one ends.
"""

import importlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

LIMITERS = Path(__file__).resolve().parent.parent
SERVERS = LIMITERS / "servers"
RIG = LIMITERS.parent / "rig"
VENV = RIG / "venv" / "bin"
RUNS = RIG / "run"

UP_WITHIN_S = 20
DOWN_WITHIN_S = 5

# Loopback, whatever HTTP_PROXY says.
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Limiter(NamedTuple):
    pid: int
    url: str


def names():
    return sorted(p.stem.replace("_", "-") for p in (LIMITERS / "recipes").glob("[a-z]*.py"))


def recipe(name):
    if name not in names():
        sys.exit(f"no limiter {name}; there are: {', '.join(names())}")
    sys.path.insert(0, str(LIMITERS))
    try:
        return importlib.import_module("recipes." + name.replace("-", "_"))
    finally:
        sys.path.pop(0)


def start(name, port=0, **given):
    """Starts limiter `name` on `port` (0: a free one) and returns once it answers."""
    made = recipe(name)
    unknown = sorted(set(given) - set(made.OPTIONS))
    if unknown:
        sys.exit(f"{name}: no option {', '.join(unknown)}; there are: {', '.join(made.OPTIONS)}")
    port = int(port) or free_port()
    run = RUNS / f"{name}-{port}"
    run.mkdir(parents=True, exist_ok=True)
    options = made.OPTIONS | {key: str(value) for key, value in given.items()}
    commands = " & ".join(shlex.join(map(str, c)) for c in made.commands(port, run, options))
    with open(run / "log", "wb") as log:
        leader = subprocess.Popen(
            # `wait -n`: a limiter with one of its processes gone must not look alive.
            ["bash", "-c", f"{commands} & wait -n; kill 0"],
            cwd=run, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        wait_until_up(leader, port, name, run)
    except BaseException:
        stop(leader.pid)
        shutil.rmtree(run, ignore_errors=True)
        raise
    return Limiter(leader.pid, f"http://127.0.0.1:{port}")


def stop(pid):
    """Ends a limiter that `start` began, whoever called it; False if `pid` is not one."""
    try:
        run = Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return False
    if run.parent != RUNS or os.getpgid(pid) != pid:
        return False
    for what in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(pid, what)
        except ProcessLookupError:
            break
        until = time.monotonic() + DOWN_WITHIN_S
        while alive(pid) and time.monotonic() < until:
            time.sleep(0.02)
        if not alive(pid):
            break
    shutil.rmtree(run, ignore_errors=True)
    return True


def read_stats(url):
    """What the limiter at `url` let through: `{"served", "in_flight", "max_in_flight"}`."""
    with NO_PROXY.open(url + "/__stats", timeout=2) as answer:
        return json.load(answer)


def started():
    """The pids of all limiters of this checkout that run now."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            pid = int(entry.name)
            if Path(os.readlink(entry / "cwd")).parent == RUNS and os.getpgid(pid) == pid:
                found.append(pid)
        except OSError:
            continue
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_up(leader, port, name, run):
    until = time.monotonic() + UP_WITHIN_S
    while leader.poll() is None and time.monotonic() < until:
        try:
            # Not a mere connection: nginx accepts before the upstream behind it does.
            read_stats(f"http://127.0.0.1:{port}")
            return
        except OSError:
            time.sleep(0.03)
    log = (run / "log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{name} did not come up on port {port}; its log ends with:\n{log}")


def alive(group):
    """Whether a process of `group` still runs; one that only waits to be reaped does not."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False
