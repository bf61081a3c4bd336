"""The rules veto what they are sure of, and are silent about the rest."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from faithguard import check


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Rinse the filter three times a week.", "Rinse the filter twice a week."),
        ("Rinse the filter twice a week.", "Rinse the filter once a week."),
        ("Scooters are allowed in the hall, and bikes too.",
         "Scooters are not allowed in the hall, but bikes are."),
        ("The lift is open from 9 to 5 pm.", "The lift is open from 9:00 to 16:00."),
        ("Guests pay 9 EUR a night.", "Guests pay 9.50 EUR a night."),
        ("Tents cost 12 EUR.", "Tents cost 9 EUR, caravans 12 EUR and cabins 30 EUR."),
        ("The pass for juniors costs 40 EUR.",
         "The pass costs 25 EUR for juniors and 40 EUR for seniors."),
    ],
)  # fmt: skip
def test_contradicted(answer: str, context: str) -> None:
    """Another count, time, sum or polarity in the same statement is a contradiction."""
    report = check(answer, [context])

    assert report.supported == 0
    assert report.facts[0].label == "contradicted"


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Rinse the filter twice a week.", "Rinse the filter two times a week."),
        ("Old varnish can spoil the finish.",
         "Never use old varnish because it can spoil the finish."),
        ("The lift is open from 9 to 5 pm.", "The lift is open from 9:00 to 17:00."),
        ("The lift does not run at night.", "The lift does not run at night."),
        ("Caravans cost 12 EUR.", "Tents cost 9 EUR, caravans 12 EUR and cabins 30 EUR."),
        ("The pass for seniors costs 40 EUR.",
         "The pass costs 25 EUR for juniors and 40 EUR for seniors."),
        ("Huts cost 30 EUR.", "Tents cost 9 EUR, caravans 12 EUR and cabins 30 EUR."),
    ],
)  # fmt: skip
def test_not_contradicted(answer: str, context: str) -> None:
    """The same value in other words, and a reason after a prohibition, are no contradiction."""
    assert all(claim.label != "contradicted" for claim in check(answer, [context]).facts)


def test_the_value_after_the_same_words_is_named() -> None:
    """Of several times in a sentence the reason names the one that the claim is about."""
    context = "The ferry leaves the pier at 7:10 and reaches the island at 8:25."
    claim = check("The ferry reaches the island at 8:45.", [context]).facts[0]

    assert claim.reason == "the context says '8:25', the answer '8:45'"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_amid_checks_can_check() -> None:
    """No lock that another thread held at the fork stops the child."""
    stop = threading.Event()

    def work(worker: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            check(f"The pier has {number} lamps.", [f"The pier has {worker} lamps. {number}"])

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                check("The pier has 12 lamps.", ["The pier has 12 lamps."])
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.stdout.flush()
