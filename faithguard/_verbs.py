"""English verbs: the forms that one verb takes, and which words are verbs at all.

In: a word. Out: its base form if it can be a form of a verb, and whether it can be a participle.
A closed list of what documents and answers are written with; what ends in "ed" is a verb unseen.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["base_of", "is_participle", "is_past", "past_of"]

_IRREGULAR = """
    arise arose arisen, bear bore born, beat beat beaten, become became become, begin began
    begun, behold beheld beheld, bend bent bent, bind bound bound, bite bit bitten, blow blew
    blown, break broke broken, bring brought brought, broadcast broadcast broadcast, build built
    built, burst burst burst, buy bought bought, cast cast cast, catch caught caught, choose
    chose chosen, cling clung clung, come came come, cost cost cost, creep crept crept, cut cut
    cut, deal dealt dealt, dig dug dug, draw drew drawn, drink drank drunk, drive drove driven,
    dwell dwelt dwelt, eat ate eaten, fall fell fallen, feed fed fed, feel felt felt, fight
    fought fought, find found found, flee fled fled, fly flew flown, forbid forbade forbidden,
    foresee foresaw foreseen, forget forgot forgotten, forgive forgave forgiven, freeze froze
    frozen, get got got, give gave given, go went gone, grind ground ground, grow grew grown,
    hang hung hung, hear heard heard, hide hid hidden, hit hit hit, hold held held, hurt hurt
    hurt, keep kept kept, know knew known, lay laid laid, lead led led, lean leant leant, leap
    leapt leapt, learn learnt learnt, leave left left, lend lent lent, let let let, lie lay
    lain, light lit lit, lose lost lost, make made made, mean meant meant, meet met met, mislead
    misled misled, mistake mistook mistaken, mow mowed mown, outbid outbid outbid, outgrow
    outgrew outgrown, outsell outsold outsold, overbid overbid overbid, overcome overcame
    overcome, overhear overheard overheard, override overrode overridden, overrun overran
    overrun, oversee oversaw overseen, overtake overtook overtaken, overthrow overthrew
    overthrown, pay paid paid, put put put, quit quit quit, read read read, rebuild rebuilt
    rebuilt, redo redid redone, repay repaid repaid, resell resold resold, rewrite rewrote
    rewritten, ride rode ridden, ring rang rung, rise rose risen, run ran run, saw sawed sawn,
    say said said, see saw seen, seek sought sought, sell sold sold, send sent sent, set set
    set, sew sewed sewn, shake shook shaken, shine shone shone, shoot shot shot, show showed
    shown, shrink shrank shrunk, shut shut shut, sing sang sung, sink sank sunk, sit sat sat,
    slay slew slain, sleep slept slept, slide slid slid, sow sowed sown, speak spoke spoken,
    spend spent spent, spin spun spun, split split split, spread spread spread, spring sprang
    sprung, stand stood stood, steal stole stolen, stick stuck stuck, sting stung stung, strike
    struck struck, swear swore sworn, sweep swept swept, swell swelled swollen, swim swam swum,
    swing swung swung, take took taken, teach taught taught, tear tore torn, tell told told,
    think thought thought, throw threw thrown, undergo underwent undergone, understand
    understood understood, undertake undertook undertaken, uphold upheld upheld, wake woke
    woken, wear wore worn, weave wove woven, win won won, withdraw withdrew withdrawn, withhold
    withheld withheld, withstand withstood withstood, write wrote written
