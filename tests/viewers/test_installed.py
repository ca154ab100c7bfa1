# SPDX-License-Identifier: MIT
"""The programs that scripts/viewers installs run, and its Python packages have the versions asked for."""
import importlib.metadata

from viewers import *

need_viewers("chromium", "chromedriver", "tshark", "java")
with open(REQUIREMENTS) as f:
    for name, version in (line.strip().split("==") for line in f if "==" in line):
        found = importlib.metadata.version(name)
        check(found == version, f"{name} {found}")
with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    with open(top + "/page.html", "w") as f:
        f.write("<p id=a></p><script>document.getElementById('a').textContent = 6 * 7</script>")
    page = run("chromium", "--headless", "--no-sandbox", f"--user-data-dir={top}/profile", "--dump-dom",
               f"file://{top}/page.html").stdout
    check("42</p>" in page, "Chromium runs the script of a page")
check("tshark" in run("tshark", "--version").stdout.lower(), "tshark runs")
