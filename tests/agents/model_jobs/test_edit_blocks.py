from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from plait.agents.model_jobs.answer import JobAnswer, parse_answer
from plait.core.task import ModelJob, ModelJobMode

EDIT = ModelJob("src/a.py", ModelJobMode.EDIT, targets=("src/a.py",))
BOTH = ModelJob("src/a.py", ModelJobMode.EDIT, targets=("src/a.py", "src/b.py"))
TEXT = "import os\n\n\nclass A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n"
TEXTS = {"src/a.py": TEXT, "src/b.py": "b = 1\n"}


def edit(find: str, put: str, path: str | None = "src/a.py") -> str:
    head = f"FILE: {path}\n" if path else ""
    return f"{head}FIND:\n{find}\nREPLACE:\n{put}\nEND\n" if put else f"{head}FIND:\n{find}\nREPLACE:\nEND\n"


def answer(said: str, job: ModelJob = EDIT, texts: Mapping[str, str] = TEXTS) -> JobAnswer:
    found = parse_answer(job, said, texts)
    assert not (found.files and found.errors)
    return found


def made(said: str, job: ModelJob = EDIT, texts: Mapping[str, str] = TEXTS) -> str:
    found = answer(said, job, texts)
    assert found.errors == ()
    assert list(found.files) == ["src/a.py"]
    return found.files["src/a.py"]


def why(said: str, job: ModelJob = EDIT, texts: Mapping[str, str] = TEXTS) -> list[str]:
    found = answer(said, job, texts)
    assert found.files == {}
    return [str(flaw) for flaw in found.errors]


class TestMatching:
    def test_an_exact_text_is_replaced(self) -> None:
        assert made(edit("import os", "import sys")) == TEXT.replace("os", "sys")
        assert (
            made(edit("    def g(self):\n        return 1", "    def g(self):\n        return 2")) == TEXT[:-2] + "2\n"
        )

    def test_a_part_of_a_line_is_replaced(self) -> None:
        assert made(edit("def f", "def ff")) == TEXT.replace("def f", "def ff")

    def test_a_text_with_other_whitespace_matches_and_keeps_the_indentation(self) -> None:
        said = edit("def g(self):\n  return   1", "def g(self):\n  if x:\n    return 2\n  return 3")
        assert made(said).endswith("    def g(self):\n        if x:\n          return 2\n        return 3\n")

    def test_a_file_with_tabs_keeps_them(self) -> None:
        texts = {"src/a.py": "class A:\n\tdef g(self):\n\t\treturn 1\n"}
        said = edit("def g(self):\n    return 1", "def g(self):\n    if x:\n        return 2\n    return 3")
        assert made(said, texts=texts) == "class A:\n\tdef g(self):\n\t\tif x:\n\t\t\treturn 2\n\t\treturn 3\n"

    def test_a_removed_text_leaves_no_empty_line(self) -> None:
        assert made(edit("import os", "")) == TEXT.removeprefix("import os\n")
        assert made(edit("def  g(self):", "")) == TEXT.replace("    def g(self):\n", "")

    def test_blank_lines_around_the_labels_do_not_count(self) -> None:
        assert made(edit("\nimport os\n", "\nimport sys\n")) == TEXT.replace("os", "sys")
        assert made(edit("import os\n", "import sys")) == TEXT.replace("os", "sys")

    def test_fences_around_the_texts_do_not_count(self) -> None:
        said = edit("```python\nimport os\n```", "```python\nimport sys\n```")
        assert made(said) == TEXT.replace("os", "sys")

    def test_several_edits_match_the_original_file(self) -> None:
        said = edit("import os", "import g") + edit("def g(self)", "def h(self)", None) + "Done!\n"
        assert made(said) == TEXT.replace("import os", "import g").replace("def g", "def h")

    def test_the_last_line_may_have_no_newline(self) -> None:
        assert made(edit("a  =  1", "a = 2"), texts={"src/a.py": "x\na = 1"}) == "x\na = 2"


