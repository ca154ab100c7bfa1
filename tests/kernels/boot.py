# SPDX-License-Identifier: MIT
"""
Boot a kernel that scripts/kernels fetched, under qemu, and run tests in it: this machine's files,
read-only, are the guest's (9p), so what was built here runs there.
  boot.py SERIES [+PARAMETER ...] TEST [TEST ...]
TEST is a Python file and its arguments, in one argument; PARAMETER goes to the kernel. A SERIES of arm64 has
the system that scripts/arm64 unpacked in place of this machine's.
"""
import lzma
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SKIP = 77
HERE = os.path.dirname(os.path.abspath(__file__))
STORE = os.environ.get("MAGNET_KERNELS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "magnet", "kernels")
# what a Debian kernel has as modules, of what the tests use; what is built in is not found
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "veth", "bridge", "dummy", "sch_tbf", "sch_netem",
           "sch_ingress", "cls_bpf", "tcp_diag", "unix_diag", "crc32c_generic", "nf_tables", "8021q", "bonding", "gcm",
           "ctr", "ghash_generic", "aes_generic", "seqiv", "tls")
BUILD = os.environ.get("MAGNET_BUILD", "")
LIMIT_S = int(os.environ.get("MAGNET_VM_LIMIT", "3600"))


class X86:
    """Differences between the emulated machines."""

    qemu, fetched = "qemu-system-x86_64", "qemu"
    machine = ["-cpu", "max", "-vga", "none"]
    # the kernel's console is the first serial line, the tests' output the second
    console, output, lines = "ttyS0", "ttyS1", ["-serial", "file:{console}", "-serial", "stdio"]
    system, shell = "", os.path.join(STORE, "busybox/bin/busybox")


class Arm64:
    qemu, fetched = "qemu-system-aarch64", "qemu-arm64"
    machine = ["-M", "virt", "-cpu", "max,pauth-impdef=on"]
    console, output, lines = "ttyAMA0", "hvc0", [
        "-serial", "file:{console}", "-chardev", "stdio,id=output", "-device", "virtio-serial-pci",
        "-device", "virtconsole,chardev=output"]
    system = os.path.join(STORE, "arm64-root")
    shell = os.path.join(system, "bin/busybox")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIP)


class Modules:
    """Those of a kernel package, with what they depend on, in the order to load them in."""

    def __init__(self, top):
        self.files, self.order = {}, []
        for where, _, names in os.walk(top):
            for name in names:
                if ".ko" in name:
                    self.files[name.split(".ko")[0].replace("-", "_")] = os.path.join(where, name)

    def add(self, name):
        name = name.replace("-", "_")
        if name not in self.files or name in [n for n, _ in self.order]:
            return
        with open(self.files[name], "rb") as f:
            data = f.read()
        if self.files[name].endswith(".xz"):
            data = lzma.decompress(data)
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in depends[1].decode().split(",") if depends else ():
            self.add(other)
        self.order.append((name, data))


def archive(files):
    """A cpio archive in the form the kernel takes: [(path, mode, bytes)]."""
    out = bytearray()
    for number, (path, mode, data) in enumerate([*files, ("TRAILER!!!", 0, b"")]):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        out += b"070701" + b"".join(b"%08X" % f for f in fields) + name
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def first_files(kernel, of):
    """Initial file system of the guest: a shell, the modules, and a script that mounts this machine's files."""
    modules = Modules(kernel)
    for name in MODULES:
        modules.add(name)
    with open(of.shell, "rb") as f:
        shell = f.read()
    with open(os.path.join(HERE, "init.sh"), "rb") as f:
        init = f.read()
    directories = [(d, 0o40755, b"") for d in ("bin", "dev", "proc", "host", "machine", "modules")]
    return archive([*directories, ("bin/busybox", 0o100755, shell), ("init", 0o100755, init),
                    *((f"modules/{n:02}-{name}.ko", 0o100644, data)
                      for n, (name, data) in enumerate(modules.order))])


