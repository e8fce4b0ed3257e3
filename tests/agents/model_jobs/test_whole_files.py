from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from plait.agents.model_jobs.whole_files import FileRequest, parse_files

ONE = FileRequest(("src/a.py",), ("src/a.py",))
TWO = FileRequest(("src/a.py", "src/b.py"), ("src/a.py", "src/b.py"))
DOC = FileRequest(("README.md",), ("README.md",))
CODE = "def f():\n    return 1\n"


def good(said: str, request: FileRequest = ONE) -> dict[str, str]:
    found, flaws = parse_files(said, request)
    assert flaws == ()
    return found


def flawed(said: str, request: FileRequest = ONE) -> str:
    _, flaws = parse_files(said, request)
    assert flaws
    return "\n".join(map(str, flaws))


class TestOneFile:
    @pytest.mark.parametrize(
        "said",
        [
            f"~~~worksplit\n{CODE}~~~worksplit\n",
            f"~~~worksplit:src/a.py\n{CODE}~~~worksplit\n",
            f"~~~worksplit:src/a.py\n{CODE}~~~worksplit",
            f"~~~worksplit: ./src/a.py\n{CODE}~~~worksplit\n",
            f"~~~worksplit:a.py\n{CODE}~~~worksplit\n",
            f"~~~worksplit:src/a.py\n```python\n{CODE}```\n~~~worksplit\n",
            f"```\n~~~worksplit:src/a.py\n{CODE}~~~worksplit\n```\n",
            f"~~~worksplit:src/a.py\n{CODE}~~~\n",
            f"```python\n{CODE}```\n",
            f"```\n{CODE}```",
            f"~~~\n{CODE}~~~\n",
            f"````\n{CODE}````\n",
            f"Sure! Here it is:\n\n```python\n{CODE}```\n\nHope that helps.\n",
            f"FILE: src/a.py\n```python\n{CODE}```\n",
            f"**File:** `src/a.py`\n\n```python\n{CODE}```\n",
            f"### src/a.py\n\n```python\n{CODE}```\n",
            f"`src/a.py`:\n```python\n{CODE}```\n",
            f"Here is `src/a.py`, as asked:\n```python\n{CODE}```\n",
            f"1. **src/a.py**\n```python\n{CODE}```\n",
            f"```python src/a.py\n{CODE}```\n",
            f"```python:src/a.py\n{CODE}```\n",
            f'```python title="src/a.py"\n{CODE}```\n',
            f"```python\n{CODE}```\n\nRun it:\n\n```bash\npython src/a.py\n```\n",
            f"<think>\n```\nno\n```\n</think>\n```python\n{CODE}```\n",
            f"<thinking>I wonder</thinking>\n\n```python\n{CODE}```\n",
            f"I wonder.\n</think>\n\n```python\n{CODE}```\n",
            "1. It:\n\n   ```python\n   def f():\n       return 1\n   ```\n",
            f"```python\n{CODE}```<|im_end|>",
            f"```python\n{CODE}```</s>\n",
            f"<|im_start|>assistant\n```python\n{CODE}```\n<|im_end|>\n<|endoftext|>",
            f"{CODE}<|eot_id|>",
            CODE,
            f"\n\n{CODE}\n\n",
        ],
    )
    def test_a_file_is_found_however_it_is_wrapped(self, said: str) -> None:
        assert good(said) == {"src/a.py": CODE}
        assert good(said.replace("\n", "\r\n")) == {"src/a.py": CODE}

    def test_only_files_that_are_usually_empty_may_be_empty(self) -> None:
        usual = FileRequest(("src/__init__.py",), ("src/__init__.py",))
        assert good("~~~worksplit:src/__init__.py\n~~~worksplit", usual) == {"src/__init__.py": ""}