"""
_REGULAR = """
    abandon abduct abolish abridge absorb abstain abuse accelerate accept access accommodate
    accompany accumulate accuse achieve acknowledge acquire act activate adapt add address
    adhere adjourn adjust administer admire admit adopt adorn advance advertise advise advocate
    affect afford agree aim allege alleviate allocate allow alter amaze amend amputate analyse
    angle animate annex announce answer anticipate apologise appeal appear appease apply appoint
    appreciate approve approximate archive argue arrange arrest arrive ask assassinate assemble
    assert assess assign assist assume assure astonish attach attack attempt attend attract
    audit authorise avoid await awaken award back bake balance ban banish barter bask bathe beg
    behead believe belong bequeath besiege bestow betray bewilder bid bill blackmail blame blend
    bless block blockade board boil bombard book borrow bounce boycott brand breathe breed brew
    bribe brief bruise bully burgle burn bury calculate calibrate call campaign cancel capsize
    capture care carry carve cast castrate cause cease celebrate censor censure certify chair
    challenge champion change chant charge charm chase cheat check cheer chop circulate cite
    claim clap clarify clash classify clean cleanse clear climb clone close clothe coach coat
    coax cocoon coin collapse collect collide colonise combine comfort command commemorate
    comment commission commit commute compare compel compensate compete compile complain
    complete compliment comply compose compress comprise compute conceal concede conceive
    conclude condemn condense conduct confer confess confine confirm confront congratulate
    conjure connect conquer consent conserve consider consist console constitute constrict
    construe consult consume contact contain contaminate contemplate contend continue contract
    contradict contribute control convene convert convey convict convince cook cool cooperate
    coordinate copy correct correspond count cover crack crash crave crawl create cripple
    criticise cross crown crush cultivate curb curdle cure curse cushion damage dare dazzle
    decay deceive decide decipher declare decline decorate decrease decrypt dedicate deduce
    deduct deem deepen defame defeat defend defer define defy degrade delay delegate delete
    delight deliver demand demolish demonstrate demote denote deny depart depend depict deplete
    deploy deport depose deposit deprecate deride derive descend describe desecrate desert
    deserve design desire despise destroy detain detect deter determine detest dethrone detonate
    devalue develop devise devote devour dictate die differ dilute diminish direct disable
    disagree disappear disarm disband disbelieve discard discharge discipline disclose
    disconnect discourage discover discredit discuss disgrace disguise dislike dismantle dismiss
    dismount disobey dispatch dispel displace display dispute disqualify disregard disrupt
    dissect dissolve dissuade distinguish distort distract distribute distrust disturb divert
    divide divorce document dodge dominate donate double doubt downgrade download draft drag
    drain dread dress drop drown dump dupe dye earn eat eavesdrop eclipse edit educate elect
    elevate eliminate elude embarrass embed embezzle embrace emerge emigrate emit emphasise
    employ empower empty emulate enable enact enchant enclose encode encompass encounter
    encourage encrypt end endanger endorse endow endure enforce engage engrave engulf enhance
    enjoin enjoy enlarge enlighten enlist enrage enrich enrol enslave ensure entangle enter
    entertain entice entitle entrust envy equip erase erect erode escape escort espouse
    establish estimate estrange evacuate evade evaluate evict evolve exaggerate examine excavate
    exceed excel exchange exclude excommunicate execute exempt exert exhaust exhibit exile exist
    exonerate exorcise expand expect expel expire explain explode exploit explore export expose
    extend extinguish extort extract extradite fabricate face facilitate fail fascinate fasten
    favour fear feature ferment fertilise fetch file fill filter finalise finance find finish
    fire fit fix flag flatter flavour flee float flog flood flourish flow follow force forecast
    forfeit form fortify forward foster found freeze frighten frustrate fuel fulfil fund furnish
    gain gather gauge generate gnaw govern graduate grant grasp graze greet grieve grill grip
    guarantee guard guess guide hail halt halve hamper handle happen harass harbour harm harvest
    hatch hate haul haunt head heal heat help herd hesitate hinder hire hoard hoist hope host
    house hover humiliate hunt hypnotise identify idolise ignite ignore illustrate imitate
    immigrate immunise impair impeach impersonate implement implicate implore imply import
    impose impress imprison improve inaugurate incite incline include incorporate increase
    incubate incur indemnify indicate induce infect infiltrate inflate inflict influence inform
    infringe infuriate ingest inhabit inherit inhibit initiate inject injure inoculate inquire
    insert insist inspect inspire install instigate instruct insulate insult insure integrate
    intend intercept interfere interpret interrupt intervene interview intimidate intoxicate
    introduce invade invent invert invest investigate invite invoke involve irrigate isolate
    issue itch jail jeopardise join judge justify kick kidnap kill kiss knead kneel knock label
    lack lag lament land lash last laugh launch leak lease lecture lengthen liberate license
    lick lie lift liken limit line link liquidate list listen load lobby locate lock lodge log
    loot love lower lubricate lure lynch magnify mail maintain manage mandate manipulate
    manufacture marinate mark marry massacre match matter measure melt memorise menace mention
    mentor merge migrate mimic mine mirror mislead miss mistreat mitigate mix mock model
    moderate modify molest monitor mould mourn move multiply murder nag name narrow nationalise
    need neglect negotiate nest neutralise nickname nominate note notice notify nourish nudge
    nurse obey object oblige obscure observe obstruct obtain occupy occur offend offer offset
    omit open operate oppose orbit ordain order organise oust outlaw outline outnumber
    outperform outrank outsource outvote overhear overlook overpower overrule oversee overtake
    overthrow overturn overwhelm owe own oxidise pacify pack paint pardon park parody
    participate pass peel penetrate perceive perform permit persist persuade pester photograph
    pick pierce pilot pity place plagiarise plan plant play plead plough pluck plunder poach
    point poison polish pollinate possess postpone pound pour power practise praise pray preach
    precede predate predict prefer premiere prepare prescribe present preserve press presume
    pretend prevail prevent print privatise proceed process procure prod produce profit program
    prohibit prolong promise promote pronounce proofread propagate propel propose prosecute
    prosper protect prove provide provoke prune publicise publish pull pump puncture punish
    purchase purge purify pursue push qualify quarantine quash quell query quit quote raid raise
    rank ransom rate ratify ravage reach react rebel rebrand rebuild rebuke recall recapture
    recede receive recite reckon reclaim recognise recommend reconcile record recover recreate
    recruit recycle redden redeem redesign redirect redraw reduce refer refill reflect
    refrigerate refund refurbish refurnish refuse refute regain register regulate rehearse reign
    reimburse reinforce reinstate reject rejoin rekindle relate relax release relieve relinquish
    relish relocate rely remain remarry remedy remember remind remove rename render renew
    renounce rent repaint repair repay repeat repel replace replant replenish reply report
    represent reprimand reproduce repudiate request require reschedule rescue research resemble
    resent reserve reset resettle reshape resign resist resolve respect respond restart restore
    restrain restrict result resume resurrect retain retell retire retort retreat retrieve
    return reunite reveal revere revert review revise revive revoke reward ridicule rinse roast
    rob roll rotate route rub rule rush sabotage sack saddle sail salute sample sanction save
    savour scale scan scare scatter schedule scold score scorn scrap screen scrub sculpt seal
    search season seat secrete secure seduce segregate seize sentence separate serve settle
    share shatter shave shear shelter shield ship shorten shout shrug shun sign signal silence
    simmer sketch slander slaughter slay slow smear smell smile smoke smuggle sniff snub soak
    soften solve soothe sort sow span spank spare spawn specify speculate spell spill spoil
    sponsor spray sprinkle spurn squeeze stab stabilise staff stage stalk stare start startle
    starve state stay steam steer stem sterilise stimulate stir stop store strangle strengthen
    stretch strike strip study subdue sublet submerge submit subpoena subsidise substitute
    subtract subvert succeed succumb sue suffer suggest suit summarise summon supervise supplant
    supply support suppose suppress surpass surprise surrender surround survey survive suspect
    suspend sustain swallow swap sweep sweeten swindle switch tackle tailor talk tame tamper
    target tarnish taste tax tear tease tempt tend terminate terrify test testify thank thaw
    threaten thrive throttle thwart tickle tie tighten toast tolerate top topple torment torture
    toss touch tow trace track trade train trample transcribe transfer translate transmit
    transplant transport trap travel traverse treasure treat trespass trick trigger trim triumph
    troubleshoot trust try tune turn tutor twist tyrannise unearth unite unload unlock unmask
    unseat unveil update upgrade upload uproot upset urge use usurp utilise vacate vaccinate
    validate value vandalise vanish vary venerate verify veto victimise view vilify vindicate
    violate visit volunteer vote vow wait waive walk want warm warn warrant wash watch water
    wave weaken wear weave weigh welcome weld whip whisper widen wish withstand witness woo work
    worry worsen worship wound wrap wreck yield
