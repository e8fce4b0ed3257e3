from __future__ import annotations

import errno
import os
import re
import string
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given, settings, strategies as st

from plait.client.api_errors import FieldError, StateError
from plait.core.errors import WorldError
from plait.core.plan import Severity
from tests.support.task_files import Checkout

# What people type, and what they should not: no lone surrogates, which JSON can't carry to us.
ANY = st.text(st.characters(codec="utf-8"), max_size=60)
SPICE = st.text(st.sampled_from("#-: '\"`*_[]{}|>&!%@\\\n\t~aé中🦊א\u202e"), max_size=40)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")

NOBODY = 65534  # who owns nothing


class TestTaskFile:
    def test_the_first_task_creates_the_folder(self, checkout: Checkout) -> None:
        made = checkout.create("Build the walls", body="With bricks.\n")
        assert (made.id, made.file) == ("01-build-the-walls", "tasks/01-build-the-walls.md")
        assert checkout.text(made.file) == "# Build the walls\n\nWith bricks.\n"
        assert made.problems == ()

    def test_every_field_is_read_back(self, checkout: Checkout) -> None:
        checkout.create("Walls")
        made = checkout.create(
            "Roof: the top",
            body="Tiles.",
            needs=["01-walls"],
            touches=["src/roof.py", "docs/"],
            phase="2",
            priority="high",
            weight=4,
            agent="claude",
            model="large",
            verify="make test",
        )
        task = made.located.entry.task
        assert (task.title, [need.on for need in task.needs]) == ("Roof: the top", ["01-walls"])
        assert (task.touches, task.phase, task.priority, task.weight) == (
            ("src/roof.py", "docs/"),
            "2",
            0,
            4.0,
        )
        assert (task.agent, task.model, task.verify) == ("claude", "large", "make test")

    def test_a_task_may_be_a_script(self, checkout: Checkout) -> None:
        script = "set -e\necho '---'\n---\nif true; then\n  echo: \"yes\"\nfi"
        task = checkout.create("Run it", run=script).located.entry.task
        assert (task.run, task.agent) == (script, "shell")

    def test_a_body_that_begins_with_the_title_has_it_once(self, checkout: Checkout) -> None:
        made = checkout.create("Walls", body="# Walls\n\nOf brick.\n")
        assert checkout.text(made.file) == "# Walls\n\nOf brick.\n"

    @pytest.mark.parametrize("title", ["Task 4: walls", "C #", "# #", "---", "yes", "null", "  a\nb\t c "])
    def test_a_title_that_a_heading_can_not_hold_is_read_back(self, checkout: Checkout, title: str) -> None:
        assert checkout.create(title).located.entry.task.title == " ".join(title.split())

    @pytest.mark.parametrize("body", ["---\na: b\n---\n\ntext\n", "...\n", "    code\n", "- [ ] 1.1 x\n", "```\n# a\n"])
    def test_a_body_that_looks_like_something_else_is_read_back(self, checkout: Checkout, body: str) -> None:
        made = checkout.create("Walls", body=body, agent="claude")
        assert checkout.task(made.id)["body"] == body

    def test_crlf_becomes_lf(self, checkout: Checkout) -> None:
        made = checkout.create("Walls", body="one\r\ntwo\r\n")
        assert checkout.text(made.file) == "# Walls\n\none\ntwo\n"

    @settings(max_examples=60)
    @given(ANY | SPICE, ANY | SPICE)
    def test_any_draft_is_read_back_or_refused_with_its_field(self, title: str, body: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            checkout = Checkout.at(Path(folder))
            try:
                made = checkout.create(title, body=body)
            except FieldError as refused:
                wrong = {"title": title, "body": body}[refused.field]
                assert not wrong.strip() or CONTROL.search(wrong)
                assert checkout.files == []
                return
            result = checkout.task(made.id)
            assert result["title"] == " ".join(title.split())
            assert re.fullmatch(r"tasks/[a-z0-9-]{1,60}\.md", made.file)
            mine = str(result["body"]).strip()
            assert mine == body.replace("\r\n", "\n").replace("\r", "\n").strip() or f"# {result['title']}" in body

    @settings(max_examples=60)
    @given(st.lists(SPICE | ANY, min_size=1, max_size=3), SPICE)
    def test_needs_and_touches_of_any_letters_are_read_back_or_refused(self, items: list[str], command: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            checkout = Checkout.at(Path(folder))
            try:
                made = checkout.create("Walls", needs=items, touches=items, verify=command)
            except FieldError:
                assert checkout.files == []
                return
            task = made.located.entry.task
            assert [need.on for need in task.needs] == list(dict.fromkeys(items))
            assert list(task.touches) == list(dict.fromkeys(items))
            assert task.verify == (command.strip() or None)


class TestFileName:
    @pytest.mark.parametrize(
        ("there", "name"),
        [
            (["01-a.md", "02-b.md"], "03-new-walls"),
            (["001-a.md", "009-b.md", "README.md"], "010-new-walls"),
            (["9-a.md", "10-b.md"], "11-new-walls"),
            (["task-01-a.md"], "02-new-walls"),
            (["1_a.md"], "2_new-walls"),
            (["walls.md", "roof.md"], "new-walls"),
            (["new-walls.md"], "new-walls-2"),
            (["2026-01-02-notes.md"], "new-walls"),
            (["PHASES.md", "README.md", "_x.md"], "01-new-walls"),
        ],
    )
    def test_the_name_follows_the_style_of_the_folder(self, checkout: Checkout, there: list[str], name: str) -> None:
        for file in there:
            checkout.write(f"tasks/{file}", "# A task\n\nText.\n")
        assert checkout.create("New walls").id == name

    @pytest.mark.parametrize(
        "title",
        ["../../etc/passwd", "/etc/passwd", "con", ".hidden", "_aside", "readme", "PHASES", "a" * 200, "..", "--help",
         "中文", "\u202egnp.exe", "$(rm -rf /)", "a\\..\\b", "~root"],
    )  # fmt: skip
    def test_the_name_is_ascii_for_any_title(self, checkout: Checkout, title: str) -> None:
        checkout.write("tasks/plain.md", "# A\n\nText.\n")  # no numbers here, so the title is all of the name
        made = checkout.create(title)
        assert made.located.entry.task.title == title
        letters = set(string.ascii_lowercase + string.digits + "-")
        stem = Path(made.file).stem
        assert set(stem) <= letters
        assert len(stem) < 60
        assert checkout.files == sorted(["tasks/plain.md", made.file])
        assert Path(made.file).parent == Path("tasks")

    def test_the_name_is_never_another_tasks_id(self, checkout: Checkout) -> None:
        checkout.write("tasks/walls.md", "---\nid: new-walls\n---\n# A\n")
        made = checkout.create("New walls")
        assert made.id == "new-walls-2"
        assert len(checkout.tasks()) == 2


class TestTaskFolder:
    def test_the_folder_of_the_settings_is_used(self, checkout: Checkout) -> None:
        checkout.write("plait.toml", '[sources]\npaths = ["TODO.md", "work/items"]\n')
        checkout.write("TODO.md", "### 1. A\n**Status**: open\n")
        assert checkout.create("Walls").file == "work/items/01-walls.md"

    def test_the_folder_of_a_pattern_in_the_settings_is_used(self, checkout: Checkout) -> None:
        checkout.write("plait.toml", '[sources]\npaths = ["work/*.md"]\n')
        assert checkout.create("Walls").file == "work/01-walls.md"

    def test_the_discovered_folder_is_used(self, checkout: Checkout) -> None:
        checkout.write("docs/tasks/01-a.md", "# A\n")
        assert checkout.create("Walls").file == "docs/tasks/02-walls.md"

    def test_a_folder_is_created_beside_sources_of_other_formats(self, checkout: Checkout) -> None:
        checkout.write(
            "TODO.md", "### 1. Dig\n\n**Status**: [NOT STARTED]\n\n### 2. Fill\n\n**Status**: [NOT STARTED]\n"
        )
        made = checkout.create("Walls", needs=["1"])
        assert made.file == "tasks/01-walls.md"
        assert [need.on for need in made.located.entry.task.needs] == ["1"]
        assert [task["id"] for task in checkout.tasks()] == ["01-walls", "1", "2"]

    def test_a_need_means_the_task_of_that_id_though_a_file_here_begins_like_it(self, checkout: Checkout) -> None:
        checkout.write(
            "TODO.md", "### 1. Dig\n\n**Status**: [NOT STARTED]\n\n### 2. Fill\n\n**Status**: [NOT STARTED]\n"
        )
        checkout.write("tasks/1-floor.md", "# Floor\n")
        made = checkout.create("Walls", needs=["1", "1-floor"])
        assert [need.on for need in made.located.entry.task.needs] == ["1", "1-floor"]
        assert made.problems == ()

    def test_settings_without_a_folder_are_refused_with_a_hint(self, checkout: Checkout) -> None:
        checkout.write("plait.toml", '[sources]\npaths = ["TODO.md"]\n')
        checkout.write("TODO.md", "- [ ] Dig\n")
        with pytest.raises(StateError, match=r"the sources are TODO\.md, and none is a folder"):
            checkout.create("Walls")
        assert checkout.files == ["TODO.md"]

    def test_a_folder_outside_of_the_checkout_is_refused(
        self, checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside")
        (checkout.top / "tasks").symlink_to(outside)
        (outside / "01-a.md").write_text("# A\n")
        with pytest.raises(StateError, match="none is a folder in this checkout"):
            checkout.create("Walls")
        assert [path.name for path in outside.iterdir()] == ["01-a.md"]

    @pytest.mark.parametrize("name", [".git/tasks", ".plait/tasks", "../other"])
    def test_folders_of_git_and_plait_are_refused(self, checkout: Checkout, name: str) -> None:
        checkout.write("plait.toml", f'[sources]\npaths = ["{name}"]\n')
        with pytest.raises(StateError):
            checkout.create("Walls")
        assert checkout.files == []

    def test_the_folder_may_be_a_link_within_the_checkout(self, checkout: Checkout) -> None:
        checkout.write("docs/work/01-a.md", "# A\n")
        (checkout.top / "tasks").symlink_to("docs/work")
        assert checkout.create("Walls").file == "tasks/02-walls.md"
        assert checkout.text("docs/work/02-walls.md") == "# Walls\n"


class TestRefused:
    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"title": None}, "title"),
            ({"title": ""}, "title"),
            ({"title": " \n\t"}, "title"),
            ({"title": "a" * 10_000}, "title"),
            ({"title": "a\x1b[31mb"}, "title"),
            ({"title": "a\ud800"}, "title"),
            ({"body": "a\0b"}, "body"),
            ({"body": "x" * 1_000_001}, "body"),
            ({"needs": [""]}, "needs"),
            ({"needs": ["a\nb"]}, "needs"),
            ({"needs": ["none"]}, "needs"),
            ({"needs": [str(number) for number in range(501)]}, "needs"),
            ({"touches": ["`"]}, "touches"),
            ({"agent": "a\nb"}, "agent"),
            ({"agent": "a" * 201}, "agent"),
            ({"priority": "someday"}, "priority"),
            ({"weight": "heavy"}, "weight"),
            ({"weight": -1}, "weight"),
            ({"verify": "yes"}, "verify"),
            ({"text": "# A\n"}, "text"),
        ],
    )  # fmt: skip
    def test_an_invalid_field_is_named(self, checkout: Checkout, said: dict[str, object], field: str) -> None:
        with pytest.raises(FieldError) as refused:
            checkout.create(**({"title": "Walls"} | said))  # type: ignore[arg-type]
        assert refused.value.field == field
        assert checkout.files == []
        assert not (checkout.top / "tasks").exists()

    def test_a_need_that_the_text_also_names_is_refused(self, checkout: Checkout) -> None:
        checkout.create("One")
        checkout.create("Two")
        with pytest.raises(FieldError, match=r"02-two is also set in another place \(tasks/03-three.md:"):
            checkout.create("Three", body="**Depends on:** 02-two\n", needs=["01-one"])
        assert len(checkout.files) == 2

    def test_a_file_that_the_settings_exclude_is_removed_again(self, checkout: Checkout) -> None:
        checkout.write("plait.toml", '[sources]\nexclude = ["*walls*"]\n')
        checkout.write("tasks/01-a.md", "# A\n")
        with pytest.raises(FieldError, match=r"tasks/02-walls\.md is not read as a task"):
            checkout.create("Walls")
        assert checkout.files == ["tasks/01-a.md"]

    def test_a_folder_of_another_format_is_refused(self, checkout: Checkout) -> None:
        checkout.write("tasks/1.md", "---\nname: A\nstatus: open\nparallel: true\nconflicts_with: []\n---\n# A\n")
        with pytest.raises(FieldError, match="all of tasks would be read in the format ccpm"):
            checkout.create("Walls")
        assert checkout.files == ["tasks/1.md"]


