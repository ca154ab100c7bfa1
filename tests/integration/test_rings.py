# SPDX-License-Identifier: MIT
"""
Rings are a program's own. What a hostile one does to those it can reach kills neither the collector
nor another program, and the calls of others are counted to the last one; programs of other users, in
namespaces of their own, many at once, and after /dev/shm was swept, have rings too.
"""
import ctypes
import os
import re
import socket
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

BUILD = os.environ["MAGNET_BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
SENDER = os.path.join(BUILD, "tests", "programs", "sends")
TAMPER = os.path.join(HERE, "..", "programs", "tamper.py")
AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
SENDS = "import os, socket, sys, time\n" \
    "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n" \
    "for i in range(int(sys.argv[1])):\n" \
    "    a.send(b'x'); b.recv(9)\n" \
    "    if i % 100 == 0: time.sleep(float(sys.argv[2]))\n" \
    "os.write(1, b'sent %d %s\\n' % (os.getpid(), sys.argv[1].encode()))\n"


def good(n, pause=0.01):
    """Sends so often, and says so."""
    return f"{PYTHON} -c \"$SENDS\" {n} {pause}"


class Shell(Recording):
    """A script of programs, of which some send and say how often: {pid: number}."""

    def __init__(self, script):
        super().__init__("sh", "-c", script, options=("--app-only",), ok=None,
                         env=dict(os.environ, SENDS=SENDS))
        self.sent = {int(p): int(n) for _, p, n in
                     (line.split() for line in self.p.stdout.splitlines() if line.startswith("sent "))}

    def check_exact(self, programs, what):
        if len(self.sent) != programs:
            print(self.p.stdout, self.p.stderr)
        check(len(self.sent) == programs, f"{what}: {programs} programs do what they do")
        with open(self.dir + "/session.json") as f:
            session = json.load(f)
        check(session["complete"] and session["app"]["written_out"], "the collector ended in order")
        seen = Counter(int(e["pid"]) for e in self.events() if e["event"] == "magnet:send")
        lost = Counter()
        for e in self.events():
            if e["event"] == "lost":
                lost[int(e["tid"])] += int(e["fields"]["count"])
        for pid, n in self.sent.items():
            if seen[pid] + lost[pid] != n:
                print(seen, lost, self.p.stderr)
            check(seen[pid] + lost[pid] == n, f"{n} sends: {seen[pid]} seen, {lost[pid]} told as lost")


def nobody_can():
    return os.geteuid() == 0 and not run(*AS_NOBODY.split(), "test", "-r", BUILD + "/preload/libmagnet.so",
                                         check=False).returncode


def of_one_user():
    with Shell(f"{PYTHON} {TAMPER} 2 & {good(20000)}; wait; {good(500)}") as rec:
        check("tampered" in rec.p.stdout, "the hostile program lives, too")
        rec.check_exact(2, "beside a hostile program of the same user")


def of_another_user():
    if not nobody_can():
        print("no other user can be tried")
        return
    with Shell(f"{AS_NOBODY} {PYTHON} {TAMPER} 2 all & {AS_NOBODY} {good(20000)} & {good(20000)}; wait; "
               f"{AS_NOBODY} {good(500)}") as rec:
        check("tampered" in rec.p.stdout, "the hostile program lives, too")
        rec.check_exact(3, "beside a hostile program of another user")


def all_as_nobody():
    if not nobody_can():
        return
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        os.chmod(top, 0o777)
        p = run(*AS_NOBODY.split(), MAGNET, "record", "--app-only", "-o", top + "/t", "--", "sh", "-c",
                f"{PYTHON} {TAMPER} 1 & {good(5000)}; wait", env=dict(os.environ, SENDS=SENDS))
        check("tampered" in p.stdout and "sent" in p.stdout, "all programs of nobody live")
        names = Counter(line.split("\t")[5] for line in
                        run(MAGNET, "show", "--tsv", top + "/t").stdout.splitlines())
        check(names["magnet:send"] >= 5000, f"{names['magnet:send']} calls of theirs")


def swept():
    """Does what logind does at the end of a user's last session, RemoveIPC=yes."""
    sweep = 'd=${MAGNET_RINGS##*:}; rm -r "${d%/*}"; '
    with Shell(f"{good(100)}; {sweep} {good(200)}; {good(300)}") as rec:
        rec.check_exact(3, "after all in /dev/shm was removed")
    if nobody_can():
        with Shell(f"{sweep} sleep 1; {AS_NOBODY} {good(200)}") as rec:
            rec.check_exact(1, "of another user, too")


def many_at_once():
    with Shell("for i in $(seq 40); do " + good(50, 0.1) + " & done; wait") as rec:
        rec.check_exact(40, "all at once")


def in_namespaces():
    """Process numbers are others there."""
    if run("unshare", "--pid", "--fork", "--mount-proc", "true", check=False).returncode:
        print("no namespaces can be made")
        return
    with Shell(f"unshare --pid --net --fork --mount-proc {good(70)}") as rec:
        names = Counter(e["event"] for e in rec.events())
        check(names["magnet:send"] == 70, "a program that sees other processes is recorded")


def without_descriptors(script, stays=""):
    """There is one for each program: those that got no rings are told."""
    def few():
        ctypes.CDLL(None).prctl(24, 24, 0, 0, 0)  # CAP_SYS_RESOURCE, which would allow more
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p = run(MAGNET, "record", "--app-only", "-o", top + "/t", "--", "sh", "-c", script, top + "/said",
                env=dict(os.environ, SENDS=SENDS + stays), preexec_fn=few)
        with open(top + "/said") as f:
            said = f.read().split("\n")[:-1]
        for line in said if stays else []:
            os.kill(int(line.split()[1]), signal.SIGTERM)
        check(len(said) == 40, "40 programs of which some have no rings do what they do")
        rows = [line.split("\t") for line in run(MAGNET, "show", "--tsv", top + "/t").stdout.splitlines()]
        seen = len({r[3] for r in rows if r[5] == "magnet:send"})
        told = sum(int(r[9].split("count=")[1].split()[0]) for r in rows
                   if r[5] == "lost" and "reason=app_unserved" in r[9])
        check(seen + told == 40 and seen >= 10, f"{seen} programs are recorded, {told} are told as not")
        check(f"all calls of {told} programs for which there was no buffer: " in p.stderr
              and "raise ulimit -n, which is 40" in p.stderr, "by magnet record, too, and why: " + p.stderr)


def descriptors():
    all_40 = "for i in $(seq 40); do " + good(5, 1) + " & done"
    without_descriptors(all_40 + ' > "$0"; wait')
    # all are still there when the recording ends
    # (the shell counts by itself: another program beside the 40 might be without rings in place of one of them)
    reads_40 = 'i=0; while [ $i -lt 40 ]; do read x; echo $x; i=$((i + 1)); done > "$0"'
    without_descriptors("{ " + all_40 + " 2> /dev/null; } | { " + reads_40 + "; }", "time.sleep(60)\n")


def without_door():
    """Nobody but programs of its own user can be given rings, which is told."""
    if run("unshare", "--mount", "true", check=False).returncode:
        print("no namespaces can be made")
        return
    with tempfile.TemporaryDirectory(prefix="magnet-test-", dir="/var/tmp") as top:
        # what is there stays readable: magnet may have been built below /tmp
        p = run("unshare", "--mount", "sh", "-ec", "for i in /dev/shm /tmp; do mount --bind $i $i; "
                'mount -o remount,bind,ro $i; done; exec "$@"', "sh", MAGNET, "record", "--app-only", "-o", top + "/t",
                "--", PYTHON, "-c", SENDS, "5", "0")
        check("no socket for them in /dev/shm or /tmp: Read-only file system" in p.stderr, "told: " + p.stderr)
        check(run(MAGNET, "show", "--tsv", top + "/t").stdout.count("magnet:send") == 5, "others are recorded")


def chroot_of(top, name, *others):
    """A directory with SENDS, the libraries it needs, and other files at their own places."""
    root = f"{top}/{name}"
    needed = re.findall(r"(/\S+) \(0x", run("ldd", SENDER).stdout)
    for path in (*needed, *others):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    os.makedirs(root + BUILD + "/cli", exist_ok=True)  # part of magnet's path to libmagnet.so
    shutil.copy(SENDER, root + "/sends")
    return root


def out_of_reach():
    """Programs executed in a chroot where libmagnet.so, or its rings, are not there: told, and not harmed."""
    if os.geteuid():
        return
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        library = os.path.realpath(BUILD + "/preload/libmagnet.so")
        bare_, whole = chroot_of(top, "bare"), chroot_of(top, "whole", library)
        script = f"chroot {bare_} /sends 20; chroot {whole} /sends 30; chroot {bare_} /nothing; {SENDER} 7; " \
            "echo done"
        why = no_kernel_side()
        for options in ((), ("--app-only",))[bool(why):]:
            with Recording("sh", "-c", script, options=options, env=dict(os.environ, LC_ALL="C")) as rec:
                report, text = rec.report(), rec.text()
                told = r"all calls of (\d) programs? and of the programs they started, "
                check(rec.p.stdout == "done\n" and "ld.so" not in rec.p.stderr, f"no loader complains: {rec.p.stderr}")
                numbers = [sum(map(int, re.findall(told, said))) for said in (rec.p.stderr, text)]
                check(numbers == [2, 2] and "nothing lost" not in text,
                      f"{options}: they are told by magnet record and in the report: {numbers}")
                gaps = [g for g in report["loss"]["gaps"] if g["producer"] == "programs out of reach"]
                check(report["loss"]["app"] == 2 and sum(g["count"] for g in gaps) == 2, f"and in JSON: {gaps}")
                calls = [c for c in report["calls"] if c["name"] in ("send", "sendto")]
                sent = {bool(c["kernel_only"]): c["n"] for c in calls}
                check(sent == ({False: 7} if options else {False: 7, True: 50}),
                      f"the kernel side follows them, if it is there: {sent}")


# Makes a door again that was there, and gives whoever asks a pool, sealed or not.
IMPOSTOR = """
import array, ctypes, fcntl, os, socket, struct, sys, time
number, _, first, _, _, path = sys.argv[1].split(":")
os.umask(0)
os.mkdir(os.path.dirname(path), 0o711)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(path)
s.listen(9)
fd = ctypes.CDLL(None).memfd_create(b"impostor", 2)
os.ftruncate(fd, 1 << 20)
os.pwrite(fd, struct.pack("4I3Q4I128i4I", 0x6d61676e, 6, 4, 8, 640, 65536, int(number, 16), 4, 0, 0, 0,
                          *[1] * 128, 2, 1, 1, 1), 0)
if sys.argv[2] == "sealed":
    fcntl.fcntl(fd, 1033, 7)
print("there", flush=True)
c, _ = s.accept()
c.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
time.sleep(60)
"""
ASKS = "print([line for line in open('/proc/self/maps') if 'impostor' in line] != [])"


def impostors():
    """Programs that the environment tells of rings when these are gone take none from anybody else."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        rings = run(MAGNET, "record", "-q", "--app-only", "-o", top + "/t", "--", "sh", "-c",
                    "echo $MAGNET_RINGS").stdout.strip()
        number, pid, first, filters, start, path = rings.split(":")
        rings = f"{number}:{pid}:0:{filters}:{start}:{path}"
        users = [([], "sealed", True), ([], "unsealed", False)]
        if nobody_can():
            users.append((AS_NOBODY.split(), "sealed", False))
        for user, how, taken in users:
            p = subprocess.Popen([*user, PYTHON, "-c", IMPOSTOR, rings, how], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
            check(p.stdout.readline() == "there\n", "somebody answers in magnet's place")
            env = dict(os.environ, LD_PRELOAD=BUILD + "/preload/libmagnet.so", MAGNET_RINGS=rings)
            said = run(PYTHON, "-c", ASKS, env=env).stdout
            check(said == f"{taken}\n", f"a pool that is {how}, by {user or 'the same user'}: taken {said.strip()}")
            p.kill()
            p.wait()
            shutil.rmtree(os.path.dirname(path))


# Asks for a pool, and keeps it where the collector had those that were ready, as nobody's.
KEEPER = """
import array, mmap, os, socket, struct, sys, time
number, _, first, _, _, path = os.environ["MAGNET_RINGS"].split(":")
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(path)
given = array.array("i", s.recvmsg(1, socket.CMSG_LEN(4))[1][0][2])[0]
mmap.mmap(given, 4096)[48:52] = bytes(4)
os.dup2(given, int(first))
print("kept", os.getpid(), flush=True)
os.close(1)
time.sleep(60)
"""
MAPS = "print([line for line in open('/proc/self/maps') if 'magnet-rings' in line] != [])"


def reused_number():
    """A process of another user has the number of a collector that has ended, and a pool that this one gave it."""
    if not nobody_can():
        return
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p = run(MAGNET, "record", "-q", "--app-only", "-o", top + "/t", "--", "sh", "-c", f'echo $MAGNET_RINGS; '
                f'{PYTHON} -c "{MAPS}"; {AS_NOBODY} {PYTHON} -c "$KEEPER" 2> /dev/null & sleep 2',
                env=dict(os.environ, KEEPER=KEEPER))
    rings, mapped, *_, kept = p.stdout.splitlines()
    keeper = kept.split()[1]
    check(mapped == "True" and kept.startswith("kept"), f"a program of another user keeps a pool of root's: {p.stdout}")
    number, _, first, filters, start, path = rings.split(":")
    try:
        env = dict(os.environ, LD_PRELOAD=BUILD + "/preload/libmagnet.so",
                   MAGNET_RINGS=f"{number}:{keeper}:{first}:{filters}:{start}:{path}")
        check(run(PYTHON, "-c", MAPS, env=env).stdout == "False\n", "root's programs do not take it from him")
    finally:
        os.kill(int(keeper), signal.SIGKILL)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(n) for n in f.read().split()]


def left_behind():
    """Recorders are killed with all they have: the next one clears it, and a rule for systemd-tmpfiles."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        recorders, doors = [], []
        for name in ("killed", "running"):
            p = subprocess.Popen([MAGNET, "record", "-q", "--app-only", "-o", f"{top}/{name}", "--", "sh",
                                  "-c", "echo $MAGNET_RINGS; exec sleep 60"], stdout=subprocess.PIPE, text=True)
            recorders.append(p)
            doors.append(os.path.dirname(p.stdout.readline().strip().rsplit(":", 1)[1]))
        killed, running = recorders
        for pid in (*children_of(killed.pid), killed.pid):
            os.kill(pid, signal.SIGKILL)
        killed.wait()
        check(len(os.listdir(doors[0])) == 1, "a recorder that was killed has left something behind")
        foreign = [tempfile.mkdtemp(prefix="magnet-rings-"), tempfile.mkdtemp(prefix="magnet-rings-", suffix="-my")]
        for directory in foreign:
            open(directory + "/notes", "w").close()
            open(f"{directory}/{0:032x}.txt", "w").close()
        socket.socket(socket.AF_UNIX).bind(foreign[1] + f"/{0:032x}")
        root, rule = top + "/root", os.path.join(HERE, "..", "..", "cli", "tmpfiles.conf")
        shutil.copytree(doors[0], root + doors[0], ignore=lambda *unused: os.listdir(doors[0]))
        with open(root + doors[0] + "/x", "w"):
            os.utime(root + doors[0] + "/x", (1, 1))
        for directory in doors + foreign: # any recorder that starts from here on may clear the first
            os.utime(directory, (1, 1))
        run(MAGNET, "record", "-q", "--app-only", "-o", top + "/next", "--", "true")
        check([os.path.exists(d) for d in doors] == [False, True], "the next one clears that, and only that")
        check([len(os.listdir(d)) for d in foreign] == [2, 3], "nor what others keep in directories of such a name")
        for directory in foreign:
            shutil.rmtree(directory)
        for pid in [p for p in children_of(running.pid) if os.readlink(f"/proc/{p}/exe").endswith("sleep")]:
            os.kill(pid, signal.SIGTERM)
        running.wait()
        check(not os.path.exists(doors[1]), "one that ends leaves nothing")
        if shutil.which("systemd-tmpfiles") and os.geteuid() == 0:
            p = run("systemd-tmpfiles", "--clean", "--root=" + root, rule)
            check(not p.stderr and not os.listdir(root + doors[0]), "so does systemd-tmpfiles " + p.stderr)


for test in (of_one_user, of_another_user, all_as_nobody, swept, many_at_once, in_namespaces,
             descriptors, without_door, out_of_reach, impostors, reused_number, left_behind):
    print("---", test.__name__, flush=True)
    test()
