"""Words that say the same in the texts that answers are written from.

In: nothing. Out: the stem of a word -> the stem that stands for its group. A hand-made closed
list: it only helps two wordings to be seen as one statement and never vetoes anything by itself.
"""

from __future__ import annotations

from faithguard.verifiers._terms import stem

__all__ = ["SYNONYMS"]

_GROUPS = """
    buy purchase acquire bought purchased acquired acquisition
    cost price fee charge rate priced costs
    pay paid payment payable
    customer client shopper buyer
    employee staff worker
    shop store
    online website web internet
    begin start commence began started begun launch
    end finish expire conclude ended lapse
    close shut closed
    open opened opening
    obtain receive get granted given
    need require must required requirement
    permit allow permitted allowed
    forbid prohibit ban forbidden prohibited
    help assist support
    show display demonstrate
    increase rise grow grew rose climb raise increased risen grown
    decrease fall drop decline fell reduce lower shrink shrank fallen cut
    keep retain preserve kept
    store hold contain
    fix repair fixed
    delete remove erase
    make produce manufacture made
    child kid children
    doctor physician
    drug medicine medication
    car vehicle automobile
    house home
    firm company corporation business
    film movie
    employ hire
    quick fast rapid
    large big
    small little
    annual yearly
    monthly month
    weekly week
    daily day
    hourly hour
    total overall sum
    number count amount
    send submit sent deliver dispatch mail
    return refund sendback
    last final
    initial first
    lead head led chair
    create build built construct created
    choose select chose pick
    inform notify tell
    live reside resident inhabitant population
    leave depart departure left
    arrive reach arrival
    phone telephone call dial
    mean average
    patient participant subject
    journey trip travel
    salary wage earnings
    illness disease sickness
    error fault failure
    spouse husband wife partner
    euro euros
    book reserve reservation booking booked reserved
    broaden widen
    free gratis complimentary
    earn gain
    collect gather
    owner proprietor
    tenant renter
    landlord lessor
    measure size
    weigh weight
    adult grownup
    half halves
    discount reduction rebate
    stay remain
    speed velocity
    author writer wrote written
    win won winner beat defeat
    lose lost loser
    release publish issue released published
    extend prolong
    approve authorise authorize
    verify check confirm
    maximum max ceiling
    minimum min
    ship deliver shipping delivery
    breakfast breakfasts
    site website
    password passphrase
    picture image photo
    version release
    sign signed signature
    die died death
    bear born birth
    marry married marriage
    teach taught teacher
    discover discovery found
"""


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _GROUPS.strip().splitlines():
        words = [stem(word) for word in line.split()]
        for word in words:
            table.setdefault(word, words[0])
    return table


SYNONYMS = _table()
