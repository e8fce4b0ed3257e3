"""The how-to pages are followed: their code is taken from the page and must keep the contract it promises."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings, strategies as st

from plait.agents.interface import Agent, AgentSpec, CostReporting
from plait.agents.table import AGENTS, AgentInfo, AgentLogin
from plait.core.settings import Spend
from plait.sources import formats
from plait.sources.source_model import Document, SourceFiles, SourceStatus
from plait.testing.contracts import agent as agent_contract, source_format

DOCS = Path(__file__).parents[2] / "docs"
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def read_blocks(page: str) -> list[str]:
    return PYTHON_BLOCK.findall((DOCS / page).read_text())


def load_module(name: str, code: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(code, name, "exec"), module.__dict__)
    return module


OUTLINE = "* TODO Lay the floor\nOak.\n** DONE Draw the plan\n* TODO Lay the floor\n* Notes\n"
ORG = source_format.FormatUnderTest("plait.sources.formats.org", "TODO.org")


@pytest.fixture(scope="module")
def org_format() -> Iterator[None]:
    load_module(ORG.format, read_blocks("adding-a-format.md")[0])
    yield
    del sys.modules[ORG.format]


@pytest.mark.usefixtures("org_format")
def test_headlines_are_tasks_with_their_text_and_status() -> None:
    entries = ORG.read(OUTLINE).entries
    assert [(entry.task.id, entry.status) for entry in entries] == [
        ("lay-the-floor", SourceStatus.TODO),
        ("draw-the-plan", SourceStatus.DONE),
        ("lay-the-floor-2", SourceStatus.TODO),
    ]
    assert entries[0].task.body == "Oak."


@pytest.mark.usefixtures("org_format")
def test_the_row_finds_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = eval(f"{{{read_blocks('adding-a-format.md')[1]}}}", {"FormatEntry": formats.FormatEntry}).values()
    monkeypatch.setattr(formats, "FORMATS", {**formats.FORMATS, "org": row})
    assert formats.detect_format(SourceFiles("TODO.org", (Document("TODO.org", OUTLINE),)))[0] == "org"


@pytest.mark.usefixtures("org_format")
def test_a_folder_of_the_format_is_a_problem() -> None:
    documents = (Document("a.md", ""), Document("b.md", ""))
    assert ORG.module.read(SourceFiles("folder", documents, folder=True)).problems


@pytest.mark.usefixtures("org_format")
@settings(max_examples=40)
@given(
    text=source_format.mangled_texts(st.just(OUTLINE)), index=st.integers(0, 3), status=st.sampled_from(SourceStatus)
)
def test_the_format_keeps_the_contract(text: str, index: int, status: SourceStatus) -> None:
    source_format.check_any_text(ORG, text)
    source_format.check_lossless(ORG, text)
    source_format.check_status_change(ORG, text, index, status)


class TestAddingAnAgent(agent_contract.AgentContract):
    name = "how_to.echo"

    @pytest.fixture
    def agent(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
        entry, driver = read_blocks("adding-an-agent.md")
        info = eval(entry, {"AgentInfo": AgentInfo, "AgentLogin": AgentLogin, "CostReporting": CostReporting})
        monkeypatch.setattr("plait.agents.table.AGENTS", {**AGENTS, info.name: info})
        yield load_module(self.name, driver).Echo(AgentSpec(info.name))
        del sys.modules[self.name]

    @pytest.fixture
    def success(self) -> Sequence[Mapping[str, object]]:
        return (
            {"type": "session", "id": "5f0c"},
            {"type": "tool", "name": "write_file", "input": {"path": "a.py"}},
            {"type": "usage", "input": 1000, "output": 20},
            {"type": "done"},
        )

    def test_it_reports_its_session_and_what_it_used(self, agent: Agent, success: Sequence[object]) -> None:
        parsed = agent_contract.parse_output(agent, success)
        assert parsed.sessions == ["5f0c"]
        assert parsed.spends == [Spend(0, 1020)]
