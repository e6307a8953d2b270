"""`seawall advise`: which backoff to take, and why."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seawall.advise import TRAITS, Advice, Contention, Needs, Trait
from seawall.advise import advise as advised
from seawall.cli._terminal import Terminal, console, table, terminal, wrapped
from seawall.strategies import STRATEGIES

if TYPE_CHECKING:
    from rich.console import Console

QUESTIONS = {
    "floor": "Does a wait near zero do harm, as after throttling?",
    "contention": "Do clients that retry at the same time make each other fail (one row, one lock, a full server)?",
    "predictable": "Must the wait be known roughly beforehand?",
    "server_hints": "Does the server say when to come back (Retry-After and the like)?",
}
OPTIONS = {
    "floor": "--floor-needed/--no-floor",
    "contention": "--contention low|high",
    "predictable": "--predictable/--unpredictable",
    "server_hints": "--server-hints/--no-server-hints",
}


def advise(
    floor: Annotated[
        bool | None,
        typer.Option("--floor-needed/--no-floor", help="Waits near zero do harm."),
    ] = None,
    contention: Annotated[
        Contention | None,
        typer.Option(help="Do clients that retry together make each other fail?"),
    ] = None,
    predictable: Annotated[
        bool | None,
        typer.Option("--predictable/--unpredictable", help="The wait must be known beforehand."),
    ] = None,
    server_hints: Annotated[
        bool | None,
        typer.Option("--server-hints/--no-server-hints", help="The server says when to come back."),
    ] = None,
    base: Annotated[float, typer.Option(help="First wait, in seconds.")] = 0.1,
    cap: Annotated[float, typer.Option(help="Longest wait, in seconds.")] = 20.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Recommend a backoff, with the reasons. Asks when nothing is said and somebody is there to answer."""
    answers: dict[str, Any] = {
        "floor": floor,
        "contention": contention,
        "predictable": predictable,
        "server_hints": server_hints,
    }
    if all(answer is None for answer in answers.values()) and not as_json and _somebody():
        answers = _asked()
    said = {name: answer for name, answer in answers.items() if answer is not None}
    try:
        needs = Needs(**said, base_s=base, cap_s=cap)
        advice = advised(needs)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    assumed = [name for name in answers if name not in said]
    if as_json:
        print(json.dumps(_as_json(needs, advice, assumed)))
        return
    out = terminal()
    _print_advice(console(out), out, advice)
    _print_comparison(console(out), out, advice.name)
    _print_end(console(out), out, needs, advice, assumed)


def _somebody() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked() -> dict[str, Any]:
    """The answers of whoever sits at the terminal; Enter takes the default."""
    answers: dict[str, Any] = {}
    for name, question in QUESTIONS.items():
        default = getattr(Needs, name)
        answer = typer.confirm(question, default=default in {True, "high"})
        answers[name] = ("high" if answer else "low") if name == "contention" else answer
    print()
    return answers


def _as_json(needs: Needs, advice: Advice, assumed: list[str]) -> dict[str, Any]:
    return {
        "strategy": advice.name,
        "code": repr(advice.backoff),
        "reasons": list(advice.reasons),
        "beside": list(advice.beside),
        "needs": {field: getattr(needs, field) for field in Needs.__fields__},
        "assumed": assumed,
        "comparison": [
            {field: getattr(trait, field) for field in Trait.__fields__} for trait in TRAITS
        ],
    }


def _print_advice(screen: Console, out: Terminal, advice: Advice) -> None:
    screen.print(f"Take {advice.name}: {STRATEGIES[advice.name].summary}\n", style="bold")
    screen.print(wrapped(repr(advice.backoff), out, " " * 4, " " * 8), style="cyan")
    for title, lines in (("Because", advice.reasons), ("Beside it", advice.beside)):
        screen.print(f"\n{title}", style="bold")
        for line in lines:
            screen.print(wrapped(line, out, "  - ", "    "))


def _print_comparison(screen: Console, out: Terminal, chosen: str) -> None:
    screen.print("\nThe jitters compared", style="bold")
    narrow = out.width < 78
    heads = ["jitter", "shortest", "spread", "calls", "herd", "at cap"]
    made = table(
        *heads, *([] if narrow else ["memory", "foreseen"]), left=2, gap=1 if narrow else 2
    )
    for trait in TRAITS:
        cells = [
            f"{trait.name}{' *' if trait.name == chosen else ''}",
            trait.shortest,
            f"{trait.spread:.0%}",
            "-" if trait.calls is None else str(trait.calls),
            str(trait.herd_peak),
            f"{trait.at_cap:.0%}",
        ]
        if not narrow:
            cells += ["yes" if trait.memory else "no", trait.predictable]
        made.add_row(*cells, style="bold" if trait.name == chosen else None)
    screen.print(made)
    notes = (
        "spread: at saturation, in parts of the cap. calls: 100 clients contend for one row (Brooker 2015). "
        "herd: most of 1000 clients in 20 ms. at cap: waits exactly at the cap in the long run."
    )
    screen.print(wrapped(notes, out))


def _print_end(
    screen: Console, out: Terminal, needs: Needs, advice: Advice, assumed: list[str]
) -> None:
    command = f"seawall explain {advice.name} --base {needs.base_s:g} --cap {needs.cap_s:g}"
    screen.print(f"\nSee it: {command}")
    if assumed:
        values = ", ".join(f"{_value(needs, name)} ({OPTIONS[name]})" for name in assumed)
        screen.print(wrapped(f"Not said, so the default was taken: {values}.", out))


def _value(needs: Needs, name: str) -> str:
    value = getattr(needs, name)
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}" if name != "predictable" else "not predictable"
    return f"{words} {value}"
