"""Bring docs/providers.md up to date with the table of services: ``python docs/make_providers.py``.

The table is written from the rows, and a service without a section gets one. What sections say is written by hand.
"""

import re
from pathlib import Path

from semece.models import PROVIDERS
from semece.models.services import Service

PAGE = Path(__file__).with_name("providers.md")
SHARED = "## What holds for all of them"
LAST = "## Batches"


def documented() -> dict[str, tuple[list[str], Service]]:
    """Group the services by title: several words may share a section; the fake ones have none."""
    found: dict[str, tuple[list[str], Service]] = {}
    for word, service in PROVIDERS.items():
        if service.adapter != "fake":
            found.setdefault(service.title, ([], service))[0].append(word)
    # what runs here comes last
    return dict(sorted(found.items(), key=lambda item: item[1][1].runs_here))


def row(words: list[str], service: Service) -> str:
    """Write the line of a service in the table."""
    anchor = re.sub(r"[^\w-]", "", service.title.lower().replace(" ", "-"))
    needed = service.cost != "free"
    key = " or ".join(f"`{name}`" for name in service.keys) if service.keys and needed else "none"
    batches = "yes" if service.batches else "no"
    if service.spelled == "SERVICE/NAME":
        batches = "if it has them as OpenAI does"
    return f"| [{', '.join(f'`{word}`' for word in words)}](#{anchor}) | {key} | {service.choices} | {batches} |"


def section(word: str, service: Service) -> str:
    """Write the section of a service of which there is no more to say."""
    install = [f"    pip install 'semece[{service.extra}]'"] if service.extra else []
    key = [f"    export {service.keys[0]}=..."] if service.keys else []
    run = f"    semece run --model {word}/{service.example} --dataset starter --judge rules"
    return "\n".join([f"## {service.title}", "", *install, *key, run, "", ""])


def text(page: str) -> str:
    """Write the page anew."""
    services = documented()
    lines = ["| service | key | choices per request | batches |", "| :-- | :-- | --: | :-- |"]
    lines += [row(words, service) for words, service in services.values()]
    head, _, rest = page.partition("| service |")
    rest = rest[rest.index(SHARED) :]
    for title, (words, service) in services.items():
        if f"\n## {title}\n" not in rest:
            rest = rest.replace(LAST, section(words[0], service) + LAST)
    return head + "\n".join(lines) + "\n\n" + rest


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
