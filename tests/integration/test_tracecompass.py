# SPDX-License-Identifier: MIT
"""
The analysis for Trace Compass: each event that it handles, with each field that it takes, is in the metadata of
the kernel side's traces; values that it names are defined, and each view shows what the state system has.
"""
import os
import re
import sys
import tarfile
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

HERE = os.path.dirname(os.path.abspath(__file__))
ANALYSIS = os.path.join(HERE, "..", "..", "share", "magnet.tracecompass.xml")
TRACES = os.path.join(HERE, "..", "data", "both.tar.xz")


def event_fields(metadata):
    """Tell the fields of each event as Trace Compass names them: without the underscore that begins them."""
    context = re.search(r"event\.context := struct \{(.*?)\}", metadata)[1]
    common = {"context." + name for name in re.findall(r"(\w+);", context)}
    found = {}
    for name, fields in re.findall(r'^event \{\s+name = "(\w+)";.*?fields := struct \{(.*?)\n\t\}', metadata, re.S | re.M):
        found[name] = common | {f.lstrip("_") for f in re.findall(r"(\w+)(?:\[\d+\])?;", fields)}
    return found


with tarfile.open(TRACES) as tar:
    name = next(n for n in tar.getnames() if n.endswith("kernel/metadata"))
    events = event_fields(tar.extractfile(name).read().decode())
analysis = ET.parse(ANALYSIS).getroot()
provider = analysis.find("stateProvider")
handled, attributes, missing = 0, set(), []
for handler in provider.iter("eventHandler"):
    event = handler.get("eventName")
    names = [e.get("value") for e in handler.iter() if e.get("type") == "eventField"]
    names += [e.get("name") for e in handler.iter("field")]
    missing += [f"{event}.{n}" for n in names if n not in events.get(event, ())]
    handled += 1
    for change in handler.iter():
        path = [a.get("value") for a in change.findall("stateAttribute") if a.get("type") == "constant"]
        if path:
            attributes.add(tuple(path))
check(handled > 10 and not missing, f"the events and fields of {handled} handlers are in the trace: {missing}")
types = {t.get("id") for t in provider.find("head").findall("traceType")}
check(types == {"org.eclipse.linuxtools.tmf.ui.type.ctf", "org.eclipse.linuxtools.lttng2.kernel.tracetype"},
      f"it is offered for a generic trace, and for a kernel trace, as which Trace Compass opens ours: {types}")
labels = [v.find("head/label").get("value") for v in analysis if v.find("head/label") is not None]
check(len(labels) > 5 and not any(":" in label for label in labels),
      f"no view has a colon, which Eclipse refuses: {labels}")
values = {v.get("name"): v.get("value") for v in provider.findall("definedValue")}
used = {v.get("value")[1:] for v in provider.iter("stateValue") if (v.get("value") or "").startswith("$")}
check(used == set(values), f"each of {len(values)} values is defined and used")
for view in (*analysis.findall("timeGraphView"), *analysis.findall("xyView")):
    check(all(values[v.get("name")] == v.get("value") for v in view.findall("definedValue")),
          f"{view.get('id')}: its values are those of the state system")
    for entry in view.findall("entry"):
        top = entry.get("path").split("/")[0]
        shown = [d.get("value") for d in entry.findall("display") if d.get("type") == "constant"]
        shown += [inner.get("path") for inner in entry.findall("entry")]
        check(shown and all((top, name) in attributes for name in shown), f"{view.get('id')} shows {top}: {shown}")
