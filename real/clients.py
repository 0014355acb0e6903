"""The clients that real/compare sets beside each other: how each is called and what its last line says."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import rig

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# A peer cuts itself off at the wall limit and prints what it has; this is for one that does not.
GRACE_S = 10

# Everything here is loopback.
ENV = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


class Unusable(Exception):
    """A client that cannot be built or does not keep its contract."""


class Run(NamedTuple):
    url: str
    query: str
    key: str
    limit: str
    options: Any
    scratch: Path


@dataclass
class Outcome:
    completed: int
    failed: int
    sent: int
    refused: int
    elapsed_s: float
    note: str = ""


def find_paceline():
    global paceline_bin
    if given := os.environ.get("PACELINE_BIN"):
        paceline_bin = Path(given).resolve()
    else:
        if subprocess.run(["cargo", "build", "--release", "-p", "paceline-cli"], cwd=ROOT).returncode:
            raise Unusable("cargo build failed; --clients axios-retry,botocore does without Paceline")
        paceline_bin = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "paceline"
    if not os.access(paceline_bin, os.X_OK):
        raise Unusable(f"{paceline_bin} is not a program; is PACELINE_BIN right?")


def paceline(run, *limit):
    urls = run.scratch / "urls"
    query = f"?{run.query}" if run.query else ""
    urls.write_text("".join(f"{run.url}/item/{i}{query}\n" for i in range(run.options.n)))
    said = last_line(
        [paceline_bin, "fetch", "--input", urls, "--concurrency", str(run.options.c), *limit]
        + ["-H", f"X-Api-Key: {run.key}", "--json"],
        run,
    )
    reasons = ", ".join(f"{count} {reason}" for reason, count in (said.get("reasons") or {}).items())
    return Outcome(
        said["ok"], said["failed"], said["sent"], said["refused"], said["elapsed_s"],
        f"Failed: {reasons}." if reasons else "",
    )  # fmt: skip


def paceline_told(run):
    return paceline(run, "--limit", run.limit)


def axios_retry(run):
    return peer(["node", HERE / "peers" / "axios_retry.mjs"], run)


def botocore(run):
    return peer([rig.VENV / "python", HERE / "peers" / "botocore_adaptive.py"], run)


def peer(command, run):
    given = {"base": run.url, "query": run.query, "key": run.key}
    given |= {"n": run.options.n, "c": run.options.c, "wall": run.options.wall}
    said = last_line([*command, *(f"--{key}={value}" for key, value in given.items())], run)
    return Outcome(said["completed"], said["failed"], said["sent"], said["refused"], said["elapsed_s"])


def last_line(command, run):
    """The JSON object on the last line of standard output.

    The scratch folder is the working directory, so that no configuration of the checkout is read.
    """
    began = time.monotonic()
    wait = run.options.wall + GRACE_S
    try:
        done = subprocess.run(command, cwd=run.scratch, env=ENV, capture_output=True, text=True, timeout=wait)
    except subprocess.TimeoutExpired:
        raise Unusable(f"{words(command)}\nstill ran after {time.monotonic() - began:.0f} s") from None
    try:
        said = json.loads(done.stdout.splitlines()[-1])
        if {"sent", "refused", "failed", "elapsed_s"} <= set(said):
            return said
    except (IndexError, ValueError, TypeError):
        pass
    ends = (done.stdout + done.stderr)[-1500:]
    raise Unusable(f"{words(command)}\nexit {done.returncode}, no summary on the last line of its output:\n{ends}")


def words(command):
    return " ".join(map(str, command))


def label(name, limit):
    return {
        "paceline": "Paceline",
        "paceline-told": f"Paceline `--limit '{limit}'`",
        "axios-retry": "axios-retry",
        "botocore": "botocore adaptive",
    }[name]


ALL = {"paceline": paceline, "paceline-told": paceline_told, "axios-retry": axios_retry, "botocore": botocore}
