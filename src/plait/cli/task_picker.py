"""`plait run -i`: choose tasks from a list on the terminal. What they need is included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from plait.cli.format import pluralize
from plait.cli.live.screen import Screen
from plait.cli.live.signals import SignalCounter
from plait.cli.live.terminal_style import StyledLine, TerminalStyle, choose_terminal_style
from plait.cli.output import find_terminal, print_line, prompt_line
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names

if TYPE_CHECKING:
    from rich.console import Console

KEY_WAIT_SECONDS = 0.25  # between two looks at the terminal's size and at signals
_MAX_ID_WIDTH = 36
_MAX_NAMES = 2
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True, slots=True)
class Choice:
    """A task that can be chosen. `needs` are the ids of the tasks that it needs directly."""

    id: str
    title: str
    needs: tuple[str, ...] = ()


class TaskPicker:
    """The list: which line the cursor is on, which tasks are chosen, and what each key does."""

    def __init__(self, choices: Sequence[Choice], chosen: Sequence[str] = ()) -> None:
        self._choices = tuple(choices)
        self._index = {choice.id: number for number, choice in enumerate(self._choices)}
        self._chosen = {self._index[name] for name in chosen}
        self._cursor = min(self._chosen, default=0)
        self._typed = ""
        self._page = 10
        self.is_done = False
        self.is_cancelled = False

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(self._choices[number].id for number in sorted(self._chosen))

    def press(self, key: str) -> None:
        """Handle a key. Digits go to the line with that number; unknown keys, and keys after Return, do nothing."""
        if self.is_done:
            return
        if key.isdecimal():
            self._go_to_number(key)
            return
        self._typed = ""
        last = len(self._choices) - 1
        moves = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -self._page, "pagedown": self._page}
        if key in moves:
            self._cursor = min(last, max(0, self._cursor + moves[key]))
        elif key in {"home", "end"}:
            self._cursor = 0 if key == "home" else last
        elif key == " ":
            self._chosen ^= {self._cursor}
        elif key == "a":
            everything = set(range(len(self._choices)))
            self._chosen = set() if self._chosen == everything else everything
        elif key in {"\r", "\n"}:
            self._chosen = self._chosen or {self._cursor}
            self.is_done = True
        elif key == "q":
            self.is_cancelled = True

    def _go_to_number(self, digit: str) -> None:
        for typed in (self._typed + digit, digit):
            if 1 <= int(typed) <= len(self._choices):
                self._typed, self._cursor = typed, int(typed) - 1
                return

    def find_needed(self) -> dict[int, list[str]]:
        """Return the lines that are needed but not chosen, with the tasks that need them directly."""
        needed: dict[int, list[str]] = {}
        waiting = sorted(self._chosen)
        seen = set(waiting)
        while waiting:
            choice = self._choices[waiting.pop(0)]
            for number in (self._index[name] for name in choice.needs if name in self._index):
                if number not in self._chosen:
                    needed.setdefault(number, []).append(choice.id)
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        return needed

    def render(self, width: int, height: int, terminal: TerminalStyle) -> list[StyledLine]:
        """Render the list. Every line fits the width, and there are fewer lines than the terminal has."""
        needed = self.find_needed()
        self._page = max(1, height - 4)
        first = max(0, min(self._cursor - self._page // 2, len(self._choices) - self._page))
        shown = range(first, min(len(self._choices), first + self._page))
        ids = min(_MAX_ID_WIDTH, max((cell_len(terminal.sanitize(choice.id)) for choice in self._choices), default=0))
        hint = terminal.replace_signs("space choose · a all · number go to · Return run · q quit")
        return [
            ((terminal.fit(self._format_headline(len(needed), terminal), width), "bold"),),
            *(self._render_line(number, needed.get(number, []), ids, width, terminal) for number in shown),
            ((terminal.fit(f" {hint}", width), "dim"),),
        ]

    def _format_headline(self, needed: int, terminal: TerminalStyle) -> str:
        also = f" and {needed} that they need" if needed else ""
        total = pluralize(len(self._choices), "task")
        return terminal.replace_signs(f"Which tasks? {len(self._chosen)} of {total} chosen{also}")

    def _render_line(
        self, number: int, needed_by: Sequence[str], ids: int, width: int, terminal: TerminalStyle
    ) -> StyledLine:
        choice = self._choices[number]
        mark, style = ("x", "green") if number in self._chosen else ("+", "yellow") if needed_by else (" ", "")
        pointer = ">" if number == self._cursor else " "
        count = len(str(len(self._choices)))
        head = f"{pointer} {number + 1:>{count}} [{mark}] "
        label = terminal.pad(terminal.fit_middle(terminal.sanitize(choice.id), ids), ids)
        needed = f"needed by {join_names(list(needed_by), _MAX_NAMES)}" if needed_by else ""
        about = terminal.replace_signs(" · ").join(filter(None, (choice.title, needed)))
        text = terminal.fit(f"{head}{label}  {terminal.sanitize(about)}", width)
        return ((text, f"bold {style}".strip() if number == self._cursor else style),)


def pick_tasks(choices: Sequence[Choice], chosen: Sequence[str]) -> tuple[str, ...] | None:
    """Let the person choose on the terminal; return the tasks, without those that they need; None if the person left."""
    console = find_terminal()
    if console is None or console.is_dumb_terminal:
        return _pick_by_numbers(choices)
    picker = TaskPicker(choices, chosen)
    _run_picker(picker, console)
    return None if picker.is_cancelled else picker.chosen


def _run_picker(picker: TaskPicker, console: Console) -> None:
    terminal = choose_terminal_style(console.encoding)
    with SignalCounter() as signals, Screen(console) as screen:
        while not (picker.is_done or picker.is_cancelled):
            screen.draw(picker.render(*screen.get_size(), terminal))
            for key in screen.keys.read(KEY_WAIT_SECONDS):
                picker.press(key)
            picker.is_cancelled |= not screen.keys.is_available or signals.interrupts > 0
            if signals.exit_signal is not None:
                raise SystemExit(128 + signals.exit_signal)
        screen.clear()


def _pick_by_numbers(choices: Sequence[Choice]) -> tuple[str, ...] | None:
    """Ask for the numbers of tasks, for terminals that can't move their cursor."""
    count = len(str(len(choices)))
    for number, choice in enumerate(choices, 1):
        print_line(f"{number:>{count}}  {choice.id}  {choice.title}")
    while True:
        typed = prompt_line("Which tasks, such as 1 3-5? Empty: none. ")
        if not typed:
            return None
        try:
            return tuple(choices[number - 1].id for number in parse_numbers(typed, len(choices)))
        except UserError as error:
            print_line(error.message)


def parse_numbers(text: str, last: int) -> list[int]:
    """Parse `1 3-5` as numbers from 1 to `last`, sorted. Raises UserError for anything else."""
    numbers: set[int] = set()
    for word in re.split(r"[,\s]+", text.strip()):
        match = _RANGE.fullmatch(word)
        first, end = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= end <= last:
            raise UserError(f"{word} is no number or range from 1 to {last}")
        numbers.update(range(first, end + 1))
    return sorted(numbers)
