"""The forges that plait knows, and which of them a host belongs to."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from plait.config.git_keys import ForgeKind
from plait.forges.forge import Forge, RepoAddress
from plait.forges.interfaces import ForgeError


@cache
def load_forges() -> dict[ForgeKind, Forge]:
    """Every kind in the settings is implemented by the module of that name, whose FORGE is a Forge."""
    return {kind: import_module(f"plait.forges.{kind.value}").FORGE for kind in ForgeKind if kind is not ForgeKind.AUTO}


def find_forge(address: RepoAddress, kind: ForgeKind = ForgeKind.AUTO) -> Forge:
    """The forge at this address. `kind` comes from the settings and decides only for hosts that plait doesn't know."""
    forges = load_forges()
    known = next((forge for forge in forges.values() if _is_known_host(address.host, forge)), None)
    chosen = forges.get(kind)
    if known is not None and chosen not in {None, known}:
        raise ForgeError(f"{address.host} is a {known.kind} host, not {kind}", hint="Leave pr.forge unset.")
    host_words = re.split(r"[.-]", address.host)
    by_name = (forge for word in host_words for forge in forges.values() if word in forge.host_words)
    forge = known or chosen or next(by_name, None)
    if forge is None:
        raise ForgeError(
            f"can't tell what kind of forge {address.host} is", hint=f"Set pr.forge to one of: {', '.join(forges)}."
        )
    if not forge.has_nested_groups and address.path.count("/") != 1:
        raise ForgeError(f"{address.path} isn't a repository name on {address.host}: it should be OWNER/NAME")
    return forge


def _is_known_host(host: str, forge: Forge) -> bool:
    return any(host == name or (name.startswith(".") and host.endswith(name)) for name in forge.hosts)
