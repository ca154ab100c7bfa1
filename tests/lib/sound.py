# SPDX-License-Identifier: MIT
"""Checks that hold for every recording of a real program."""
from fixture import check, lost
from together import agree


def sound(rec, what, bytes_at_least, joined=True):
    """Check that a recording lost nothing, that its sums close and that the program ran without complaints.

    `joined` is False for programs in PID namespaces of their own, whose calls cannot be joined to system calls.
    """
    r = rec.report()
    check(lost(r) == 0, f"{what}: nothing was lost")
    check(sum(f["bytes"] for f in r["flows"]) >= bytes_at_least,
          f"{what}: {sum(f['bytes'] for f in r['flows'])} bytes in {len(r['flows'])} flows")
    check(all(f["closure_error_cycles"] in (0, None) for f in r["flows"]), f"{what}: closes to 0")
    agree(r)
    check(r["state_sum_mismatches"] == 0, f"{what}: states sum to totals")
    check(not joined or r["unjoined_calls"] == 0 or r["unjoined_calls"] < 0.001 * r["events"]["app"],
          f"{what}: {r['unjoined_calls']} of {r['events']['app']} calls without their system call")
    check("Traceback" not in rec.p.stderr and "rror" not in rec.p.stderr, f"{what}: no complaints")
