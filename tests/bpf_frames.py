# SPDX-License-Identifier: MIT
"""
bpf_frames.py OBJECT...: the frames of all BPF functions that may call each other, as kernels count them before
Linux 6.12, which refuse a program with more than 512 bytes. The kernels' own verifiers are asked in the suite
`kernels`, which takes long.
"""
import re
import shutil
import subprocess
import sys

OBJDUMP = next(filter(None, map(shutil.which, ("llvm-objdump", "llvm-objdump-14"))), None)
MOST = 512


def functions(path):
    """Those to begin with, and {name: (bytes of its frame, what it calls)}"""
    text = subprocess.run([OBJDUMP, "-d", "-r", path], capture_output=True, text=True, check=True).stdout
    frame, calls, at, pending, programs = {}, {}, {}, None, []
    for line in text.splitlines():
        if m := re.match(r"Disassembly of section (\S+):", line):
            section = m[1]
        elif m := re.match(r"([0-9a-f]+) <(\S+)>:", line):
            if not m[2].startswith("LBB"):  # a place within one
                name, copies = m[2], set()
                frame[name], calls[name], at[section, int(m[1], 16) // 8] = 0, [], m[2]
                # no kernel that takes the old object has netfilter's programs
                if not (section.startswith("magnet_nf") and "_old" in path):
                    programs.append(name)
        elif m := re.match(r"\s+[0-9a-f]+:\s+R_BPF_64_32\s+(\S+)", line):
            calls[name][-1] = m[1] if pending == -1 else (m[1], pending + 1)
        elif m := re.match(r"\s+(\d+):\s+((?:[0-9a-f]{2} ){7}[0-9a-f]{2})\s+(.*)", line):
            code = bytes.fromhex(m[2])
            if code[:2] == b"\x85\x10":  # a function of our own
                pending = int.from_bytes(code[4:8], "little", signed=True)
                calls[name].append((section, int(m[1]) + 1 + pending))
            for n in re.findall(r"r10 - (\d+|0x[0-9a-f]+)\)", m[3]):
                frame[name] = max(frame[name], int(n, 0))
            if n := re.match(r"(r\d) = r10$", m[3]):
                copies.add(n[1])
            elif (n := re.match(r"(r\d) \+= -(\d+|0x[0-9a-f]+)$", m[3])) and n[1] in copies:
                frame[name] = max(frame[name], int(n[2], 0))
                copies.discard(n[1])
    return programs, {
        name: (frame[name], {c if isinstance(c, str) else at[c] for c in calls[name]}) for name in frame}


def deepest(of, name, known):
    """The most bytes from a function on, and by which functions."""
    if name not in known:
        size, called = of[name]
        # what is not here is the kernel's
        below = max((deepest(of, c, known) for c in called if c in of), default=(0, ()))
        known[name] = ((max(size, 1) + 31) // 32 * 32 + below[0], (f"{name} ({size})", *below[1]))
    return known[name]


if not OBJDUMP:
    print("SKIP: no llvm-objdump")
    sys.exit(77)
bad = 0
for path in sys.argv[1:]:
    (programs, of), known = functions(path), {}
    for size, way in sorted({deepest(of, name, known) for name in programs}, reverse=True):
        if size <= MOST:
            print(f"ok: {path}: at most {size} bytes: {' > '.join(way)}")
            break
        bad += 1
        print(f"FAILED: {path}: {size} bytes: {' > '.join(way)}")
sys.exit(bool(bad))
