"""What tells doses apart besides their values: the route, the form, the release, the time of the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.rules.values.times import OFTEN
from semece.judges.rules.values.units import DOSED
from semece.judges.rules.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semece.judges.rules.items import Item

    Regimen = Mapping[str, frozenset[str]]

_KINDS = ("routes", "dose_forms", "releases", "dayparts")


def regimen(items: Iterable[Item]) -> Regimen:
    """Collect what words say of how a dose is given, by kind."""
    keys = frozenset(item.key for item in items if item.value is None)
    return {kind: found for kind in _KINDS if (found := keys & vocabulary(kind))}


def is_dose(items: Iterable[Item]) -> bool:
    """Whether a phrase gives a dose, or how often it is given."""
    units = {getattr(item.value, "unit", None) for item in items}
    return any(unit == OFTEN or unit.dimension.split(" ")[0] in DOSED for unit in units if unit is not None)


def clash(one: Regimen, other: Regimen) -> bool:
    """Whether two regimens exclude each other: intravenous and oral, a cream and an ointment."""
    return any(one[kind].isdisjoint(other[kind]) for kind in one.keys() & other.keys())
