"""Words that say the opposite of each other.

In: a word. Out: its opposites. A hand-made closed list of the pairs that decide in medicine, law,
finance and support, with the forms that they take; pairs of which both may hold at once ("young",
"old") are left out unless one slot holds only one of them.
"""

from __future__ import annotations

from functools import lru_cache

from faithguard.verifiers.rules._reading import key_of

__all__ = ["affirmative", "opposed", "opposite"]

# each line: forms of one word | forms of its opposite
_PAIRS = """
    severe severely serious grave | mild mildly slight minor
    safe safely harmless fine | unsafe dangerous hazardous harmful risky unsafe
    suspend suspends suspended interrupt interrupts interrupted | continue continues continued
    donate donates donated | discard discards discarded
    unchanged constant | lowered raised changed altered increased reduced
    likely probable probably | unlikely improbable doubtful
    raise raises raised raising increase increases increased increasing rise rises rose risen rising
     grow grows grew grown growing climbs climbed | lower lowers lowered lowering decrease decreases
     decreased decreasing fall falls fell fallen falling drop drops dropped dropping
     decline declines declined shrank shrink shrinks reduce reduces reduced reducing
    accelerate accelerates accelerated accelerating speeds quicken quickens quickened
     | slow slows slowed slowing delay delays delayed ease eases eased easing
    lengthen lengthens lengthened prolong prolongs prolonged | shorten shortens shortened
    tighten tightens tightened | loosen loosens loosened relax relaxes relaxed ease eases eased
    win wins won | lose loses lost
    keep keeps kept retain retains retained | discard discards discarded abandon abandoned
    hire hires hired employ employs employed | dismiss dismisses dismissed fire fired sack sacked
    join joins joined | leave leaves left
    connect connects connected | disconnect disconnects disconnected
    back backs backed support supports supported welcome welcomes welcomed
     | reject rejects rejected oppose opposes opposed
    free gratis complimentary | chargeable charged
    like | unlike
    refundable | non-refundable
    recommended advisable | discouraged inadvisable
    obtain obtains obtained | waive waives waived
    advance advances advanced | retreat retreats retreated
    heat heats heated warm warms warmed | cool cools cooled chill chills chilled
    fill fills filled | empties emptied drain drains drained
    absorb absorbs absorbed | emit emits emitted release releases released
    overestimate overestimates overestimated | underestimate underestimates underestimated
    optimistic | pessimistic
    hard difficult | easy simple
    shallow | deep
    loud louder loudest | quiet quieter quietest
    rural | urban
    domestic | foreign international
    horizontal | vertical
    voluntary voluntarily | compulsory forced
    keep keeps kept retain retains retained | lose loses lost
    complete full | partial incomplete
    entirely completely fully wholly altogether | partly partially part
    domestic | abroad
    before | after
    open opens opened | close closes closed shut shuts
    allow allows allowed permit permits permitted | forbid forbids forbidden prohibit prohibits
     prohibited ban bans banned disallow disallowed
    include includes included including | exclude excludes excluded excluding
    enable enables enabled | disable disables disabled
    accept accepts accepted | reject rejects rejected refuse refuses refused decline declines
    approve approves approved | reject rejects rejected deny denies denied
    grant grants granted | refuse refuses refused deny denies denied revoke revokes revoked
    uphold upholds upheld | overturn overturns overturned reverse reverses reversed quash quashed
     dismiss dismissed
    pass passes passed | fail fails failed
    succeed succeeds succeeded | fail fails failed
    gain gains gained | lose loses lost
    profit profits | loss losses
    import imports imported | export exports exported
    debit debits debited | credit credits credited
    asset assets | liability liabilities
    surplus | deficit
    arrive arrives arrived | depart departs departed leave leaves left
    enter enters entered | exit exits exited leave leaves left
    start starts started begin begins began | stop stops stopped end ends ended finish finished
    above | below
    over | under
    inside | outside
    indoor indoors | outdoor outdoors
    early earlier earliest | late later latest
    first | last
    more | less fewer
    most | least fewest
    higher highest high | lower lowest low
    larger largest bigger biggest large big | smaller smallest small
    longer longest long | shorter shortest short
    faster fastest fast quickly | slower slowest slow slowly
    stronger strongest strong | weaker weakest weak
    better best | worse worst
    cheaper cheapest cheap | dearer dearest expensive
    warmer warm hot hotter | cooler cool cold colder
    wet | dry
    heavy heavier heaviest | light lighter lightest
    thick thicker | thin thinner
    wide wider widest | narrow narrower narrowest
    deep deeper | shallow shallower
    old older oldest | new newer newest young younger youngest
    full | empty
    safe | unsafe dangerous
    legal lawful | illegal unlawful
    valid | invalid void
    possible | impossible
    necessary | unnecessary
    available | unavailable
    eligible | ineligible
    compatible | incompatible
    visible | invisible hidden
    public | private
    internal | external
    mandatory compulsory obligatory required | optional voluntary
    temporary temporarily | permanent permanently
    positive | negative
    benign | malignant
    acute | chronic
    oral orally | intravenous intravenously topical topically
    present | absent
    healthy | ill sick diseased
    guilty | innocent acquitted
    plaintiff claimant | defendant
    tenant | landlord
    buyer | seller
    employer | employee
    lender creditor | borrower debtor
    upstream | downstream
    northern north | southern south
    eastern east | western west
    upper top | lower bottom
    front | rear back
    vertical | horizontal
    maximum | minimum
    majority | minority
    active | inactive passive
    online | offline
    manual manually | automatic automatically
    synchronous | asynchronous
    encrypted | unencrypted plaintext
    secure | insecure
    known | unknown
    similar alike | different dissimilar
    same | different
    equal | unequal
    married | unmarried single divorced
    male men man boys | female women woman girls
    summer | winter
    morning | evening afternoon
    weekday weekdays | weekend weekends
    strengthen strengthens strengthened | weaken weakens weakened
    improve improves improved | worsen worsens worsened deteriorate deteriorated
    expand expands expanded widen widens widened | contract contracts contracted narrow narrows
     narrowed
    add adds added | remove removes removed delete deletes deleted
    install installs installed | uninstall uninstalls uninstalled
    lock locks locked | unlock unlocks unlocked
    appear appears appeared | disappear disappears disappeared
    support supports supported | oppose opposes opposed
    agree agrees agreed | disagree disagrees disagreed
    confirm confirms confirmed | deny denies denied refute refutes refuted
    remember remembers remembered | forget forgets forgot forgotten
    outperform outperforms outperformed | underperform underperforms underperformed lagged lags
    exceed exceeds exceeded | undercut undershoot undershot
    push pushes pushed | pull pulls pulled
    avoid avoids avoided | seek seeks sought
    encourage encourages encouraged | discourage discourages discouraged
    attract attracts attracted | repel repels repelled
    dissolve dissolves dissolved | precipitate precipitates
    freeze freezes frozen | thaw thaws thawed melt melts melted
    inhibit inhibits inhibited | stimulate stimulates stimulated activate activates activated
     promote promotes promoted
    prevent prevents prevented | cause causes caused
    always | never rarely seldom
    often frequently | rarely seldom
    common | rare uncommon
    with | without
    both | neither
    everyone everybody | nobody
    everything | nothing
    everywhere | nowhere
    geöffnet offen | geschlossen zu
    kostenlos gratis | kostenpflichtig
    erlaubt gestattet | verboten untersagt
    steigt stieg erhöht erhöhte | sinkt sank senkt senkte
    ouvert ouverte ouverts ouvertes | fermé fermée fermés fermées
    gratuit gratuite gratuits gratuites | payant payante payants payantes
    autorisé autorisée autorisés | interdit interdite interdits
    augmente augmenté | diminue diminué baisse baissé
    abierto abierta abiertos abiertas | cerrado cerrada cerrados cerradas
    permitido permitida | prohibido prohibida
    aumenta aumentó subió | disminuye disminuyó bajó
    aperto aperta aperti aperte | chiuso chiusa chiusi chiuse
    consentito consentita | vietato vietata
    aberto aberta abertos abertas | fechado fechada fechados fechadas
    permitido | proibido
    incluido incluida inclus incluse compris comprise | excluido excluida exclus excluse
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    pairs = _PAIRS.replace("\n     ", " ").strip().splitlines()
    for line in pairs:
        one, two = (side.split() for side in line.split("|"))
        for words, others in ((one, two), (two, one)):
            for word in words:
                table.setdefault(word, set()).update(others)
    return {word: frozenset(others) for word, others in table.items()}


_OPPOSITES = _table()


@lru_cache(maxsize=1)
def _by_key() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for word, others in _OPPOSITES.items():
        if key := key_of(word):
            table.setdefault(key, set()).update(filter(None, map(key_of, others)))
    return {key: frozenset(others - {key}) for key, others in table.items()}


def opposed(one: str, other: str) -> bool:
    """Whether two keys stand for words that say the opposite of each other."""
    return other in _by_key().get(one, ())


_ADJECTIVES = ("ed", "able", "ible", "ful", "al", "ent", "ant", "ate", "ect", "ive", "ure", "ite",
               "ous", "ic", "ing", "ary", "ful", "ripe", "safe", "clear", "likely", "lawful",
               "fit", "fair", "true", "sure", "wise", "certain", "usual", "equal", "well", "aware",
               "able", "healthy", "happy", "tidy", "lucky", "common", "known", "born", "seen",
               "paid", "sold", "written", "proven", "worn", "broken", "spoken", "even", "just",
               "kind", "real", "like", "open")  # fmt: skip
_SHORTEST = 4


def affirmative(word: str) -> str | None:
    """Return a word without the syllable that denies it: "unfiltered", "non-members"."""
    if word.startswith(("non-", "non")) and len(word) > len("non") + _SHORTEST:
        return word.removeprefix("non").removeprefix("-")
    for syllable in ("un", "in", "im", "ir", "il"):
        rest = word.removeprefix(syllable)
        if rest != word and len(rest) >= _SHORTEST and rest.endswith(_ADJECTIVES):
            return rest
    return None


def opposite(word: str) -> frozenset[str]:
    """Return the words that say the opposite; empty for most."""
    return _OPPOSITES.get(word, frozenset())
