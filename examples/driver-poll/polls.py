# SPDX-License-Identifier: MIT
"""Sums napi:napi_poll in the output of `magnet show --tsv` by device."""
import csv
import sys

devices = {}
for row in csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE):
    if row["event"] != "napi:napi_poll":
        continue
    f = dict(x.split("=", 1) for x in row["fields"].split())
    d = devices.setdefault(f["dev_name"], {"polls": 0, "packets": 0, "full": 0, "longest": 0, "row": {}})
    d["polls"] += 1
    d["packets"] += int(f["work"])
    # polls of one CPU in a row; a device may be polled on several
    full = int(f["work"]) >= int(f["budget"])
    d["row"][row["cpu"]] = d["row"].get(row["cpu"], 0) + 1 if full else 0
    d["full"] += full
    d["longest"] = max(d["longest"], d["row"][row["cpu"]])

print(f"{'device':16} {'polls':>8} {'packets':>9} {'a poll':>7}   used their whole budget")
for name, d in sorted(devices.items()):
    print(f"{name:16} {d['polls']:8,} {d['packets']:9,} {d['packets'] / d['polls']:7.1f}   "
          f"{d['full']:,} ({100 * d['full'] / d['polls']:.1f} %), {d['longest']} in a row at most")
