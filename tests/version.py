# SPDX-License-Identifier: MIT
"""Test that the packages and CHANGELOG.md have the version of meson.build. Usage: version.py SOURCE-ROOT VERSION"""
import re
import sys

ROOT, VERSION = sys.argv[1:]
PLACES = {"debian/changelog": r"^magnet \((.*?)\)", "packaging/magnet.spec": r"^Version: *(\S+)$",
          "python/pyproject.toml": r'^version = "(.*)"$', "CHANGELOG.md": r"^## (\S+)"}

wrong = 0
for path, pattern in PLACES.items():
    with open(f"{ROOT}/{path}", encoding="utf-8") as f:
        found = re.search(pattern, f.read(), re.M)
    if not found or found[1] != VERSION:
        print(f"{path}: version {found[1] if found else 'not found'}, and meson.build has {VERSION}")
        wrong += 1
sys.exit(wrong > 0)
