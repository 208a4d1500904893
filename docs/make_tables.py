"""Bring the pages of services, formats and datasets up to date with their tables: ``python docs/make_tables.py``.

A service, format or dataset that is new gets its row, a service its section too. What else is said is written by hand.
"""

import re
from pathlib import Path

from semece.datasets import BENCHMARKS
from semece.formats import FORMATS
from semece.models import PROVIDERS
from semece.models.services import Service

FOLDER = Path(__file__).parent
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


def providers(page: str) -> str:
    """Write the page of services anew."""
    services = documented()
    lines = ["| service | key | choices per request | batches |", "| :-- | :-- | --: | :-- |"]
    lines += [row(words, service) for words, service in services.values()]
    head, _, rest = page.partition("| service |")
    rest = rest[rest.index(SHARED) :]
    for title, (words, service) in services.items():
        if f"\n## {title}\n" not in rest:
            rest = rest.replace(LAST, section(words[0], service) + LAST)
    return head + "\n".join(lines) + "\n\n" + rest


def with_rows(page: str, rows: dict[str, str]) -> str:
    """Add the rows that the first table of a page lacks, at its end."""
    head, mark, rest = page.partition("| :-- |")
    table, blank, tail = rest.partition("\n\n")
    missing = [row for name, row in rows.items() if f"\n| `{name}` |" not in table]
    return head + mark + "\n".join([table, *missing]) + blank + tail


def formats(page: str) -> str:
    """Write the page of formats anew."""
    return with_rows(page, {name: f"| `{name}` | {each.what} | | |" for name, each in FORMATS.items()})


def datasets(page: str) -> str:
    """Write the page of datasets anew."""
    rows = {
        name: f"| `{name}` | {each.count:,} | | | {each.licence} | {each.about} |" for name, each in BENCHMARKS.items()
    }
    return with_rows(page, rows)


PAGES = {"providers.md": providers, "formats.md": formats, "datasets.md": datasets}


def main() -> None:
    """Write every page."""
    for name, write in PAGES.items():
        page = FOLDER / name
        page.write_text(write(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
