# SPDX-License-Identifier: MIT
"""nginx with one worker, and wrk that asks it for a second."""
from observers import *

CONNECTIONS = 16
TURN_S = 1
CONFIGURATION = """
daemon off; worker_processes 1; pid {top}/pid; error_log {top}/errors;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000000000;
  client_body_temp_path {top}/a; proxy_temp_path {top}/b; fastcgi_temp_path {top}/c;
  uwsgi_temp_path {top}/d; scgi_temp_path {top}/e;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello\\n"; }} }} }}
"""


class Server:
    """nginx with one worker, on one CPU; `before` is a command that starts it."""

    def __init__(self, port, *before):
        self.port, self.before = port, before

    def __enter__(self):
        self.top = new_place()
        with open(self.top + "/conf", "w") as f:
            f.write(CONFIGURATION.format(top=self.top, port=self.port))
        self.p = start(*self.before, "taskset", "-c", WATCHED, "nginx", "-c", self.top + "/conf",
                       stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.05)
        with open(self.top + "/pid") as f:
            self.pid = int(f.read())
        return self

    def __exit__(self, *unused):
        os.kill(self.pid, signal.SIGTERM)
        self.p.wait(30)
        shutil.rmtree(self.top, ignore_errors=True)

    def ask(self):
        """Returns the requests answered in a second; `requests` are then those of this turn."""
        said = output("taskset", "-c", WATCHING, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{TURN_S}s",
                      f"http://127.0.0.1:{self.port}/")
        self.requests = int(re.search(r"(\d+) requests in", said)[1])
        return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
