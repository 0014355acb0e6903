"""The table of real/compare and the page around it."""

import datetime
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import clients
import rig

HEAD = ["limiter", "client", "done", "failed", "sent", "refused", "seconds", "ideal"]


@dataclass
class Row:
    case: Any
    client: str
    outcome: clients.Outcome

    def __str__(self):
        o = self.outcome
        text = f"{self.client}: {o.completed} done, {o.failed} failed, {o.sent} sent, {o.refused} refused"
        return f"{text}, {o.elapsed_s:.1f} s {o.note}".strip()


def table(rows):
    lines = ["| " + " | ".join(HEAD) + " |", "|---|---|" + "---:|" * (len(HEAD) - 2)]
    notes = []
    limiter = None
    for row in rows:
        o = row.outcome
        mark = ""
        if o.note:
            mark = f" [{len(notes) + 1}]"
            notes.append(f"[{len(notes) + 1}] {o.note}")
        ideal = f"{row.case.ideal(o.completed + o.failed):.1f}"
        said = "" if row.case.limiter == limiter else row.case.says
        limiter = row.case.limiter
        cells = [said, row.client + mark, o.completed, o.failed, o.sent, o.refused, f"{o.elapsed_s:.1f}", ideal]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines + ([""] + [f"{note}  " for note in notes] if notes else []))


def page(rows, cases, options):
    ideals = "\n".join(f"- {case.says}: {case.ideal(options.n):.1f} s. {sentence(case.why)}" for case in cases)
    extra = "".join(
        f" --{key} {getattr(options, key)}" for key, usual in (("n", 60), ("c", 10)) if getattr(options, key) != usual
    )
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f"""\
# Real limiters, real clients

Made by `real/compare --write{extra}` on {today}; run it to make it anew.

{options.n} URLs, {options.c} at once, each run against a fresh quota. *Failed* URLs are lost: the client gave them up.
*Sent* counts every HTTP request that left, *refused* the answers 429 and 503 among them.

{table(rows)}

## The ideal

The fastest run that the limiter allows to a client that knows it and is never refused, network not counted:

{ideals}

A client that finishes sooner than the ideal has lost URLs.

## The clients

- Paceline: `paceline fetch`, told nothing but the URLs; with `--limit` it is told what the limiter enforces.
- axios-retry: as its README shows it, `exponentialDelay` and 4 attempts (its default of 3 retries).
- botocore adaptive: the classes of the AWS SDK for Python, 4 attempts (its default is 3); it does not read Retry-After.

All clients run alone, one after the other. Seconds are wall time inside the client; on a machine that others share they
vary from run to run, and the clients draw random delays, so differences of a tenth mean nothing. Who loses URLs and how
many requests are refused varies less.

## Versions

{versions()}
"""


def versions():
    found = [f"Paceline {paceline_version()}"]
    for package in ("axios", "axios-retry", "express", "express-rate-limit"):
        manifest = clients.HERE / "node_modules" / package / "package.json"
        found.append(f"{package} {json.loads(manifest.read_text())['version']}")
    pip = said([rig.VENV / "pip", "freeze", "--disable-pip-version-check"])
    wanted = ("botocore", "Flask", "Flask-Limiter", "gunicorn", "limits", "urllib3")
    pinned = dict(line.split("==") for line in pip.splitlines() if "==" in line)
    lower = {name.lower().replace("_", "-"): version for name, version in pinned.items()}
    found += [f"{name} {lower[name.lower()]}" for name in wanted]
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    found.append(said([nginx, "-v"]).rpartition(": ")[2].replace("/", " "))
    found.append(f"Node.js {said(['node', '--version']).lstrip('v')}")
    found.append(f"Python {said([rig.VENV / 'python', '-V']).removeprefix('Python ')}")
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    return ", ".join(found) + f"; {system}, {os.cpu_count()} cores."


def paceline_version():
    version = said([clients.paceline_bin, "--version"]).removeprefix("paceline ")
    commit = said(["git", "-C", clients.ROOT, "rev-parse", "--short", "HEAD"])
    return f"{version} ({commit})" if commit else version


def said(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout.strip() or done.stderr.strip()) if done.returncode == 0 else ""


def sentence(text):
    return text[0].upper() + text[1:] + "."
