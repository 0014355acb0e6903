"""nginx limit_conn: at most conns requests in flight; one more is refused at once, without a hint.

The stock status is 503.
"""

from lib import nginx

OPTIONS = {"conns": "3", "status": "429"}


def commands(port, run, options):
    return nginx.commands(
        port, run,
        http=f"limit_conn_zone $client zone=c:10m; limit_conn_status {options['status']};",
        location=f"limit_conn c {options['conns']};",
    )  # fmt: skip