class TestFailing:
    def test_a_text_that_occurs_twice_is_refused(self) -> None:
        assert why(edit("        return 1", "        return 2")) == [
            (
                "src/a.py: line 2 of the answer: FIND matches more than one place (lines 6, 9): give more lines around it, "
                "until it matches once"
            )
        ]
        assert "more than one place (lines 6, 9)" in why(edit("return  1", "return 2"))[0]

    def test_a_missing_text_is_reported_with_the_nearest_line(self) -> None:
        assert "not in the file; the nearest is line 8: `def g(self):`" in why(edit("def gg(self):", "x"))[0]

    def test_the_first_difference_is_reported(self) -> None:
        told = why(edit("    def g(self):\n        return 5", "x"))[0]
        assert "it starts like line 8, but then line 9 is `return 1`, not `return 5`" in told
        told = why(edit("        return 1\n\n    def h(self):", "x"))[0]
        assert "it starts like line 6, but then line 8 is `def g(self):`, not `def h(self):`" in told

    def test_a_text_without_a_similar_line_is_reported(self) -> None:
        assert "nothing in the file is similar" in why(edit("§§§§§", "x"))[0]

    def test_one_failed_edit_fails_all_and_each_is_reported(self) -> None:
        said = edit("import os", "import sys") + edit("nope", "x") + edit("return 1", "x")
        assert len(why(said)) == 2

    def test_two_edits_of_one_place_are_refused(self) -> None:
        said = edit("class A:\n    def f(self):", "x") + edit("    def f(self):\n        return 1", "y")
        assert why(said) == ["src/a.py: lines 2 and 9 of the answer change the same place"]
        assert "change the same place" in why(edit("import os", "x") + edit("import os", "y"))[0]

    def test_an_edit_that_was_cut_off_is_refused(self) -> None:
        whole = edit("import os", "import sys")
        for length in range(len("FILE: src/a.py\nFIND:\n"), len(whole) - 2):
            assert any("cut off" in each or "empty" in each for each in why(whole[:length])), whole[:length]
        assert "cut off" in why(whole + "FIND:\nclass A:\nREPLACE:\nclass B:\n")[0]

    def test_a_missing_end_is_reported(self) -> None:
        one, other = edit("import os", "import sys"), edit("class A:", "class B:", None)
        assert "REPLACE without END before line 6" in why(one.removesuffix("END\n") + other)[0]
        assert "without END" in why(one.removesuffix("END\n") + edit("b = 1", "b = 2", "src/b.py"), BOTH)[0]

    def test_placeholders_for_existing_lines_are_refused(self) -> None:
        said = edit("        return 1\n\n    def g", "        # ... existing code ...\n    def g")
        assert "is a placeholder for others" in why(said)[0]
        texts = {"src/a.py": "# ... existing code ...\nx\n"}
        assert made(edit("# ... existing code ...\nx", "# ... existing code ...\ny"), texts=texts)

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "src/c.py", ".git/config", "C:/x"])
    def test_a_file_outside_the_job_is_refused(self, path: str) -> None:
        assert len(why(edit("import os", "x", path))) == 1

    def test_a_missing_file_is_reported(self) -> None:
        assert "no such file" in why(edit("import os", "x", "src/b.py"), BOTH, {"src/a.py": TEXT})[0]

    def test_an_edit_must_name_one_of_several_files(self) -> None:
        assert "names no FILE" in why(edit("import os", "x", None), BOTH)[0]
        assert made(edit("import os", "import sys", None)) == TEXT.replace("os", "sys")

    def test_an_answer_without_edits_is_refused(self) -> None:
        assert "there are no edits" in why("It is fine.")[0]
        assert "must be edited" in why("FILE: src/a.py\n```\nclass A: pass\n```\n")[0]

    def test_an_answer_that_changes_nothing_is_refused(self) -> None:
        assert why(edit("import os", "import os")) == ["the answer changes nothing"]

    def test_an_answer_with_too_many_lines_is_refused(self) -> None:
        found = parse_answer(EDIT, edit("import os", "x\n" * 30), TEXTS, max_lines=20)
        assert "at most 20 are accepted" in str(found.errors[0])


