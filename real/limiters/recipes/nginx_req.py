"""nginx limit_req, a leaky bucket: burst=5 lets 6 through at once.

mode: nodelay (refuse beyond the burst), delay (hold it back) or N (hold back after N). The stock status is 503.
retry_after: seconds to name on a refusal; empty as in nginx, which names none.
"""

from lib import nginx

OPTIONS = {"rate": "3r/s", "burst": "5", "mode": "nodelay", "status": "429", "retry_after": ""}


def commands(port, run, options):
    mode = {"nodelay": "nodelay", "delay": ""}.get(options["mode"], f"delay={options['mode']}")
    burst = f"burst={options['burst']} {mode}" if options["burst"] != "0" else ""
    hint = ""
    if options["retry_after"]:
        hint = (
            f"error_page {options['status']} @refused; location @refused {{ internal; "
            f"add_header Retry-After {options['retry_after']} always; return {options['status']}; }}"
        )
    return nginx.commands(
        port, run,
        http=f"limit_req_zone $client zone=r:10m rate={options['rate']}; limit_req_status {options['status']};",
        server=hint,
        location=f"limit_req zone=r {burst};",
    )  # fmt: skip