class TestSeveral:
    @pytest.mark.parametrize(
        "said",
        [
            "~~~worksplit:src/a.py\nA\n~~~worksplit\n\n~~~worksplit:src/b.py\nB\n~~~worksplit\n",
            "~~~worksplit:src/b.py\nB\n~~~worksplit\ntalk\n~~~worksplit:src/a.py\nA\n~~~worksplit\n",
            "~~~worksplit:src/a.py\nA\n~~~worksplit:src/b.py\nB\n~~~worksplit\n",
            "~~~worksplit\nA\n~~~worksplit\n~~~worksplit\nB\n~~~worksplit\n",
            "FILE: src/a.py\n```\nA\n```\nFILE: src/b.py\n```\nB\n```\n",
            "`src/a.py`:\n```\nA\n```\n`src/b.py`:\n```\nB\n```\n",
            "```\nA\n```\n\n```\nB\n```\n",
            "`src/b.py`\n```\nB\n```\n\nand\n\n```\nA\n```\n",
            "src/a.py\n```\nA\n```\nsrc/b.py\n```\nB\n```\n",
        ],
    )
    def test_files_are_found_by_name_or_in_order(self, said: str) -> None:
        assert good(said, TWO) == {"src/a.py": "A\n", "src/b.py": "B\n"}

    def test_a_comment_on_the_first_line_names_the_file(self) -> None:
        said = "```\n# src/b.py\nB\n```\n\n```\n# src/a.py\nA\n```\n"
        assert good(said, TWO) == {"src/b.py": "# src/b.py\nB\n", "src/a.py": "# src/a.py\nA\n"}

    def test_a_block_that_shows_how_to_run_them_is_ignored(self) -> None:
        said = "```py\nA\n```\n\nand\n\n```py\nB\n```\n\nRun:\n\n```bash\nmake\n```\n"
        assert good(said, TWO) == {"src/a.py": "A\n", "src/b.py": "B\n"}

    def test_a_missing_file_is_named(self) -> None:
        assert flawed("FILE: src/a.py\n```\nA\n```\n", TWO) == "src/b.py: the answer does not contain this file"

    def test_more_blocks_than_files_are_refused(self) -> None:
        assert "3 blocks without a path, but 2 files are missing" in flawed("```\nA\n```\n\n" * 3, TWO)

    def test_a_file_given_twice_must_be_the_same(self) -> None:
        twice = "FILE: src/a.py\n```\nA\n```\n\nFILE: src/a.py\n```\n{}\n```\n"
        assert good(twice.format("A")) == {"src/a.py": "A\n"}
        assert "twice" in flawed(twice.format("B"))


class TestFencesInFences:
    GUIDE = dedent(
        """\
        # Guide

        ```bash
        make
        ```

        Plain:

        ```
        out
        ```

        The end.
        """
    )

    @pytest.mark.parametrize(
        "around",
        [
            "~~~worksplit:README.md\n{}~~~worksplit\n",
            "Here:\n\n````markdown\n{}````\n\nDone.\n",
            "~~~\n{}~~~\n",
            "```markdown\n{}```\n",
            "FILE: README.md\n```markdown\n{}```\n\nDone.\n",
        ],
    )
    def test_a_markdown_file_keeps_its_fences(self, around: str) -> None:
        assert good(around.format(self.GUIDE), DOC) == {"README.md": self.GUIDE}

    def test_code_keeps_a_fence_in_its_docstring(self) -> None:
        code = 'def f():\n    """\n    ```\n    x\n    ```\n    """\n'
        assert good(f"```python\n{code}```\n") == {"src/a.py": code}
        code = '"""\n```\nx\n```\n"""\n'
        assert good(f"```python\n{code}```\n") == {"src/a.py": code}

    def test_two_files_keep_their_fences(self) -> None:
        request = FileRequest(("a.md", "b.md"), ("a.md", "b.md"))
        said = "FILE: a.md\n````md\n```sh\nx\n```\n````\n\nFILE: b.md\n```md\nB\n```\n"
        assert good(said, request) == {"a.md": "```sh\nx\n```\n", "b.md": "B\n"}


