# SPDX-License-Identifier: MIT
"""The figures of `magnet report --json` as objects, by the names of report.schema.json."""
from typing import Any, Dict, Iterator, Mapping


def wrap(value: Any) -> Any:
    """Return objects and lists of JSON with their members as attributes."""
    if isinstance(value, dict):
        return Figures(value)
    if isinstance(value, list):
        return [wrap(v) for v in value]
    return value


class Figures(Mapping[str, Any]):
    """An object of the report: `figures.flows[0].modulation.M`, or with ["M"].

    A figure that is not known is None. magnet-figures(5) lists and explains all of them.
    """

    def __init__(self, json: Dict[str, Any]) -> None:
        self.json = json

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "json":
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no figure {name} here; there are {', '.join(self.json)}") from None

    def __getitem__(self, name: str) -> Any:
        return wrap(self.json[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def __dir__(self) -> Any:
        return [*super().__dir__(), *self.json]

    def __repr__(self) -> str:
        return f"<magnet figures: {', '.join(self.json)}>"
