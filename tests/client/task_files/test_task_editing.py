from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given, settings, strategies as st

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.config.keys import KEYS_BY_NAME
from plait.core.errors import UserError
from plait.core.plan import Severity
from plait.system.status_files import SourceWriteError
from tests.support.task_files import Checkout

TASK = """\
---
# what others should know
owner: ann   # asks questions
needs:
  - 01-a  # first
  - 02-b
agent: claude  # the good one
x-odd: {deep: [1, {a: b}]}
files: src/a.py
---

# Walls

Of brick.

## Notes
As tall as they get.
"""


@pytest.fixture
def walls(checkout: Checkout) -> Checkout:
    checkout.write("tasks/01-a.md", "# A\n\nText.\n")
    checkout.write("tasks/02-b.md", "# B\n\nText.\n")
    checkout.write("tasks/03-walls.md", TASK)
    return checkout


class TestUnchangedText:
    def test_a_new_title_changes_only_the_heading(self, walls: Checkout) -> None:
        walls.edit("03-walls", title="High walls")
        assert walls.text("tasks/03-walls.md") == TASK.replace("# Walls", "# High walls")

    def test_a_new_body_changes_only_the_body(self, walls: Checkout) -> None:
        saved = walls.edit("03-walls", body="Of stone.\n\n---\n\nThick.")
        expected = TASK.replace("Of brick.\n\n## Notes\nAs tall as they get.\n", "Of stone.\n\n---\n\nThick.\n")
        assert walls.text("tasks/03-walls.md") == expected
        assert walls.task(saved.id)["title"] == "Walls"

    def test_a_new_agent_keeps_the_comment_beside_it(self, walls: Checkout) -> None:
        walls.edit("03-walls", agent="codex")
        assert walls.text("tasks/03-walls.md") == TASK.replace("claude", "codex")

    def test_needs_written_as_lines_are_replaced(self, walls: Checkout) -> None:
        walls.edit("03-walls", needs=["02-b"])
        expected = TASK.replace("needs:\n  - 01-a  # first\n  - 02-b\n", "needs: [02-b]\n")
        assert walls.text("tasks/03-walls.md") == expected

    def test_an_empty_value_removes_its_key(self, walls: Checkout) -> None:
        task = walls.edit("03-walls", needs=[], agent="", touches=[]).located.entry.task
        assert (task.needs, task.agent, task.touches) == ((), None, ())
        assert walls.text("tasks/03-walls.md").startswith(
            "---\n# what others should know\nowner: ann   # asks questions\nx-odd: {deep: [1, {a: b}]}\n---\n"
        )

    def test_an_alias_of_a_key_is_changed(self, walls: Checkout) -> None:
        walls.edit("03-walls", touches=["src/b.py"])
        assert walls.text("tasks/03-walls.md") == TASK.replace("files: src/a.py", "files: [src/b.py]")

    def test_new_keys_follow_the_old_ones(self, walls: Checkout) -> None:
        walls.edit("03-walls", priority="P0", run="make walls\nmake roof")
        added = "files: src/a.py\npriority: P0\nrun: |-\n  make walls\n  make roof\n"
        assert walls.text("tasks/03-walls.md") == TASK.replace("files: src/a.py\n", added)

    def test_line_ends_byte_order_mark_and_mode_are_kept(self, walls: Checkout) -> None:
        data = b"\xef\xbb\xbf" + TASK.replace("\n", "\r\n").encode()
        path = walls.write("tasks/03-walls.md", data)
        path.chmod(0o750)
        walls.edit("03-walls", title="Roof", body="a\nb\n", agent="codex", phase="2")
        now = path.read_bytes()
        assert now.startswith(b"\xef\xbb\xbf---\r\n")
        assert now.count(b"\n") == now.count(b"\r\n")
        assert b"# Roof\r\n\r\na\r\nb\r\n" in now
        assert path.stat().st_mode & 0o777 == 0o750

    def test_bytes_that_are_not_utf8_are_kept(self, walls: Checkout) -> None:
        data = TASK.replace("brick", "br\u00fcck").encode("latin-1")
        path = walls.write("tasks/03-walls.md", data)
        walls.edit("03-walls", agent="codex")
        assert path.read_bytes() == data.replace(b"claude", b"codex")
        with pytest.raises(FieldError, match="bytes that are not UTF-8") as refused:
            walls.edit("03-walls", body="Of stone.")
        assert refused.value.field == "body"

    def test_an_edit_that_changes_nothing_writes_nothing(self, walls: Checkout) -> None:
        path = walls.top / "tasks/03-walls.md"
        before, result = path.stat(), walls.task("03-walls")
        walls.edit("03-walls", title="Walls", body=result["body"], agent="claude")
        walls.edit("03-walls", text=result["text"])
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


