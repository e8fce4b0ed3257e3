"""The preflight of `plait run`: its output as it comes, and what happens if the base fails."""

from __future__ import annotations

import sys

from plait.cli.live.signals import SignalCounter
from plait.cli.output import INTERRUPTED, USAGE, Page, ask_yes_no, find_terminal, print_line, replace_control_chars
from plait.client.preflight import BaseCheck, Preflight
from plait.client.preflight_run import PreflightError, PreflightStoppedError, run_preflight
from plait.core.errors import UserError


def print_signer(program: str) -> None:
    """Say that a test signature takes long; "": it is made."""
    if program:
        print_line(f"Waiting for {program}, which signs a test commit and may ask for a passphrase.", stderr=True)


def check_base(preflight: Preflight, *, interactive: bool, as_json: bool) -> int | None:
    """Run the checks; return None if agents may start, else the exit code. Raises PreflightError or WorldError if no
    person can be asked.
    """
    is_live = not as_json and find_terminal() is not None

    def print_check(check: BaseCheck) -> None:
        if check.agent:
            agent = "the agent command" if check.agent == "command" else check.agent
            print_line(f"Looking for a node that can run {agent}", stderr=not is_live)
            return
        first, *rest = check.command.strip().split("\n")
        command = f"{first} …" if rest else first
        print_line(f"Checking {check.name} on the base commit {preflight.base[:10]}: {command}", stderr=not is_live)

    def print_output(line: str) -> None:
        if not is_live:
            return
        if line.startswith("plait: "):
            print_line(f"  {line}", indent=4)
        else:  # output of another program stays as it is
            sys.stdout.write(f"  {replace_control_chars(line)}\n")
            sys.stdout.flush()

    try:
        with SignalCounter() as signals:
            run_preflight(
                preflight, print_check, print_output, lambda: signals.interrupts > 0 or bool(signals.exit_signal)
            )
    except PreflightStoppedError:
        print_line("Nothing was started.", stderr=as_json)
        return INTERRUPTED
    except PreflightError as error:
        if not is_live:
            raise
        if not interactive:  # its output has been shown
            raise UserError(error.summary, hint=error.hint) from error
        return _ask(error)
    return None


def _ask(error: PreflightError) -> int | None:
    page = Page()
    page.add_line(("error", "bold red"), f" {error.summary}", indent=2)
    page.show()
    print_line(("  Every task starts from this commit, so its own check would fail, too.", "dim"))
    print_line(("  Fix it first; or start, if the tasks are meant to fix it (--no-preflight).", "dim"))
    if ask_yes_no("Start the agents anyway? [y/N] ", default=False):
        return None
    print_line("Nothing was started.")
    return USAGE
