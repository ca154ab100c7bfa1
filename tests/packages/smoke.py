# SPDX-License-Identifier: MIT
"""Tests that an installed magnet works: in a root that has nothing but what its package asks for."""
import json
import os

from roots import check

BYTES = 300_000
# a client and a server in one process, in the only language that a minimal Debian has
TRANSFER = f"""
use Socket;
socket(my $l, AF_INET, SOCK_STREAM, 0) or die;
bind($l, pack_sockaddr_in(0, INADDR_LOOPBACK)) && listen($l, 1) or die;
if (fork == 0) {{
    socket(my $c, AF_INET, SOCK_STREAM, 0) or die;
    connect($c, getsockname($l)) or die;
    syswrite($c, "x" x 10000) == 10000 or die for 1 .. {BYTES // 10_000};
    exit 0;
}}
accept(my $s, $l) or die;
my $n = 0;
while (my $r = sysread($s, my $b, 65536)) {{ $n += $r }}
wait;
print "$n\\n";
"""
MARK = """
#include <magnet/marker.h>
int main(void) { magnet_mark("point", 1, 2); return 0; }
"""
PAGES = [f"man{page[-1]}/{page}" for page in (
    "magnet.1", "magnet-record.1", "magnet-report.1", "magnet-show.1", "magnet-doctor.1", "libmagnet.7",
    "magnet-plugin.7", "magnet-events.5", "magnet-facts.5", "magnet-figures.5", "magnet-kernel-tracer.8")]


def files(root, lib):
    def there(path):
        return any(os.path.exists(root.path + path + more) for more in ("", ".gz"))
    check(all(there("/usr/share/man/" + page) for page in PAGES), f"{len(PAGES)} manual pages are installed")
    check(there("/usr/share/bash-completion/completions/magnet") and (
        there("/usr/share/zsh/site-functions/_magnet") or there("/usr/share/zsh/vendor-completions/_magnet")),
        "completion is installed")
    check(there(lib + "/libmagnet.so") and there(lib + "/libmagnet-lttng.so"), "libmagnet.so is installed")


def completes(root):
    words = root.run("bash", "-c", ". /usr/share/bash-completion/completions/magnet; COMP_WORDS=(magnet rep) "
                     "COMP_CWORD=1; _magnet; echo ${COMPREPLY[@]}").stdout
    check(words.strip() == "report", f"completion: rep{words.strip()[3:]}")


def records(root, version):
    check(root.run("magnet", "--version").stdout == f"magnet {version}\n", f"magnet is version {version}")
    doctor = root.run("magnet", "doctor", check_it=False)
    check(doctor.returncode == 0, f"doctor: {doctor.stdout.splitlines()[0]}")
    got = root.run("magnet", "record", "-q", "-o", "/tmp/t", "--", "perl", "-e", TRANSFER)
    check(got.stdout == f"{BYTES}\n" and not got.stderr, f"a recorded program works: {got.stdout.strip()} bytes")
    report = json.loads(root.run("magnet", "report", "--json", "/tmp/t").stdout)
    flows = {f["direction"]: f["bytes"] for f in report["flows"] if f["proto"] == "tcp" and f["bytes"]}
    check(flows == {"tx": BYTES, "rx": BYTES}, f"its report has them: {flows}")
    check(report["events"]["app"] > 30 and report["events"]["kernel"] > 300, f"both sides: {report['events']}")
    check(root.run("magnet", "report", "/tmp/t").stdout != "", "the report as text")
    seen = root.run("babeltrace2", "/tmp/t", "--component=sink.magnet.show").stdout
    check("tcp_send" in seen, "babeltrace2 finds the plugin")
    reads_ctf2(root, report["events"])


def reads_ctf2(root, events):
    """A recording that a babeltrace2 of 2.1 has copied as CTF 2 is read as the recording."""
    said = root.run("babeltrace2", "--version").stdout.split()[1]
    if tuple(map(int, said.split(".")[:2])) < (2, 1):
        print(f"babeltrace2 {said} knows no CTF 2")
        return
    root.run("babeltrace2", "/tmp/t", "--output-format=ctf", "--output=/tmp/ctf2")
    begins = root.run("sh", "-c", "cat $(find /tmp/ctf2 -name metadata) | head -c 1").stdout
    check(begins == "\x1e", "babeltrace2 writes CTF 2")
    found = json.loads(root.run("magnet", "report", "--json", "/tmp/ctf2").stdout)["events"]
    check(found == events, f"which has the same events: {found}")


def marks(root, version, *install):
    """A program with marks is built by what pkg-config says."""
    root.run(*install)
    with open(root.path + "/tmp/mark.c", "w", encoding="utf-8") as f:
        f.write(MARK)
    check(root.run("pkg-config", "--modversion", "magnet").stdout.strip() == version, "pkg-config knows magnet")
    root.run("sh", "-c", "cc -Wall -Werror -o /tmp/mark /tmp/mark.c $(pkg-config --cflags --libs magnet) && /tmp/mark")
    check(True, "a program with marks is built by it, and runs")