class TestProblems:
    def test_an_unknown_need_is_reported(self, checkout: Checkout) -> None:
        (result,) = checkout.create("Walls", needs=["nobody"]).problems
        assert result.severity is Severity.INFO
        assert result.message == "01-walls needs nobody, which is not in any source: assumed finished"

    def test_a_cycle_closed_by_the_new_task_is_reported(self, checkout: Checkout) -> None:
        checkout.write("tasks/01-a.md", "---\nneeds: [02-walls]\n---\n# A\n")
        problems = checkout.create("Walls", needs=["01-a"]).problems
        assert [problem.severity for problem in problems] == [Severity.ERROR]
        assert "01-a → 02-walls → 01-a" in problems[0].message


class TestConcurrencyAndDisk:
    def test_concurrent_tasks_get_different_files_and_numbers(self, checkout: Checkout) -> None:
        titles = ["Walls", "Walls", "Roof", "Door"]
        barrier, made = Barrier(len(titles)), []

        def work(title: str) -> None:
            barrier.wait(30)
            made.append(checkout.create(title).file)

        threads = [Thread(target=work, args=(title,)) for title in titles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [Path(file).name[:3] for file in sorted(made)] == ["01-", "02-", "03-", "04-"]
        assert checkout.files == sorted(made)

    def test_two_processes_get_different_files_and_numbers(self, checkout: Checkout) -> None:
        code = (
            "import sys; from pathlib import Path; from tests.support.task_files import Checkout\n"
            "print(Checkout.at(Path(sys.argv[1])).create('Walls').file)"
        )
        begun = [
            subprocess.Popen([sys.executable, "-c", code, str(checkout.top)], stdout=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        result = [process.communicate(timeout=60)[0].strip() for process in begun]
        assert sorted(result) == [f"tasks/0{number}-walls.md" for number in range(1, 4)]

    def test_an_unwritable_folder_is_reported(self, checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(checkout.top.parent))  # root's own is for root alone
        checkout.create("Floor")  # what is imported meanwhile is in nobody's reach later
        for folder in (checkout.top, *checkout.top.parents[:3]):
            folder.chmod(folder.stat().st_mode | 0o055)
        (checkout.top / "tasks").chmod(0o555)
        root = os.geteuid() == 0
        if root:  # whom nothing is forbidden
            os.seteuid(NOBODY)
        try:
            with pytest.raises(WorldError, match=r"no task file could be made in .*tasks: Permission denied"):
                checkout.create("Walls")
        finally:
            if root:
                os.seteuid(0)
            (checkout.top / "tasks").chmod(0o700)
        assert checkout.files == ["tasks/01-floor.md"]

    def test_a_full_disk_leaves_nothing_behind(self, checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(WorldError, match="No space left on device"):
            checkout.create("Walls")
        assert checkout.files == []
        assert not (checkout.top / "tasks").exists()

    def test_a_file_with_the_name_of_the_folder_is_reported(self, checkout: Checkout) -> None:
        checkout.write("tasks", "not a folder\n")
        with pytest.raises(StateError, match="none is a folder"):
            checkout.create("Walls")
        assert checkout.text("tasks") == "not a folder\n"
