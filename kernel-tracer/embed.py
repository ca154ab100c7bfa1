#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a file as a C array: embed.py INPUT OUTPUT NAME"""
import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as f:
    data = f.read()
rows = [",".join(str(b) for b in data[i : i + 32]) for i in range(0, len(data), 32)]
with open(target, "w") as f:
    f.write(f"const unsigned char {name}[] __attribute__((aligned(8))) = {{\n")
    f.write(",\n".join(rows))
    f.write(f"}};\nconst unsigned int {name}_size = sizeof({name});\n")