class TestMalformed:
    @pytest.mark.parametrize("said", ["", " \n\n", "\r\n", "<think>hm</think>", "<think>never ends", "\ufeff"])
    def test_an_empty_answer_is_refused(self, said: str) -> None:
        assert flawed(said) == "the answer is empty"

    @pytest.mark.parametrize(
        "said",
        [
            f"```python\n{CODE}",
            f"~~~worksplit:src/a.py\n{CODE}",
            f"~~~worksplit\n{CODE}",
            f"FILE: src/a.py\n```python\n{CODE}",
            "```markdown\n# A\n```bash\nx\n```\n",
        ],
    )
    def test_a_block_that_never_ends_was_cut_off(self, said: str) -> None:
        assert "cut off" in flawed(said)

    @pytest.mark.parametrize(
        "path",
        [
            "../a.py",
            "src/../../a.py",
            "/etc/passwd",
            "C:\\a.py",
            "~/a.py",
            ".git/hooks/pre-commit",
            "src/other.py",
            "a\x1b.py",
        ],
    )
    @pytest.mark.parametrize(
        "around",
        ["~~~worksplit:{}\nX\n~~~worksplit\n", "FILE: {}\n```\nX\n```\n", "**File:** `{}`\n```\nX\n```\n"],
    )
    def test_a_path_outside_the_job_is_refused(self, path: str, around: str) -> None:
        found, flaws = parse_files(around.format(path), ONE)
        assert flaws
        assert found == {}

    def test_several_files_without_a_fence_are_refused(self) -> None:
        assert "the answer contains no block" in flawed(CODE, TWO)

    @pytest.mark.parametrize(
        "said",
        [
            "I'm sorry, I can't do that.",
            "Sure, this is easy.",
            "The file is fine as it is.",
            "Let me think about that.",
            "As a language model I do no such thing",
            "Hello! It follows.",
            "**Here is the file**",
            "Looking at the task, nothing has to be done:",
        ],
    )
    def test_prose_is_not_taken_for_a_file(self, said: str) -> None:
        assert "starts like prose" in flawed(said)

    @pytest.mark.parametrize("said", ["# This is what it does.\nx = 1\n", "// The beginning\nx\n", "Vec a;\n"])
    def test_a_comment_in_the_code_is_not_prose(self, said: str) -> None:
        assert good(said) == {"src/a.py": said}

    @pytest.mark.parametrize("after", ["Run it:", "It prints this.", "1. Save it."])
    def test_prose_after_an_ambiguous_fence_is_not_taken_for_the_file(self, after: str) -> None:
        said = f"Here:\n```python\n{CODE}```\n{after}\n```\npython a.py\n```\n"
        assert "may be its end" in flawed(said)
        assert "may be its end" in flawed(f"FILE: src/a.py\n{said.removeprefix('Here:')}".replace("\n\n", "\n"))

    def test_edits_are_not_taken_for_a_file(self) -> None:
        said = "FILE: src/a.py\nFIND:\nx\nREPLACE:\ny\nEND\n"
        assert "edits" in flawed(said)
        assert "edits" in flawed(f"```\n{said}```\n")

    @pytest.mark.parametrize(
        "patch",
        [
            "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\n",
            "diff --git a/src/a.py b/src/a.py\nindex 1..2 100644\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\n",
            "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
        ],
    )
    def test_patches_of_other_tools_are_not_taken_for_a_file(self, patch: str) -> None:
        assert "edits" in flawed(f"src/a.py\n```diff\n{patch}```\n")
        assert "edits" in flawed(patch)
        asked = FileRequest(("fix.patch",), ("fix.patch",))
        assert good(f"```diff\n{patch}```\n", asked) == {"fix.patch": patch}

    @pytest.mark.parametrize(
        "line",
        [
            "# ... existing code ...",
            "// ... rest of the file unchanged",
            "    # … remaining methods",
            "# rest of the code remains the same",
            "// Existing methods stay unchanged",
            "# (Your existing code here)",
        ],
    )
    def test_a_placeholder_line_is_refused(self, line: str) -> None:
        assert "line 2 is a placeholder" in flawed(f"```\nx\n{line}\n```\n")

    def test_empty_and_binary_files_are_refused(self) -> None:
        assert flawed("```\n\n```\n") == "src/a.py: the file is empty"
        assert "valid UTF-8" in flawed("```\na\0b\n```\n")
        assert "valid UTF-8" in flawed("```\na\ud800b\n```\n")

    def test_two_different_blocks_for_one_file_are_refused(self) -> None:
        assert "2 blocks without a path" in flawed("```py\nA\n```\n\n```py\nB\n```\n")


_PIECES = st.sampled_from(
    [
        "```",
        "````",
        "~~~",
        "```py",
        "~~~worksplit",
        "~~~worksplit:src/a.py",
        "~~~worksplit:../x",
        "FILE: src/b.py",
        "FILE: /x",
        "`src/a.py`:",
        "x",
        "",
        "<think>",
        "</think>",
        "    ```",
        "END",
        "FIND:",
        "### src/b.py",
    ]
)


@given(st.lists(_PIECES | st.text(max_size=12), max_size=14).map("\n".join), st.sampled_from([ONE, TWO, DOC]))
def test_no_answer_makes_it_raise_or_names_another_file(said: str, request: FileRequest) -> None:
    found, flaws = parse_files(said, request)
    assert set(found) <= set(request.known)
    assert flaws or set(found) >= set(request.wanted)
    assert all(str(flaw) for flaw in flaws)


_LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=20)


@given(st.lists(_LINES, min_size=1, max_size=8).filter(lambda lines: any(line.strip() for line in lines)))
def test_a_file_is_the_text_between_its_markers(lines: list[str]) -> None:
    text = "\n".join((*lines, ""))
    if "worksplit" not in text and not text.lstrip().startswith(("```", "~~~")):
        found, _ = parse_files(
            f"~~~worksplit:src/a.txt\n{text}~~~worksplit\n", FileRequest(("src/a.txt",), ("src/a.txt",))
        )
        assert found == {"src/a.txt": text}
