"""What both nginx recipes share: one worker before a small upstream, `X-Api-Key` (else the address) as the key."""

import os
import shutil

import rig

CONF = """\
daemon off; worker_processes 1; pid {run}/nginx.pid; error_log stderr warn;
events {{ worker_connections 2048; }}
http {{
  access_log off; keepalive_requests 1000000;
  client_body_temp_path {run}/body; proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi; uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
  map $http_x_api_key $client {{ "" $binary_remote_addr; default $http_x_api_key; }}
  upstream work {{ server 127.0.0.1:{work_port}; keepalive 64; }}
  proxy_http_version 1.1; proxy_set_header Connection "";
  {http}
  server {{
    listen 127.0.0.1:{port} backlog=2048;
    {server}
    location = /__stats {{ proxy_pass http://work; }}
    location / {{ {location} proxy_pass http://work; }}
  }}
}}
"""


def commands(port, run, http, location, server=""):
    work_port = rig.free_port()
    conf = run / "nginx.conf"
    conf.write_text(CONF.format(**locals()))
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not nginx:
        raise RuntimeError("nginx is not installed; run real/install")
    # `-e`: before it has read its configuration nginx would log where only root may write.
    return [["node", rig.SERVERS / "upstream.mjs", work_port], [nginx, "-e", "stderr", "-c", conf]]
