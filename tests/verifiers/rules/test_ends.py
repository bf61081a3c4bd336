"""What begins and what ends when: the two ends of a stretch of time are not taken for each other.

In: a sentence of a context with claims of it. Out: what the rules alone veto.
"""

from __future__ import annotations

import pytest

from tests.verifiers.rules.cases import Case
from tests.verifiers.rules.test_cases import ruled, vetoed

WRONG = [
    ("The pool is open from 13:00 to 20:30.", "The pool opens at 8:30 pm."),
    ("The pool is open from 13:00 to 20:30.", "The pool closes at 13:00."),
    ("Enrolment runs from 4 June to 11 June.", "Enrolment begins on 11 June."),
    ("Enrolment runs from 4 June to 11 June.", "Enrolment ends on 4 June."),
    ("The lease term is 1 May 2021 to 30 April 2024.", "The lease starts on 30 April 2024."),
    ("The rebate is available from 6 July.", "The rebate is available until 6 July."),
    ("The rebate is available until 6 July.", "The rebate is available from 6 July."),
    ("Soup is served from noon to 3 pm.", "Soup is served from 3 pm."),
    ("The fair was held between 1988 and 1997.", "The fair began in 1997."),
    ("She chaired the board from 1981 to 1994.", "She chaired the board until 1981."),
    ("Surgery Mon-Fri 16-18.", "The surgery starts at six in the afternoon."),
    ("Check-in is from 3 pm to 9 pm, check-out until 11 am.", "Check-out is from 11 am."),
]
RIGHT = [
    ("The pool is open from 13:00 to 20:30.", "The pool opens at 1 pm and closes at 8:30 pm."),
    ("The pool is open from 13:00 to 20:30.", "The pool closes at half past eight in the evening."),
    ("Enrolment runs from 4 June to 11 June.", "Enrolment ends on 11 June."),
    ("The road is closed from 2 May to 9 May.", "The road reopens on 9 May."),
    ("Parking costs 5 euros from 2 May to 9 May.", "Parking is free until 2 May."),
    ("The tour runs from 9:00 to 13:00. Lunch follows at once.", "Lunch starts at 13:00."),
    ("Tours run 9-11 and 11-13.", "A tour starts at 11."),
    ("Early shift 6:00 to 14:00, late shift 14:00 to 22:00.", "The late shift ends at 22:00."),
    ("The hall is not open from 9:00 to 13:00.", "The hall opens at 13:00."),
    ("Talks at 9:00 and 11:00.", "The first talk starts at 9:00."),
    ("She chaired the board from 1981 to 1994.", "In 1994 her time on the board came to an end."),
]


@pytest.mark.parametrize(("context", "claim"), WRONG)
def test_the_other_end_is_vetoed(context: str, claim: str) -> None:
    """By a verb, by a preposition, in either direction."""
    assert vetoed(ruled(Case("dates_times", (context,), claim, claim), claim))


@pytest.mark.parametrize(("context", "claim"), RIGHT)
def test_what_may_be_so_is_left_alone(context: str, claim: str) -> None:
    """Also where one stretch begins as another ends, or the sentence is of something else."""
    assert not vetoed(ruled(Case("dates_times", (context,), claim, claim), claim))