def emulator(series, of):
    """The installed qemu, or the one scripts/kernels fetched, with its libraries."""
    name, env = of.qemu, dict(os.environ)
    if shutil.which(name):
        return [name], env
    root = os.path.join(STORE, of.fetched)
    at = root + "/usr"
    if not os.path.exists(f"{at}/share/qemu"):
        skip(f"no {name}: run scripts/kernels {series}")
    env["LD_LIBRARY_PATH"] = f"{at}/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"
    env["QEMU_MODULE_DIR"] = f"{at}/lib/x86_64-linux-gnu/qemu"
    shared = [f"{at}/share/{name}" for name in ("qemu", "seabios")]
    return [f"{at}/bin/{name}", *(word for path in shared for word in ("-L", path))], env


def image(kernel, release):
    """Where the kernel itself lies; since 7.3 with its modules."""
    for path in (f"{kernel}/boot/vmlinuz-{release}", f"{kernel}/usr/lib/modules/{release}/vmlinuz"):
        if os.path.exists(path):
            return path
    sys.exit(f"no vmlinuz below {kernel}")


def boot(series, parameters, tests):
    """
    False: as the kernel changed its code (a tracepoint is attached to), the other emulated CPU still ran
    the breakpoint that stands there meanwhile, which the kernel then did not know any more. That is the
    emulator's doing.
    """
    kernel = os.path.join(STORE, series)
    if not os.path.exists(kernel + "/release"):
        skip(f"no kernel {series} in {STORE}: run scripts/kernels {series}")
    release = open(kernel + "/release").read().strip()
    of = Arm64 if series.startswith("arm64-") else X86
    qemu, env = emulator(series, of)
    if not os.path.exists(of.shell):
        skip(f"no {of.shell}: run scripts/arm64")
    with tempfile.TemporaryDirectory(prefix="magnet-vm-") as top:
        with open(top + "/first", "wb") as f:
            f.write(first_files(kernel, of))
        with open(top + "/tests", "w") as f:
            f.write("".join(t + "\n" for t in tests))
        with open(top + "/environment", "w") as f:
            for key in sorted(os.environ):
                if key.startswith("MAGNET") or key == "BABELTRACE_PLUGIN_PATH":
                    f.write(f"export {key}={shlex.quote(os.environ[key])}\n")
        began = time.monotonic()
        guest = subprocess.Popen(
            [*qemu, "-accel", "tcg,thread=multi", *of.machine, "-smp", "2", "-m", "1536",
             "-display", "none", "-nodefaults", "-no-reboot",
             "-kernel", image(kernel, release), "-initrd", top + "/first",
             "-append", f"console={of.console} panic=-1 quiet mitigations=off random.trust_cpu=on "
                        f"magnet.system={of.system} magnet.output={of.output} "
                        f"magnet.runner={HERE}/run.sh magnet.tests={top} "
                        f"magnet.kept={os.path.dirname(os.path.dirname(HERE))}:{BUILD} "
                        + " ".join(parameters),
             *(line.format(console=top + "/console") for line in of.lines),
             "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,"
                        "multidevs=remap"],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
        timer = threading.Timer(LIMIT_S, guest.kill)
        timer.start()
        done, failed = False, []
        try:
            for line in guest.stdout:
                print(line.rstrip("\r\n"), flush=True)
                m = re.match(r"=== (\S+): (failed|skipped)", line)
                if m: # nothing is missing there, so nothing is to be skipped
                    failed.append(m[1])
                done |= line.startswith("=== all done")
                if line.startswith("=== up"):
                    print(f"Linux {release} took {time.monotonic() - began:.1f} s to here")
        finally:
            timer.cancel()
            guest.kill()
            guest.wait()
        if not done:
            console = open(top + "/console", errors="replace").read()
            print(console[-4000:])
            if "int3: 0000" in console:
                return False
            sys.exit(f"Linux {release} ended early, or took longer than {LIMIT_S} s")
        print(f"Linux {release}: {time.monotonic() - began:.0f} s in all")
        if failed:
            sys.exit("failed: " + " ".join(failed))
    return True


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # the guest, too
    for _ in range(3):
        if boot(sys.argv[1], [a[1:] for a in sys.argv[2:] if a.startswith("+")],
                [a for a in sys.argv[2:] if not a.startswith("+")]):
            sys.exit()
    sys.exit("the emulator ended the kernel three times")
