"""Flask-Limiter (PyPI) under gunicorn: Retry-After on every answer, the 200s too, sometimes a second short.

limit: its own notation with _ for spaces, several joined with ; (10_per_5_second;100_per_minute).
strategy: fixed-window, moving-window or sliding-window-counter. retry: delta-seconds or http-date. headers=0: none.
"""

import json

import rig

OPTIONS = {"limit": "10_per_5_second", "strategy": "fixed-window", "retry": "delta-seconds", "headers": "1"}


def commands(port, run, options):
    gunicorn = [rig.VENV / "gunicorn", "--bind", f"127.0.0.1:{port}", "--chdir", rig.SERVERS]
    # One worker process, because the counts are in its memory.
    gunicorn += ["--workers", 1, "--worker-class", "gthread", "--threads", 64, "--keep-alive", 60]
    gunicorn += ["--no-control-socket", "--graceful-timeout", 1, "--env", f"OPTIONS={json.dumps(options)}"]
    return [[*gunicorn, "flask_app:app"]]
