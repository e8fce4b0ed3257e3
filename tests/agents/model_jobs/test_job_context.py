from __future__ import annotations

from hypothesis import given, strategies as st

from plait.agents.model_jobs.context import (
    ContextFile,
    ContextLimits,
    count_lines,
    estimate_tokens,
    gather_context,
    guess_context_files,
)
from plait.core.task import ModelJob, ModelJobMode

LISTING = (
    "README.md",
    "package-lock.json",
    "pkg/__init__.py",
    "pkg/core/task.py",
    "pkg/core/plan.py",
    "pkg/core/planning.py",
    "pkg/core/logo.png",
    "pkg/util.py",
    "tests/test_plan.py",
    "web/app.ts",
    "web/api/index.ts",
    "web/lib/date.ts",
    "rs/src/lib.rs",
    "rs/src/model/mod.rs",
    "rs/src/model/job.rs",
)


class TestGather:
    def test_files_that_fit_are_shown_completely(self) -> None:
        found = gather_context({"a": "1\n2\n"}, {"b": "3\n", "gone": None})
        assert found.files == (ContextFile("a", "1\n2\n"), ContextFile("b", "3\n", implicit=True))
        assert (found.left_out, found.implicit) == ((), ("b",))

    def test_a_file_is_cut_at_a_line_with_a_note(self) -> None:
        found = gather_context({"a": "1\n2\n3\n", "b": "4\n", "gone": None}, {"c": "5\n"}, ContextLimits(lines=2))
        assert found.files == (ContextFile("a", "1\n2\n", left_out=1),)
        limits = "(at most 2 lines and 16000 tokens of context)"
        assert found.left_out == (
            f"a is shown without its last 1 lines {limits}",
            f"b is not shown: there is no room left {limits}",
            "gone is not shown: it does not exist, or is not text",
        )

    def test_tokens_are_limited_too(self) -> None:
        found = gather_context({"a": "12345678\n12345678\n"}, {}, ContextLimits(tokens=3))
        assert found.files == (ContextFile("a", "12345678\n", left_out=1),)

    def test_implicit_files_are_shown_completely_or_not_at_all(self) -> None:
        found = gather_context({}, {"a": "1\n2\n3\n", "b": "4\n", "empty": " "}, ContextLimits(lines=2))
        assert (found.files, found.left_out) == ((ContextFile("b", "4\n", implicit=True),), ())


@given(
    st.lists(st.text("a\n", max_size=30), max_size=5),
    st.lists(st.text("a\n", max_size=30), max_size=5),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_the_limits_are_never_exceeded(given_: list[str], implicit: list[str], most: int, budget: int) -> None:
    one = {f"g{n}": text for n, text in enumerate(given_)}
    found = gather_context(one, {f"i{n}": text for n, text in enumerate(implicit)}, ContextLimits(most, budget))
    assert sum(count_lines(piece.text) for piece in found.files) <= most
    assert sum(estimate_tokens(piece.text) for piece in found.files) <= budget
    shown = {piece.path: piece for piece in found.files}
    for path, text in one.items():
        whole = path in shown and not shown[path].left_out
        assert whole == (path in shown and shown[path].text == text)
        assert whole or any(said.startswith(f"{path} ") for said in found.left_out)
        assert path not in shown or count_lines(shown[path].text) + shown[path].left_out == count_lines(text)


class TestImplied:
    def implied(self, job: ModelJob, instructions: str = "", **texts: str) -> tuple[str, ...]:
        return guess_context_files(
            job, instructions, {path.replace("__", "/"): text for path, text in texts.items()}, LISTING
        )

    def test_files_named_in_the_instructions_are_found(self) -> None:
        found = self.implied(ModelJob("new/x.go"), "Like `pkg/core/task.py` and date.ts, not nope.py.")
        assert found == ("pkg/core/task.py", "web/lib/date.ts")

    def test_python_imports_are_found(self) -> None:
        job = ModelJob("pkg/x.py", ModelJobMode.EDIT, targets=("pkg/x.py",))
        text = "from pkg.core.task import Task\nfrom .core import plan\nfrom . import util\nimport os\n"
        found = guess_context_files(job, "", {"pkg/x.py": text}, LISTING)
        assert found[:1] == ("pkg/core/task.py",)
        assert "pkg/util.py" in found

    def test_typescript_imports_are_found(self) -> None:
        found = guess_context_files(
            ModelJob("web/app.ts"),
            "",
            {"web/app.ts": "import x from './api'\nimport {d} from \"./lib/date\"\n"},
            LISTING,
        )
        assert found[:2] == ("web/api/index.ts", "web/lib/date.ts")

    def test_rust_modules_are_found(self) -> None:
        found = guess_context_files(
            ModelJob("rs/src/main.rs"),
            "",
            {"rs/src/main.rs": "mod model;\nuse crate::model::job::Job;\n"},
            LISTING,
        )
        assert set(found[:2]) == {"rs/src/model/mod.rs", "rs/src/model/job.rs"}

    def test_tests_and_neighbours_are_found(self) -> None:
        found = self.implied(ModelJob("pkg/core/plan.py"))
        assert found[0] == "tests/test_plan.py"
        assert found[1:] == ("pkg/core/planning.py", "pkg/core/task.py")

    def test_the_jobs_own_files_are_left_out(self) -> None:
        job = ModelJob("pkg/core/plan.py", context=("tests/test_plan.py",), tests="pkg/core/task.py")
        assert self.implied(job, "see pkg/core/plan.py, pkg/core/task.py") == ("pkg/core/planning.py",)

    def test_binary_files_are_left_out(self) -> None:
        assert self.implied(ModelJob("x"), "pkg/core/logo.png package-lock.json") == ()


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_makes_it_raise(instructions: str, text: str) -> None:
    assert set(guess_context_files(ModelJob("pkg/x.py"), instructions, {"pkg/x.py": text}, LISTING)) <= set(LISTING)
    assert estimate_tokens(text) * 4 >= len(text)