class TestWordsInTexts:
    @pytest.mark.parametrize(
        "word",
        [
            "end",
            "End",
            "file: x",
            "File: x",
            "find:",
            "replace:",
            "  END",
            "    END",
            "ENDED",
            "x END",
            "FILE: x",
        ],
    )
    def test_labels_in_lower_case_end_no_block(self, word: str) -> None:
        assert made(edit("import os", f"a\n{word}\nb")) == TEXT.replace("import os", f"a\n{word}\nb")

    def test_an_end_inside_a_replacement_ends_no_block(self) -> None:
        said = edit("import os", "a\nEND\nb") + edit("class A:", "class B:")
        assert made(said) == TEXT.replace("import os", "a\nEND\nb").replace("class A", "class B")

    def test_labels_can_be_searched_for(self) -> None:
        texts = {"src/a.py": "begin\nend\nfile: x\n"}
        assert made(edit("end\nfile: x", "END.\nfile: y"), texts=texts) == "begin\nEND.\nfile: y\n"


class TestAround:
    def test_prose_fences_and_line_ends_around_edits_are_ignored(self) -> None:
        said = f"Sure!\n\n```\n{edit('import os', 'import sys')}```\n\nThat is all.\n"
        assert made(said) == TEXT.replace("os", "sys")
        assert made(said.replace("\n", "\r\n")) == TEXT.replace("os", "sys")
        assert made(f"<think>{edit('import os', 'x')}</think>{said}") == TEXT.replace("os", "sys")

    def test_labels_may_be_bold_and_followed_by_text(self) -> None:
        assert made("**FILE:** `src/a.py`\n**FIND:** import os\n**REPLACE:** import sys\n**END**") == TEXT.replace(
            "os", "sys"
        )

    def test_an_answer_may_have_new_files_and_edits(self) -> None:
        said = edit("import os", "import sys") + "FILE: src/b.py\n```python\nb = 2\n```\n"
        found = answer(said, BOTH, {"src/a.py": TEXT})
        assert found.files == {"src/a.py": TEXT.replace("os", "sys"), "src/b.py": "b = 2\n"}


PATTERN = ModelJob("src/a.rs", ModelJobMode.REPLACE_PATTERN, targets=("src/a.rs", "src/b.rs"))
RUST = "fn a() {\n    let t = T {\n        x: 1,\n    };\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n        T {\n            x: 1,\n        }\n    }\n}\n"


def insertion(after: str, put: str, *head: str) -> str:
    return "\n".join([*head, "AFTER:", after, "INSERT:", put, "END", ""])


