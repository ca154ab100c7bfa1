# SPDX-License-Identifier: MIT
"""A page in Chromium without a window, by the WebDriver protocol of its driver."""
import base64
import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

READY = "return document.documentElement.dataset.ready || !document.getElementById('failed').hidden"
KEYS = {"left": "\ue012", "right": "\ue014", "shift": "\ue008", "home": "\ue011"}


class Browser:
    def __init__(self, width, height, dark=False):
        self.profile = tempfile.TemporaryDirectory(prefix="magnet-test-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        self.session = None
        try:
            self._begin(width, height, dark)
        except BaseException:
            self.__exit__()
            raise

    def _begin(self, width, height, dark):
        for line in self.driver.stdout:
            if "successfully on port" in line:
                self.at = f"http://127.0.0.1:{line.rstrip('. ' + chr(10)).rsplit(' ', 1)[1]}"
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--hide-scrollbars", f"--window-size={width},{height}",
                            f"--user-data-dir={self.profile.name}"]}
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = made["sessionId"]
        self.resize(width, height)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            if self.session:
                self._ask("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def _ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.at + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:500]}") from error

    def _of_session(self, path, **body):
        return self._ask("POST", f"/session/{self.session}{path}", body)

    def devtools(self, command, **arguments):
        return self._of_session("/goog/cdp/execute", cmd=command, params=arguments)

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 500)

    def medium(self, name):
        """Lay the page out for "print", or as before: ""."""
        self.devtools("Emulation.setEmulatedMedia", media=name)

    def js(self, script, *args):
        return self._of_session("/execute/sync", script=script, args=list(args))

    def open(self, path, ready=READY):
        """Open a page and wait until its charts are there."""
        self._of_session("/url", url="file://" + path)
        self.until(ready)

    def until(self, script, seconds=30):
        end = time.monotonic() + seconds
        while not (value := self.js(script)):
            if time.monotonic() > end:
                raise RuntimeError(f"not true in {seconds} s: {script}")
            time.sleep(0.05)
        return value

    def log(self):
        """Tell what the console got since the last time."""
        lines = [line["message"] for line in self._of_session("/se/log", type="browser")]
        return [line for line in lines if not line.startswith("chrome://")]  # of the browser's own first page

    def act(self, *sources):
        self._of_session("/actions", actions=list(sources))

    def mouse(self, *steps):
        """Steps of the pointer: ("move", x, y), "down", "up"."""
        actions = [{"type": "pointerMove", "x": int(s[1]), "y": int(s[2]), "duration": 0} if s[0] == "move" else
                   {"type": "pointerDown" if s == "down" else "pointerUp", "button": 0} for s in steps]
        self.act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions})

    def keys(self, *names):
        """Press keys together, as "shift", "right"."""
        values = [KEYS.get(n, n) for n in names]
        actions = [{"type": "keyDown", "value": v} for v in values] + \
            [{"type": "keyUp", "value": v} for v in reversed(values)]
        self.act({"type": "key", "id": "keyboard", "actions": actions})

    def picture(self, path, top=0, height=None):
        size = self.js("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        got = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip={
            "x": 0, "y": top, "width": size[0], "height": height or size[1] - top, "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))

    def paper(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self._of_session("/print")))
