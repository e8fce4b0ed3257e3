"""The settings of agents."""

from __future__ import annotations

from plait.config import value_types
from plait.config.key import AnyKey, Key
from plait.config.key__choices import PermissionChoice

AGENTS_KEYS: tuple[AnyKey, ...] = (
    Key(
        "agents.models",
        value_types.text_table("agents", "a model"),
        (),
        "the model that each agent uses, for tasks that name none",
    ),
    Key(
        "agents.args",
        value_types.args_table("agents"),
        (),
        "further words for each agent's command line",
        runs_code=bool,
    ),
    Key(
        "agents.programs",
        value_types.text_table("agents", "a program"),
        (),
        "what is run for each agent, in the place of its usual program",
        runs_code=bool,
    ),
    Key(
        "agents.permissions",
        value_types.choice_table("agents", PermissionChoice),
        (),
        "what each agent may do unasked: everything (full), change files only (edits), what its own settings say (own)",
        runs_code=lambda _: True,  # whatever it says, it takes the place of what a person allowed
    ),
    Key(
        "agents.accounts",
        value_types.text_table("agents", "an account's name"),
        (),
        "whose rate limits each agent runs into; agents with the same account are held back together",
    ),
    Key(
        "agents.prices",
        value_types.price_table(),
        (),
        "what models cost, by pattern of their names, for agents that tell only their tokens",
    ),
    Key(
        "agents.replies",
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents that write no files themselves: plait applies what they answer (FILE: path, and a fence)",
    ),
)
