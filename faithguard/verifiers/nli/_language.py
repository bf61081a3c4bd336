"""Is a text in the language that the model was trained on?

In: a claim. Out: yes or no. Closed lists of the commonest words tell English from its
neighbours; a short text without any of them, such as a name and a number, passes.
"""

from __future__ import annotations

import re

__all__ = ["is_english"]

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]+")

_ENGLISH = frozenset(
    """
    the of and to in is are was were be been for with that this it its as at by from on or an has
    have had not no but which who when where what how you your they their we our he she his her
    will would can could may must should if than then there these those into after before under
    over all any each only most more up does do did per about also because been being between both
    during every few first its itself last many much near never new next no nor now off often old
    once one other our out own same since so some such than through too two three four five until
    very via while whose why within without yet day days week weeks month months year years hour
    hours time times people costs cost opens open closes closed called made makes given used uses
    found known named located built born won free
    """.split()
)
_OTHERS = (
    frozenset(
        """
    der die das und ist sind nicht ein eine einen dem den des von mit für auf im zu wird werden
    el la los las y es son en del una con por para que no se su lo como más fue
    le les et est sont un une des du dans pour avec sur par qui que pas au aux ce cette il elle
    il lo gli e è sono di della dei con per non che si anche da nel alla
    o os as e é são em do da dos das um uma com por para não que se foi ao
    het een en van is zijn niet op met voor aan te dat de bij naar
    och är en ett som på för med av till inte den det att har
    og er et på med til ikke som af det jeg
    ve bir bu için ile de da olan
    i w z na nie jest się do to jak
    """.split()
    )
    - _ENGLISH
)


def is_english(text: str) -> bool:
    """Say whether a text may be taken for English."""
    letters = "".join(_LETTERS.findall(text))
    if not letters:
        return True
    latin = sum(map(len, _LATIN.findall(letters)))
    if latin < 0.7 * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    if others > english:
        return len(words) < 3
    # German and Scandinavian sentences of rare words: their letters tell
    return english > 0 or sum(not letter.isascii() for letter in letters) <= 0.04 * len(letters)
