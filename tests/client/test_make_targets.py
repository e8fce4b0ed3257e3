from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.client.make_targets import has_just_recipe, has_make_target

RULES = {
    "a recipe": "test:\n\tpytest\n",
    "what it needs": "test: unit lint\n",
    "a recipe on the same line": "test: ; pytest\n",
    "two colons": "test::\n\tpytest\n",
    "among other targets": "build test check: deps\n\tdo-it\n",
    "grouped with others": "a test &: b\n",
    "needs on a continued line": "test: \\\n  unit \\\n  lint\n",
    "a comment between": "test: ## all of them\n# quietly\n\n\t@pytest\n",
    "in a conditional": "ifdef CI\ntest:\n\tpytest\nendif\n",
    "declared phony first": ".PHONY: test\ntest:\n\tpytest\n",
    "windows line ends": "all:\r\n\techo\r\ntest:\r\n\tpytest\r\n",
    "another recipe prefix": ".RECIPEPREFIX = >\ntest:\n> pytest\n",
    "a variable for it, then the rule": "test: MODE = fast\ntest:\n\tpytest\n",
}
NO_RULES = {
    "nothing": "",
    "phony alone": ".PHONY: test\n.PHONY: all test\n",
    "a need of something else": "all: test\n\techo\n",
    "a longer name": "tests:\n\tpytest\nunit-test:\n\tpytest\ntest-all:\n\tpytest\n",
    "a variable": "test = a:b\n",
    "a variable of every kind": "test := a\ntest ::= a\ntest :::= a\ntest ?= a\ntest += a\ntest != a\n",
    "a variable for that target only": "test: CFLAGS = -g\ntest: export MODE := fast\n",
    "a comment": "# test: unit\n",
    "a line of a recipe": "all:\n\ttest: x\n",
    "a line of a recipe with another prefix": ".RECIPEPREFIX := >\nall:\n> test: x\n",
    "a text": "define HELP\ntest: runs the tests\nendef\n",
    "a message": "$(info test: is slow)\n",
    "a rule that does nothing": "test:\n\nall:\n\techo\n",
}


@pytest.mark.parametrize("text", RULES.values(), ids=RULES.keys())
def test_a_make_rule_is_a_target(text: str) -> None:
    assert has_make_target(text, "test")


@pytest.mark.parametrize("text", NO_RULES.values(), ids=NO_RULES.keys())
def test_text_that_only_looks_like_a_make_rule_is_no_target(text: str) -> None:
    assert not has_make_target(text, "test")


RECIPES = {
    "a body": "test:\n    pytest\n",
    "dependencies": "test: unit lint\n",
    "quiet": "@test:\n  pytest\n",
    "a parameter with a default": "test url=\"http://x:1\" mode='a b':\n  pytest\n",
    "any number of arguments": "test *args:\n  pytest {{args}}\n",
    "an exported parameter": "test $MODE='x':\n  pytest\n",
    "a comment": "test: # all of them\n  pytest\n",
    "an attribute above": "[group('ci')]\ntest:\n  pytest\n",
    "an alias": "alias test := check\ncheck:\n  pytest\n",
}
NO_RECIPES = {
    "nothing": "",
    "a variable": 'test := "x"\n',
    "an alias for it": "alias t := test\n",
    "an argument that it can't go without": "test target:\n  pytest {{target}}\n",
    "at least one argument": "test +targets:\n  pytest\n",
    "a longer name": "test-all:\n  pytest\ntests:\n  pytest\n",
    "a body's line": "all:\n  test: x\n",
    "a comment": "# test: x\n",
    "a recipe that does nothing": "test:\n\nall:\n  echo\n",
}


@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES.keys())
def test_a_just_recipe_is_found(text: str) -> None:
    assert has_just_recipe(text, "test")


@pytest.mark.parametrize("text", NO_RECIPES.values(), ids=NO_RECIPES.keys())
def test_text_that_only_looks_like_a_just_recipe_is_none(text: str) -> None:
    assert not has_just_recipe(text, "test")


pieces = st.lists(
    st.sampled_from(["test", ":", "=", "\n", "\t", " ", "define ", "endef", "(", '"', "\\", "#", "é", "\r"])
)


@given(pieces.map("".join))
def test_any_text_can_be_parsed(text: str) -> None:
    has_make_target(text, "test")
    has_just_recipe(text, "test")


@pytest.mark.parametrize("piece", ["test ", "test:", " ", "(", "test=", "test x=", '"', "\\\n", "define\n"])
def test_a_long_text_is_parsed_quickly(piece: str) -> None:
    has_make_target(piece * 200_000, "test")
    has_just_recipe("test" + piece * 200_000, "test")