class TestTitles:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("# Walls\n\nText.\n", "# Roof\n\nText.\n"),
            ("Walls\n=====\n\nText.\n", "# Roof\n\nText.\n"),
            ("Text.\n", "# Roof\n\nText.\n"),
            ("Text first.\n\n# Walls\n\nMore.\n", "Text first.\n\n# Roof\n\nMore.\n"),
            ("---\ntitle: Walls\n---\nText.\n", "---\ntitle: Roof\n---\nText.\n"),
            ("---\ntitle: 'Walls' # x\n---\n# Walls\n", "---\ntitle: Roof # x\n---\n# Roof\n"),
            ("---\ntitle: Walls\n---\n# Another\n", "---\ntitle: Roof\n---\n# Another\n"),
            ("# Walls", "# Roof"),
            ("\ufeff# Walls\n", "\ufeff# Roof\n"),
            ("\ufeffText.\n", "\ufeff# Roof\n\nText.\n"),
            ("```\n# Walls\n```\n", "# Roof\n\n```\n# Walls\n```\n"),
        ],
    )
    def test_the_title_is_changed_wherever_it_is(self, checkout: Checkout, before: str, after: str) -> None:
        checkout.write("tasks/01-walls.md", before)
        assert checkout.edit("01-walls", title="Roof").located.entry.task.title == "Roof"
        assert checkout.text("tasks/01-walls.md") == after

    def test_a_title_that_a_heading_can_not_hold_becomes_a_key(self, checkout: Checkout) -> None:
        checkout.write("tasks/01-walls.md", "# Walls\n\nText.\n")
        assert checkout.edit("01-walls", title="Task 7: C #").located.entry.task.title == "Task 7: C #"

    def test_a_body_may_begin_with_a_title(self, walls: Checkout) -> None:
        walls.edit("03-walls", body="# Roof\n\nTiles.\n")
        assert walls.task("03-walls")["title"] == "Roof"
        assert walls.text("tasks/03-walls.md").count("# Walls") == 0

    @pytest.mark.parametrize("before", ["Text.\n", "---\nagent: claude\n---\nText\n\n# Walls\n\nMore.\n"])
    def test_a_body_without_a_title_keeps_the_old_one(self, checkout: Checkout, before: str) -> None:
        checkout.write("tasks/walls.md", before)
        title = checkout.task("walls")["title"]
        checkout.edit("walls", body="---\nNew.\n---\n")
        assert checkout.task("walls")["title"] == title
        assert str(checkout.task("walls")["body"]).endswith("---\nNew.\n---\n")


class TestWholeText:
    def test_the_line_ends_of_the_file_are_kept(self, walls: Checkout) -> None:
        walls.write("tasks/03-walls.md", TASK.replace("\n", "\r\n"))
        walls.edit("03-walls", text="# Roof\n\nTiles.\n")
        assert walls.text("tasks/03-walls.md") == "# Roof\r\n\r\nTiles.\r\n"

    def test_the_text_may_change_the_id(self, walls: Checkout) -> None:
        saved = walls.edit("03-walls", text="---\nid: roof\n---\n# Roof\n")
        assert saved.id == "roof"
        assert saved.file == "tasks/03-walls.md"

    @pytest.mark.parametrize("text", ["", " \n", "---\na: [\n---\n# A\n", "a\0b"])
    def test_a_text_that_is_no_task_is_refused(self, walls: Checkout, text: str) -> None:
        with pytest.raises(FieldError) as refused:
            walls.edit("03-walls", text=text)
        assert refused.value.field == "text"
        assert walls.text("tasks/03-walls.md") == TASK

    def test_a_text_that_changes_the_format_of_the_folder_is_refused(self, walls: Checkout) -> None:
        text = "---\nid: task-1\ntitle: A\nstatus: To Do\nassignee: []\n---\n# A\n"
        with pytest.raises(FieldError, match="all of tasks would be read in the format backlog"):
            walls.edit("03-walls", text=text)
        assert walls.text("tasks/03-walls.md") == TASK

    def test_a_text_with_other_fields_is_refused(self, walls: Checkout) -> None:
        with pytest.raises(FieldError, match="text is the whole file"):
            walls.edit("03-walls", text="# A\n", title="B")


