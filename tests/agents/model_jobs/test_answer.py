"""Every mode, and every answer that can't be taken: explained, and without files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from plait.agents.model_jobs.answer import JobAnswer, parse_answer, parse_repair, parse_reply_files
from plait.agents.model_jobs.edit_blocks import AnswerError, format_errors
from plait.agents.model_jobs.job_spec import output_paths, target_paths, writable_paths
from plait.core.task import ModelJob, ModelJobMode

ONE = ModelJob("src/a.py")
SEVERAL = ModelJob("src/a.py", outputs=("src/b.py", "src/a.py"), sequential=True, tests="tests/a.py")
SPLIT = ModelJob("src/big/mod.rs", ModelJobMode.SPLIT, ("src/big/mod.rs", "src/big/x.rs"), ("src/big.rs",))


def block(path: str, text: str) -> str:
    return f"~~~worksplit:{path}\n{text}~~~worksplit\n"


def flaw(found: JobAnswer) -> str:
    assert found.files == {}
    assert found.errors
    return "\n".join(map(str, found.errors))


class TestFiles:
    def test_the_files_that_a_job_writes(self) -> None:
        assert output_paths(ONE) == ("src/a.py",)
        assert output_paths(SEVERAL) == ("src/b.py", "src/a.py")
        assert output_paths(ModelJob("x", outputs=("y",))) == ("x", "y")
        assert (output_paths(SPLIT), target_paths(SPLIT)) == (
            ("src/big/mod.rs", "src/big/x.rs"),
            ("src/big.rs",),
        )
        assert writable_paths(SPLIT) == ("src/big/mod.rs", "src/big/x.rs", "src/big.rs")

    def test_the_files_that_a_job_edits(self) -> None:
        edit = ModelJob("src/a.py", ModelJobMode.EDIT, targets=("src/b.py",))
        assert (output_paths(edit), target_paths(edit), writable_paths(edit)) == (
            (),
            ("src/b.py",),
            ("src/b.py", "src/a.py"),
        )
        assert target_paths(ModelJob("src/a.py", ModelJobMode.EDIT)) == ("src/a.py",)


class TestWhole:
    def test_one_file_is_parsed(self) -> None:
        assert parse_answer(ONE, "```\nx = 1\n```\n", {}) == JobAnswer({"src/a.py": "x = 1\n"})

    def test_a_split_has_all_its_files_and_its_target(self) -> None:
        said = block("src/big/mod.rs", "mod x;\n") + block("src/big/x.rs", "fn x() {}\n")
        assert set(parse_answer(SPLIT, said, {"src/big.rs": "old"}).files) == set(SPLIT.outputs)
        found = parse_answer(SPLIT, said + block("src/big.rs", "pub mod big;\n"), {})
        assert set(found.files) == {*SPLIT.outputs, "src/big.rs"}
        assert "src/big/x.rs: the answer does not contain this file" in flaw(
            parse_answer(SPLIT, block("src/big/mod.rs", "x\n"), {})
        )

    def test_one_requested_file_is_taken_and_other_files_are_ignored(self) -> None:
        said = block("src/b.py", "b\n") + block("src/a.py", "a\n")
        assert parse_answer(SEVERAL, said, {}, only="src/b.py").files == {"src/b.py": "b\n"}
        assert parse_answer(SEVERAL, "```\nb\n```", {}, only="src/b.py").files == {"src/b.py": "b\n"}
        assert "may only write" in flaw(parse_answer(SEVERAL, said + block("x.py", "x\n"), {}, only="src/b.py"))

    def test_tests_can_be_written_only_when_asked_for(self) -> None:
        said = block("tests/a.py", "def test(): ...\n")
        assert parse_answer(SEVERAL, said, {}, only="tests/a.py").files == {"tests/a.py": "def test(): ...\n"}
        edit = ModelJob("src/a.py", ModelJobMode.EDIT, targets=("src/a.py",), tests="tests/a.py")
        assert parse_answer(edit, "```\nt\n```", {}, only="tests/a.py").files == {"tests/a.py": "t\n"}
        assert "may only write" in flaw(parse_answer(SEVERAL, said, {}))

    def test_a_file_with_too_many_lines_is_refused(self) -> None:
        long = block("src/a.py", "x\n" * 901)
        assert "src/a.py: 901 lines were written, and at most 900 are accepted" in flaw(parse_answer(ONE, long, {}))
        assert not parse_answer(ONE, long, {}, max_lines=901).errors


MALFORMED = {
    "empty": "",
    "only thoughts": "<think>so</think>",
    "talk": "I can't do that.",
    "cut in a fence": "```python\nx = 1\n",
    "cut in a marker": "~~~worksplit:src/a.py\nx = 1\n",
    "nested and never closed": "```markdown\n```python\nx\n```\n",
    "another file": block("src/c.py", "x\n"),
    "out of the workspace": block("../a.py", "x\n"),
    "out, deeper in": block("src/../../a.py", "x\n"),
    "absolute": block("/etc/passwd", "x\n"),
    "a drive": block("C:\\a.py", "x\n"),
    "a home": block("~/a.py", "x\n"),
    "git": block(".git/hooks/pre-commit", "x\n"),
    "control characters": block("src/\x1b[2Ja.py", "x\n"),
    "one good, one not": block("src/a.py", "x\n") + block("../b.py", "x\n"),
    "edits with one that fails": "FILE: src/a.py\nFIND:\nx = 1\nREPLACE:\ny\nEND\nFIND:\nnope\nREPLACE:\nz\nEND\n",
    "an edit without an end": "FILE: src/a.py\nFIND:\nx = 1\nREPLACE:\ny\n",
    "an edit that is there twice": "FILE: src/a.py\nFIND:\nz\nREPLACE:\ny\nEND\n",
    "an edit elsewhere": "FILE: ../../etc/passwd\nFIND:\nroot\nREPLACE:\ny\nEND\n",
    "no text": "```\n\0\n```\n",
}


@pytest.mark.parametrize("said", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("mode", list(ModelJobMode))
def test_a_malformed_answer_has_errors_and_no_files(said: str, mode: ModelJobMode) -> None:
    job = ModelJob("src/a.py", mode, targets=("src/a.py",), struct_name="x", new_field="y")
    texts = {"src/a.py": "x = 1\nz\nz\n"}
    found = parse_answer(job, said, texts)
    assert len(flaw(found)) > 10


class TestFixtures:
    JOB = ModelJob(
        "src/a.rs",
        ModelJobMode.UPDATE_FIXTURES,
        targets=("src/a.rs",),
        struct_name="Job",
        new_field="timeout: None",
    )
    TEXT = "struct Job {\n    id: u32,\n}\n\nfn a() -> u32 {\n    let x = Job {\n        id: 1,\n    };\n    let y = Job { id: 2 };\n    let other = 3;\n}\n"

    def answer(self, *edits: tuple[str, str]) -> JobAnswer:
        said = "".join(f"FIND:\n{find}\nREPLACE:\n{put}\nEND\n" for find, put in edits)
        return parse_answer(self.JOB, said, {"src/a.rs": self.TEXT})

    def test_the_field_is_added_to_every_literal(self) -> None:
        found = self.answer(
            ("        id: 1,", "        id: 1,\n        timeout: None,"),
            ("Job { id: 2 }", "Job { id: 2, timeout: None }"),
        )
        assert (found.errors, found.notes) == ((), ())
        assert found.files["src/a.rs"].count("timeout: None") == 2

    def test_the_field_can_be_added_by_insertions(self) -> None:
        said = "AFTER:\n        id: 1,\nINSERT:\n        timeout: None,\nEND\n"
        found = parse_answer(self.JOB, said, {"src/a.rs": self.TEXT})
        assert "        id: 1,\n        timeout: None,\n    };" in found.files["src/a.rs"]

    def test_a_literal_without_the_field_is_noted(self) -> None:
        found = self.answer(("Job { id: 2 }", "Job { id: 2, timeout: None }"))
        assert found.notes == ("src/a.rs:6: this Job has no timeout",)

    def test_edits_of_other_places_are_refused(self) -> None:
        found = self.answer(("let other = 3;", "let other = 3; // timeout"))
        assert flaw(found) == "src/a.rs: line 10 is not where a Job is made; leave it as it is"

    def test_edits_without_the_field_are_refused(self) -> None:
        assert "does not give timeout" in flaw(self.answer(("Job { id: 2 }", "Job { id: 3 }")))

    def test_a_job_without_a_struct_or_field_is_refused(self) -> None:
        job = ModelJob("src/a.rs", ModelJobMode.UPDATE_FIXTURES)
        said = "FIND:\nJob { id: 2 }\nREPLACE:\nx\nEND\n"
        assert "does not say which struct_name" in flaw(parse_answer(job, said, {"src/a.rs": self.TEXT}))


class TestRepair:
    FILES: Mapping[str, str] = {"src/a.py": "x = 1\n", "src/b.py": "y = 1\n", "other.py": ""}

    def test_a_repair_is_edits_or_whole_files(self) -> None:
        said = "FILE: src/a.py\nFIND:\nx = 1\nREPLACE:\nx = 2\nEND\n"
        assert parse_repair(SEVERAL, said, self.FILES).files == {"src/a.py": "x = 2\n"}
        assert parse_repair(SEVERAL, block("src/b.py", "y = 2\n"), self.FILES).files == {"src/b.py": "y = 2\n"}
        assert parse_repair(ONE, "```\nx = 2\n```", {"src/a.py": "x\n"}).files == {"src/a.py": "x = 2\n"}

    def test_a_repair_changes_only_the_jobs_files(self) -> None:
        assert "may only write" in flaw(parse_repair(SEVERAL, block("other.py", "y\n"), self.FILES))
        tests = {**self.FILES, "tests/a.py": "def test(): assert f()\n"}
        weaker = "FILE: tests/a.py\nFIND:\nassert f()\nREPLACE:\npass\nEND\n"
        assert "may only write" in flaw(parse_repair(SEVERAL, weaker, tests))
        assert "names no file" in flaw(parse_repair(SEVERAL, "```\nx\n```", self.FILES))
        assert flaw(parse_repair(SEVERAL, "fine", self.FILES))


class TestReplies:
    """Of an agent that only reads: what it names is written for it."""

    def answer(self, said: str, **more: tuple[str, ...]) -> JobAnswer:
        return parse_reply_files(said, {"src/a.py": "x = 1\n"}.get, allowed=more.get("allowed"))

    def test_a_reply_has_named_files_and_edits(self) -> None:
        new, edit = "FILE: new/b.py\n```\ny\n```\n", "FILE: src/a.py\nFIND:\nx = 1\nREPLACE:\nx = 2\nEND\n"
        assert self.answer(new).files == {"new/b.py": "y\n"}
        assert self.answer(f"Hello\n\n{edit}\n{new}").files == {"src/a.py": "x = 2\n", "new/b.py": "y\n"}
        assert self.answer("FILE: src/a.py\n```\nz\n```\n").files == {"src/a.py": "z\n"}

    def test_blocks_without_a_name_are_ignored(self) -> None:
        said = "FILE: b.py\n```\ny\n```\n\nTry:\n\n```sh\nrun\n```\n"
        assert self.answer(said).files == {"b.py": "y\n"}
        assert flaw(self.answer("```sh\nrun\n```\n"))
        assert flaw(self.answer("Nothing to do."))

    @pytest.mark.parametrize("path", ["../x", "/x", "~/x", ".git/x"])
    def test_paths_outside_the_repository_are_refused(self, path: str) -> None:
        assert flaw(self.answer(f"FILE: {path}\n```\ny\n```\n"))
        assert flaw(self.answer(f"FILE: {path}\nFIND:\nx\nREPLACE:\ny\nEND\n"))

    def test_the_allowed_files_may_be_limited(self) -> None:
        assert flaw(self.answer("FILE: b.py\n```\ny\n```\n", allowed=("src/a.py",)))


class TestTelling:
    def test_the_list_of_errors_is_limited(self) -> None:
        assert (
            format_errors([AnswerError("it is empty", "a.py"), AnswerError("cut off")])
            == "- a.py: it is empty\n- cut off"
        )
        assert format_errors([AnswerError("x")] * 20).endswith("- x\n- and 8 more")