class TestInsertions:
    def made(self, said: str, texts: Mapping[str, str]) -> Mapping[str, str]:
        found = answer(said, PATTERN, texts)
        assert found.errors == ()
        return found.files

    def test_lines_are_inserted_at_every_match_with_its_indentation(self) -> None:
        texts = {"src/a.rs": RUST, "src/b.rs": "x: 1,\n"}
        files = self.made(insertion("x: 1,", "y: 2,"), texts)
        assert files["src/a.rs"] == RUST.replace("        x: 1,\n", "        x: 1,\n        y: 2,\n").replace(
            "    x: 1,\n        y: 2,\n        }", "    x: 1,\n            y: 2,\n        }"
        )
        assert files["src/b.rs"] == "x: 1,\ny: 2,\n"

    def test_a_file_and_a_scope_limit_an_insertion(self) -> None:
        texts = {"src/a.rs": RUST + "fn c() {\n    x: 1,\n}\n", "src/b.rs": "x: 1,\n"}
        files = self.made(insertion("x: 1,", "y: 2,", "FILE: src/a.rs", "SCOPE: #[cfg(test)]"), texts)
        assert list(files) == ["src/a.rs"]
        assert files["src/a.rs"].count("y: 2,") == 1
        assert "            x: 1,\n            y: 2,\n        }" in files["src/a.rs"]

    @pytest.mark.parametrize(
        "said",
        [
            "AFTER:\nx: 1,\nINSERT:\ny: 2,\n",
            "SCOPE: mod tests\nAFTER:\nx: 1,\nINSERT:\ny: 2,\n\n",
            "AFTER:\nx: 1,\nINSERT:\ny: 2,\n\nSCOPE: #[cfg(test)]\n",
        ],
    )
    def test_an_insertion_may_lack_its_end(self, said: str) -> None:
        files = self.made(said, {"src/a.rs": RUST, "src/b.rs": ""})
        assert files["src/a.rs"].count("y: 2,") == (1 if "SCOPE" in said else 2)

    def test_text_is_inserted_within_a_line(self) -> None:
        files = self.made(insertion("x: 1", ", y: 2"), {"src/a.rs": "T { x: 1 }\n", "src/b.rs": ""})
        assert files["src/a.rs"] == "T { x: 1, y: 2 }\n"

    def test_a_pattern_without_a_match_is_reported(self) -> None:
        texts = {"src/a.rs": RUST, "src/b.rs": ""}
        assert "the nearest is line 3" in why(insertion("x: 11,", "y", "FILE: src/a.rs"), PATTERN, texts)[0]
        assert (
            "its SCOPE is not in the file"
            in why(insertion("x: 1,", "y", "FILE: src/a.rs", "SCOPE: nope"), PATTERN, texts)[0]
        )
        assert len(why(insertion("nope", "y"), PATTERN, texts)) == 2

    def test_an_insertion_that_was_cut_off_is_refused(self) -> None:
        said = insertion("x: 1,", "y") + "AFTER:\nfn a\nINSERT:\nhalf"
        assert "cut off" in why(said, PATTERN, {"src/a.rs": RUST, "src/b.rs": ""})[0]


@given(st.lists(st.sampled_from(["aa", "bb", "  aa", "", "a b"]), max_size=8), st.data())
def test_an_edit_replaces_a_text_that_occurs_once(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join((*lines, ""))
    find = data.draw(st.sampled_from(["aa", "bb", "  aa", "aa\nbb", "bb\n\naa", "a b"]))
    found = parse_answer(EDIT, edit(find, "new\nlines"), {"src/a.py": text})
    starts = [at for at in range(len(text)) if text.startswith(find, at)]
    if len(starts) == 1:
        assert found.files == {"src/a.py": text.replace(find, "new\nlines")}
    elif starts:
        assert "more than one place" in str(found.errors[0])
    else:
        wanted, there = (
            [line.split() for line in find.split("\n")],
            [line.split() for line in text.split("\n")],
        )
        alike = sum(there[at : at + len(wanted)] == wanted for at in range(len(there)))
        assert (not found.errors) if alike == 1 else found.errors
        if alike != 1:
            assert ("more than one place" if alike else "not in the file") in str(found.errors[0])


_LABELS = st.sampled_from(
    [
        "FILE: src/a.py",
        "FILE: ../x",
        "FIND:",
        "REPLACE:",
        "END",
        "AFTER:",
        "INSERT:",
        "SCOPE: class",
        "x",
        "",
        "import os",
        "```",
        "~~~worksplit",
        "    return 1",
        "FIND: import os",
        "REPLACE: y",
    ]
)


@given(st.lists(_LABELS | st.text(max_size=8), max_size=16).map("\n".join), st.sampled_from(list(ModelJobMode)))
def test_no_answer_makes_it_raise_or_writes_another_file(said: str, mode: ModelJobMode) -> None:
    job = ModelJob("src/a.py", mode, ("src/a.py",), ("src/a.py",), struct_name="A", new_field="f: 1")
    found = parse_answer(job, said, TEXTS)
    assert set(found.files) <= {"src/a.py"}
    assert bool(found.files) != bool(found.errors)