class TestOtherFormats:
    def test_a_backlog_task_is_edited(self, checkout: Checkout) -> None:
        text = "---\nid: task-1\ntitle: Walls\nstatus: To Do\nassignee: []\ndependencies: []\n---\n\n## Description\n\nText.\n"
        checkout.write("backlog/tasks/task-1 - Walls.md", text)
        checkout.write("backlog/tasks/task-2 - Roof.md", text.replace("task-1", "task-2").replace("Walls", "Roof"))
        saved = checkout.edit("task-2", title="High roof: tiles", needs=["task-1"])
        expected = (
            "---\nid: task-2\ntitle: 'High roof: tiles'\nstatus: To Do\nassignee: []\ndependencies: [task-1]\n---\n"
        )
        assert checkout.text(saved.file).startswith(expected)
        with pytest.raises(FieldError, match="files of the format backlog have no key for agent") as refused:
            checkout.edit("task-2", agent="claude")
        assert refused.value.field == "agent"

    @pytest.mark.parametrize(
        ("file", "text", "name"),
        [
            (
                "TODO.md",
                "### 1. Dig\n\n**Status**: [NOT STARTED]\n\n### 2. Fill\n\n**Status**: [NOT STARTED]\n",
                "1",
            ),
            ("prd.json", '{"userStories": [{"id": "1", "title": "Dig", "passes": false}]}', "1"),
        ],
    )
    def test_a_task_of_a_shared_file_is_edited_there(self, checkout: Checkout, file: str, text: str, name: str) -> None:
        checkout.write(file, text)
        with pytest.raises(StateError, match=f"1 is a part of {file}, and is edited there") as refused:
            checkout.edit(name, version="any", title="Fill")
        assert refused.value.state == "shared"
        (first, *_) = checkout.tasks()
        assert (first["editable"], first["notEditable"]) == (
            False,
            f"1 is a part of {file}, and is edited there",
        )
        assert checkout.task(name)["text"] is None


class TestRefused:
    @pytest.mark.parametrize("name", ["nobody", "../../etc/passwd", "", "tasks/03-walls.md", "\0", "x" * 10_000])
    def test_an_unknown_task_is_not_found(self, walls: Checkout, name: str) -> None:
        with pytest.raises(NotFoundError):
            walls.edit(name, version="any", title="A")

    def test_a_file_changed_meanwhile_is_not_overwritten(self, walls: Checkout) -> None:
        version = walls.version("tasks/03-walls.md")
        theirs = TASK.replace("brick", "stone")
        walls.write("tasks/03-walls.md", theirs)
        with pytest.raises(StateError, match="has changed since you opened it; nothing saved") as refused:
            walls.edit("03-walls", version, title="Roof")
        assert refused.value.state == "changed"
        assert walls.text("tasks/03-walls.md") == theirs

    def test_needs_that_the_text_also_names_are_refused(self, checkout: Checkout) -> None:
        checkout.write("tasks/01-a.md", "# A\n")
        text = "# Walls\n\n**Depends on:** 01-a\n\nText.\n"
        checkout.write("tasks/02-walls.md", text)
        with pytest.raises(FieldError, match=r"01-a is also set in another place \(tasks/02-walls\.md:3\)"):
            checkout.edit("02-walls", needs=[])
        assert checkout.text("tasks/02-walls.md") == text

    @pytest.mark.parametrize("front", ["{a: 1, agent: x}", "? agent\n: x", "agent: &a claude\nb: *a"])
    def test_front_matter_that_is_not_plain_lines_is_refused(self, checkout: Checkout, front: str) -> None:
        text = f"---\n{front}\n---\n# Walls\n"
        checkout.write("tasks/01-walls.md", text)
        with pytest.raises(StateError, match="not written in plain lines"):
            checkout.edit("01-walls", agent="codex")
        assert checkout.text("tasks/01-walls.md") == text
        checkout.edit("01-walls", title="Roof")
        assert checkout.text("tasks/01-walls.md") == text.replace("Walls", "Roof")

    def test_an_id_of_two_tasks_is_refused(self, checkout: Checkout) -> None:
        for file in ("a", "b"):
            checkout.write(f"tasks/{file}.md", "---\nid: same\n---\n# A\n")
        with pytest.raises(StateError, match=r"2 tasks are called same: tasks/a\.md:1 and tasks/b\.md:1"):
            checkout.edit("same", version="any", title="B")


