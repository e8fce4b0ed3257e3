"""The settings of agents."""

from __future__ import annotations

from plait.config import kinds
from plait.config.choices import Permission
from plait.config.key import AnyKey, Key

AGENTS: tuple[AnyKey, ...] = (
    Key(
        "agents.models",
        kinds.named_texts("agents", "a model"),
        (),
        "the model that each agent uses, for tasks that name none",
    ),
    Key(
        "agents.args",
        kinds.named_words("agents"),
        (),
        "further words for each agent's command line",
        runs=bool,
    ),
    Key(
        "agents.programs",
        kinds.named_texts("agents", "a program"),
        (),
        "what is run for each agent, in the place of its usual program",
        runs=bool,
    ),
    Key(
        "agents.permissions",
        kinds.named_choices("agents", Permission),
        (),
        "what each agent may do unasked: everything (full), change files only (edits), what its own settings say (own)",
        runs=lambda _: True,  # whatever it says, it takes the place of what a person allowed
    ),
    Key(
        "agents.accounts",
        kinds.named_texts("agents", "an account's name"),
        (),
        "whose rate limits each agent runs into; agents with the same account are held back together",
    ),
    Key(
        "agents.prices",
        kinds.prices(),
        (),
        "what models cost, by pattern of their names, for agents that tell only their tokens",
    ),
    Key(
        "agents.replies",
        kinds.texts("an agent's name or a list of names", split=True),
        (),
        "agents that write no files themselves: plait applies what they answer (FILE: path, and a fence)",
    ),
)
