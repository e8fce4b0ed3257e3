"""Scripts of judges. Each knows its number from its checkout, and finds a change by a line of its diff."""

from __future__ import annotations

from pathlib import Path

from tests.support.contest_project import JUDGE

# $NAME is `judge-1` …; the prompt stays in a file, `letter LINE` prints the letter of the change that has this line.
_PREAMBLE = """NAME=${PWD##*+}
ASKED="$CONTENDERS/asked-$NAME"
cat >"$ASKED"
echo x >>"$CONTENDERS/turns-$NAME"
letter() { awk -v text="$1" '/^## Change/ {l=$3} index($0, text) == 1 {print l; exit}' "$ASKED"; }
verdict() { printf '{"ranking": [%s], "rejected": [%s], "reason": "%s"}\\n' "$1" "$2" "$3"; }
"""


def name_judges(count: int) -> list[str]:
    return [JUDGE, *(f"{JUDGE} {number}" for number in range(2, count + 1))]


def write_judges(folder: Path, *scripts: str, first: str, second: str) -> None:
    """One script for each judge; $FIRST and $SECOND are the quoted letters of the changes with these lines."""
    letters = f'FIRST="\\"$(letter \'{first}\')\\""\nSECOND="\\"$(letter \'{second}\')\\""\n'
    cases = "".join(f"judge-{number})\n{script}\n;;\n" for number, script in enumerate(scripts, 1))
    (folder / "judge.sh").write_text(f"{_PREAMBLE}{letters}case $NAME in\n{cases}esac\n")


FOR_FIRST = 'verdict "$FIRST, $SECOND" "" "it is complete"'
FOR_SECOND = 'verdict "$SECOND, $FIRST" "" "it is simpler"'
REJECT_ALL = 'verdict "" "$FIRST, $SECOND" "both are wrong"'