class TestLinks:
    def test_a_link_out_of_the_checkout_is_not_edited(
        self, checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside") / "secret.md"
        outside.write_text("# Secret\n\nNobody's business\n")
        checkout.write("tasks/01-a.md", "# A\n")
        (checkout.top / "tasks/02-b.md").symlink_to(outside)
        assert [task["id"] for task in checkout.tasks()] == ["01-a"]
        with pytest.raises(NotFoundError):
            checkout.edit("02-b", version=checkout.version("tasks/02-b.md"), title="B")
        assert outside.read_text() == "# Secret\n\nNobody's business\n"

    def test_a_file_outside_is_shown_only_if_the_user_named_it(
        self, checkout: Checkout, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        outside = tmp_path_factory.mktemp("outside")
        (outside / "01-a.md").write_text("# A\n\nIts text\n")
        checkout.write("plait.toml", f"[sources]\npaths = ['{outside}']\n")
        with pytest.raises(UserError, match="leads out of the repository"):
            checkout.tasks()
        monkeypatch.setenv(KEYS_BY_NAME["sources.paths"].env_variable, str(outside))
        assert "Its text" in str(checkout.task("01-a")["body"])

    def test_a_folder_that_links_out_of_the_checkout_is_not_edited(
        self, checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside")
        (outside / "01-a.md").write_text("# A\n")
        (checkout.top / "tasks").symlink_to(outside)
        with pytest.raises(UserError, match="tasks: this leads out of the repository"):
            checkout.edit("01-a", version=checkout.version("tasks/01-a.md"), title="B")
        assert (outside / "01-a.md").read_text() == "# A\n"

    @pytest.mark.parametrize("folder", [".git", ".plait", "docs/.GIT"])
    def test_a_link_into_the_folders_of_git_or_plait_is_not_edited(self, checkout: Checkout, folder: str) -> None:
        real = checkout.write(f"{folder}/01-a.md", "# A\n")
        (checkout.top / "tasks").mkdir()
        (checkout.top / "tasks/01-a.md").symlink_to(real)
        checkout.write("tasks/02-b.md", "# B\n")
        with pytest.raises(NotFoundError):
            checkout.edit("01-a", version=checkout.version("tasks/01-a.md"), title="B")
        assert real.read_text() == "# A\n"

    def test_a_link_within_the_checkout_is_followed_and_stays(self, checkout: Checkout) -> None:
        real = checkout.write("docs/a.md", "# A\n")
        (checkout.top / "tasks").mkdir()
        (checkout.top / "tasks/01-a.md").symlink_to("../docs/a.md")
        assert checkout.task("01-a")["editable"] is True
        checkout.edit("01-a", title="B")
        assert real.read_text() == "# B\n"
        assert (checkout.top / "tasks/01-a.md").is_symlink()


class TestConcurrencyAndDisk:
    def test_of_two_concurrent_edits_one_wins_and_the_other_is_refused(self, walls: Checkout) -> None:
        version, barrier = walls.version("tasks/03-walls.md"), Barrier(2)
        ends: list[str] = []

        def work(title: str) -> None:
            barrier.wait(30)
            try:
                walls.edit("03-walls", version, title=title)
                ends.append(title)
            except StateError as error:
                ends.append(error.state)

        threads = [Thread(target=work, args=(title,)) for title in ("Roof", "Door")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        (won,) = {*ends} - {"changed"}
        assert sorted(ends) == sorted([won, "changed"])
        assert walls.text("tasks/03-walls.md") == TASK.replace("Walls", won)

    def test_the_next_edit_uses_the_version_of_the_last(self, walls: Checkout) -> None:
        saved = walls.edit("03-walls", title="Roof")
        assert saved.version == walls.version("tasks/03-walls.md") == walls.task("03-walls")["version"]
        walls.edit("03-walls", saved.version, title="Door")

    def test_a_full_disk_leaves_the_file_as_it_was(self, walls: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        version = walls.version("tasks/03-walls.md")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(SourceWriteError, match=r"could not be written, there is not enough space"):
            walls.edit("03-walls", version, title="Roof")
        assert walls.text("tasks/03-walls.md") == TASK
        assert len(walls.files) == 3

    def test_a_cycle_is_reported(self, walls: Checkout) -> None:
        problems = walls.edit("01-a", needs=["03-walls"]).problems
        (circle,) = [problem for problem in problems if problem.severity is Severity.ERROR]
        assert "01-a → 03-walls → 01-a" in circle.message

    def test_a_task_that_needs_itself_is_reported(self, walls: Checkout) -> None:
        problems = walls.edit("01-a", needs=["01-a"]).problems
        assert any(problem.severity is Severity.ERROR for problem in problems)


FRONT = st.lists(
    st.sampled_from(
        ["owner: ann  # c", "# a comment", "", "x:\n  - 1\n  - 2", "y: {a: b}", "z: |\n  text\n  # no comment",
         "agent: claude", "agent: 'a b' # c", "needs: [a,\n  b]", "needs:\n- a\n- b", "needs:", "agent:", "depends-on: c",
         "title: Walls", "phase: 1", '"phase": 2']
    ),
    max_size=7,
)  # fmt: skip
BODY = st.lists(
    st.sampled_from(["# Walls", "Text.", "", "---", "```", "- [ ] a", "## B", "    # c", "é🦊"]), max_size=7
)
WORD = st.sampled_from(
    ["", "claude", 'it\'s: "x" # y', "- a", "[b", "null", "~", "1.10", "א", "🦊 x", "a: b", "*c", "%d", "@e"]
)

FILE = st.tuples(FRONT, BODY, st.sampled_from(["\n", "\r\n"]))


@settings(max_examples=60)
@given(FILE, WORD, st.lists(WORD.filter(bool), max_size=2), BODY)
def test_any_edit_changes_exactly_what_was_asked_or_nothing(
    file: tuple[list[str], list[str], str], word: str, needs: list[str], new: list[str]
) -> None:
    front, body, eol = file
    lines = [*(["---", *front, "---"] if front else []), *body]
    text = "".join(f"{line}\n" for line in lines).replace("\n", eol) or f"# A{eol}"
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout.at(Path(folder))
        checkout.write("tasks/a.md", text)
        before = checkout.task("a")
        try:
            checkout.edit("a", agent=word, needs=needs, body="\n".join(new))
        except (FieldError, StateError):
            assert (checkout.top / "tasks/a.md").read_bytes() == text.encode()
            return
        after = checkout.task("a")
        assert after["agent"] == (word or None)
        assert {need["id"] for need in after["needs"]} == {*needs}  # type: ignore[attr-defined]
        assert str(after["body"]).strip() == "\n".join(new).strip() or "# Walls" in new
        assert after["title"] == before["title"] or "# Walls" in new
        now = str(after["text"])
        for kept in ("owner: ann  # c", "# a comment", "y: {a: b}"):
            assert (kept in front) <= (kept in now)
        assert ("\r\n" in now) == (eol == "\r\n" and "\n" in now)
