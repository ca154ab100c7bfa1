# SPDX-License-Identifier: MIT
"""
Table III of the MAGNeT papers: a stream through five TCP stacks. Each stack's bucket is slower than the
one before, so each moves the bytes further from the times the program chose: M grows from stack to
stack. The first stack's M by this reckoning, byte by byte, is the report's.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from relays import Chain, table

RATES, WRITES, SIZE, GAP = [10, 8, 6.5, 5, 4], 120, 3284, 0.0124


def relays():
    with Chain(RATES) as chain, chain.record(WRITES, SIZE, GAP) as rec:
        rows, source = table(rec, len(RATES))
        for r in rows:
            print(f"  {r['name']:12} {r['n']:5} {r['mean_size']:7.0f} B "
                  f"{r['mean_spacing_ns'] / 1e6:8.3f} ms  M {r.get('M', 0):.3f}")
        check(rows[0]["n"] == WRITES, "every write of the source is one call")
        check(all(r["mean_size"] <= 1448 for r in rows[1:]), "the network's units are segments")
        check(all(r["bytes"] >= 0.95 * rows[0]["mean_size"] * WRITES for r in rows[1:]),
              "nearly all bytes are followed through every stack")
        m = [r["M"] for r in rows[1:]]
        check(all(b > a for a, b in zip(m, m[1:])), "M accumulates over the stacks: "
              + " ".join(f"{x:.3f}" for x in m))
        near(source["modulation"]["M"], m[0], 0.02, "the report's M of the first stack")
        near(source["modulation"]["tau_ns"], rows[0]["mean_spacing_ns"], 0.01, "its gap")


need_kernel_side()
patiently(relays)
