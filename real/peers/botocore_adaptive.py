"""The adaptive retry mode of botocore (the AWS SDK for Python) in front of plain HTTP.

These are botocore's own classes: the client rate limiter (cubic adjustor, token bucket, rate clock), the retry quota
and the exponential backoff, wired as `botocore.retries.adaptive` and `standard` wire them; urllib3 sends, as it does in
botocore. Only the question "was this throttled?" is ours, because botocore asks for AWS error codes. 4 attempts, as
axios-retry has by default; botocore's own default is 3.
"""

import time
from types import SimpleNamespace

import botocore
import urllib3
from botocore.retries import adaptive, bucket, quota, standard, throttling

from harness import count, headers, options, run

# `standard.TransientRetryableChecker`; 0 is a connection that failed.
TRANSIENT = (0, 500, 502, 504)


class Throttled:
    def is_throttling_error(self, throttled, **_):
        return throttled

    def is_throttling_error_from_context(self, context):
        return context.throttled


clock = bucket.Clock()
limiter = adaptive.ClientRateLimiter(
    rate_adjustor=throttling.CubicCalculator(starting_max_rate=0, start_time=clock.current_time()),
    rate_clocker=adaptive.RateClocker(clock),
    token_bucket=bucket.TokenBucket(max_rate=1, clock=clock),
    throttling_detector=Throttled(),
    clock=clock,
)
retry_quota = standard.RetryQuotaChecker(quota.RetryQuota(), throttling_detector=Throttled())
backoff = standard.ExponentialBackoff(throttling_detector=Throttled())
target = urllib3.util.parse_url(options.base)
pool = urllib3.HTTPConnectionPool(target.host, target.port, maxsize=options.c, block=True)


def fetch_one(path):
    kept = {}
    for attempt in range(1, options.attempts + 1):
        limiter.on_sending_request(request=None)
        status = send(path)
        throttled = status in (429, 503)
        limiter.on_receiving_response(throttled=throttled)
        context = SimpleNamespace(
            attempt_number=attempt,
            throttled=throttled,
            request_context=kept,
            add_retry_metadata=lambda **_: None,
            # Read for x-amz-retry-after only: botocore does not know Retry-After.
            http_response=None,
        )
        if not throttled and status not in TRANSIENT:
            retry_quota.release_retry_quota(kept, SimpleNamespace(status_code=status))
            return status < 400
        if attempt == options.attempts or not retry_quota.acquire_retry_quota(context):
            return False
        time.sleep(backoff.delay_amount(context))
    return False


def send(path):
    try:
        status = pool.request("GET", path, headers=headers, retries=False).status
    except urllib3.exceptions.HTTPError:
        status = 0
    count(status)
    return status


run("botocore adaptive", botocore.__version__, fetch_one)