"""


def _tables() -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    forms: dict[str, str] = {}
    participles: set[str] = set()
    bases: set[str] = set(_REGULAR.split())
    for entry in _IRREGULAR.split(","):
        base, past, participle = entry.split()
        bases.add(base)
        forms[past] = forms[participle] = base
        participles.add(participle)
    return forms, frozenset(participles), frozenset(bases)


_FORMS, _PARTICIPLES, _BASES = _tables()


_PAST = {base: past for base, past, _ in (entry.split() for entry in _IRREGULAR.split(","))}


def past_of(base: str) -> str:
    """Return what a verb in its base form is in a tale: "taught", "opened"."""
    if base in _PAST:
        return _PAST[base]
    if base in ("be", "have", "do"):
        return {"be": "was", "have": "had", "do": "did"}[base]
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}ed"


def is_past(word: str) -> bool:
    """Whether a word can tell of the past, or be a participle: "wrote", "written", "cut"."""
    return word in _FORMS or is_participle(word)


_SHORTEST = 4
"""Letters; "seed" and "need" are no participles."""


@lru_cache(maxsize=65_536)
def base_of(word: str) -> str | None:
    """Return the base form of a word in lower case; None where no form of a verb is known."""
    if word in _FORMS:
        return _FORMS[word]
    if word in _BASES:
        return word
    if word in _NO_VERBS:
        return None
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            for base in (stem + instead, stem, stem[:-1] if stem[-1:] == stem[-2:-1] else stem):
                if base in _BASES:
                    return base
    return word.removesuffix("ed") if _looks_past(word) else None


def _looks_past(word: str) -> bool:
    return word.endswith("ed") and len(word) > _SHORTEST and word not in _NO_VERBS


_NO_VERBS = frozenset("indeed hundred speed breed bleed seed weed deed reed greed shed red".split())


_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("es", "e"), ("ed", "e"), ("ing", "e"), ("s", ""),
)  # fmt: skip


def is_participle(word: str) -> bool:
    """Whether a word can be a past participle: "sold", "appointed"."""
    return word in _PARTICIPLES or _looks_past(word) or word in ("used", "owed")
