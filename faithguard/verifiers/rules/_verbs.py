"""English verbs: the forms that one verb takes, and which words are verbs at all.

In: a word. Out: its base form if it can be a form of a verb, and whether it can be a participle.
A closed list of what documents and answers are written with; what ends in "ed" is a verb unseen.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["base_of", "is_participle", "is_past"]

_IRREGULAR = """
    become became become, begin began begun, bind bound bound, break broke broken,
    bring brought brought, build built built, buy bought bought, catch caught caught,
    choose chose chosen, come came come, cost cost cost, cut cut cut, deal dealt dealt, dig dug dug,
    draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen,
    feed fed fed, feel felt felt, fight fought fought, find found found, flee fled fled,
    fly flew flown, forbid forbade forbidden, forget forgot forgotten, freeze froze frozen,
    get got got, give gave given, go went gone, grow grew grown, hang hung hung, hear heard heard,
    hide hid hidden, hit hit hit, hold held held, keep kept kept, know knew known, lay laid laid,
    lead led led, learn learnt learnt, leave left left, lend lent lent, let let let, lie lay lain,
    light lit lit, lose lost lost, make made made, mean meant meant, meet met met,
    overtake overtook overtaken, pay paid paid, put put put, quit quit quit, read read read,
    ride rode ridden, ring rang rung, rise rose risen, run ran run, say said said, see saw seen,
    seek sought sought, sell sold sold, send sent sent, set set set, shoot shot shot,
    show showed shown, shrink shrank shrunk, shut shut shut, sing sang sung, sink sank sunk,
    sit sat sat, sleep slept slept, speak spoke spoken, spend spent spent, split split split,
    spread spread spread, stand stood stood, steal stole stolen, stick stuck stuck,
    strike struck struck, swim swam swum, take took taken, teach taught taught, tear tore torn,
    tell told told, think thought thought, throw threw thrown, understand understood understood,
    undertake undertook undertaken, wear wore worn, win won won, withdraw withdrew withdrawn,
    write wrote written, withhold withheld withheld, uphold upheld upheld, undergo underwent undergone,
    forgive forgave forgiven, mistake mistook mistaken, rebuild rebuilt rebuilt, repay repaid repaid,
    resell resold resold, rewrite rewrote rewritten, outgrow outgrew outgrown, foresee foresaw foreseen,
    oversee oversaw overseen, withstand withstood withstood, arise arose arisen, blow blew blown,
    bend bent bent, bite bit bitten, cling clung clung, creep crept crept, dwell dwelt dwelt,
    grind ground ground, hurt hurt hurt, lean leant leant, leap leapt leapt, shake shook shaken,
    shine shone shone, slide slid slid, spin spun spun, spring sprang sprung, sting stung stung,
    swear swore sworn, sweep swept swept, swell swelled swollen, swing swung swung, wake woke woken,
    weave wove woven, burst burst burst, cast cast cast, broadcast broadcast broadcast,
    overthrow overthrew overthrown, overhear overheard overheard, behold beheld beheld, slay slew slain,
    flee fled fled, mislead misled misled, outbid outbid outbid, overbid overbid overbid, override overrode overridden, overrun overran overrun, outsell outsold outsold, redo redid redone,
    mow mowed mown, sow sowed sown, sew sewed sewn, saw sawed sawn, steal stole stolen,
    beat beat beaten, bear bore born, overcome overcame overcome
"""
_REGULAR = """
    abolish absorb accept access accompany achieve acquire act activate add address adjust admire
    admit adopt advise affect agree allow amend announce answer appear apply appoint approve argue
    arrange arrive ask assess assign assist attach attack attend attract audit avoid award ban
    bathe belong bid bill block board book borrow brief bury call cancel capture carry cause
    celebrate challenge change charge check claim classify clean clear climb close collect combine
    command commission compensate compete complain complete comply compose conclude conduct confirm
    connect consider consist consult consume contact contain continue contract contribute control
    convert cook cool copy correct cover create criticise cross cure damage decide declare decline
    decrease deduct defeat defend define delay delegate delete deliver demand deny depart depend
    deposit derive describe design destroy detect determine develop dictate die direct disable
    disappear discard discharge discourage discover discuss dismiss display dispute dissolve
    distribute divide document donate double drain drop earn edit elect employ empty enable
    encourage encrypt end endorse enforce engage enhance enjoy enlarge enrol ensure enter entitle
    escape establish evaluate examine exceed exchange exclude execute exempt exhibit exile exist
    expand expect expire explain export expose extend face fail favour file fill filter finance
    fire find finish fit fix follow force forward found fuel fund gain gather generate govern grant
    guarantee guard guide halt handle happen harm harvest head heat help hire host house
    identify ignore implement import impose improve incline include increase incubate indemnify
    indicate induce infect influence inform inherit inhibit inject injure insert inspect install
    instruct insure integrate intend introduce invent invest investigate invite involve issue join
    judge justify kill knock label lack land last launch lease license lift limit link list load
    locate lock log lower maintain manage manufacture mark marry match measure melt mention merge
    migrate mix model modify monitor move multiply name need neglect negotiate nest nominate note
    notify obtain occupy occur offer omit open operate oppose order organise outlaw outperform own
    oxidise pack paint pardon park participate pass perform permit persist place plan plant play
    point possess postpone power practise praise precede prefer premiere prepare prescribe present
    preserve press prevent print produce prohibit promise promote propose prosecute protect prove
    provide publish pump punish purchase push qualify quarantine quote raise rank reach react
    rebuild receive recognise recommend record recover recruit recycle reduce refer refill reflect
    refrigerate refund refuse regain register regulate reimburse reject release rely remain remember
    remove renew rent repair repeat replace reply report represent request require rescue research
    reserve reset resign resist resolve respond restart restore restrict result resume retain
    retire return reveal review reward rinse rule sail sample save schedule scan score screen seal
    search seat secure separate serve settle share ship shorten sign slow smoke soak solve sort
    sponsor start state stay stimulate stop store strengthen study sublet submit succeed sue suffer
    suggest supervise supply support suppress surround suspend swallow swap switch target tax test
    thank threaten tolerate touch track trade train transfer translate transmit transport
    travel treat trigger trust try turn unlock update upgrade use vaccinate validate value veto
    view violate visit vote wait walk want warn wash water weaken wear weigh welcome widen work
    apply administer accommodate accumulate advance arrest calculate circulate collapse conceal
    confer confess contradict crash curdle decay deposit depose deprecate deploy desert dilute
    display disrupt eat elect eliminate emit erode evacuate evolve ferment flood flow forward gain
    heal hinder host imprison insist interview isolate knead lecture lengthen line mail mentor
    narrow obey obtain occur outnumber outsource overrule own peel persuade pour predict proceed
    process program promote purify query raid recall recite redeem repel reproduce respect retreat
    rub sack sanction season secrete sentence simmer sketch span spray stem sterilise stir stretch
    succeed sweeten tend terminate thaw tighten trace trap tutor unite urge utilise verify witness
    abduct abridge abstain accompany adjourn adorn advocate afford allege alleviate amaze amputate
    angle animate appease approximate assassinate astonish await awaken banish barter bask beg behead
    bequeath besiege bestow bewilder blackmail blockade bombard boycott bribe bruise bully burgle
    capsize carve castrate censor censure chant charm cheat cheer clap cleanse clone clothe coach coax
    cocoon comfort commemorate commute compel compliment conceive condense congratulate conjure
    conquer consent console constrict construe contemplate contract convey crave crawl cripple crown
    curb curse cushion dare dazzle deceive decipher decorate decrypt deduce defame defy delight
    demote deplete deport deride desecrate despise dethrone detest detonate devalue devour dictate
    disarm disband disbelieve discipline discredit disgrace disguise dislike dismantle dismount
    disobey dispatch dispel displace disregard dissect dissuade distort distract distrust divorce
    dodge doubt downgrade drag dread drown dump dupe eavesdrop eclipse elevate elude embarrass
    embezzle embrace emigrate empower emulate enchant enclose encode encompass endow engrave engulf
    enjoin enlighten enrage enrich enslave entangle entertain entice envy escort espouse estrange
    evict excel excommunicate execute exonerate exorcise explode extort extradite fascinate fertilise
    flatter flavour flee flog forfeit fortify frighten frustrate gnaw govern grieve guess hail harass
    haunt herd hinder hoard hoist humiliate hypnotise idolise immigrate immunise impeach impersonate
    implicate implore inaugurate incite infiltrate inflate infuriate ingest injure inoculate inquire
    instigate intercept intimidate intoxicate invert itch jeopardise kidnap kneel lament lash leak
    lick lie liken lodge loot lure lynch manipulate marinate massacre memorise menace migrate mimic
    mislead mistreat mock molest mould murder nag neutralise nickname nourish nudge obscure observe
    occupy ordain orbit outnumber outrank outvote overhear overlook overpower overtake overthrow
    overturn overwhelm pacify parody pester pierce pity plagiarise plant plead pluck poach poison
    pound preach prefer prod proofread propagate provoke prune purge quash quell ransom ravage rebel
    rebuke recapture reckon redden rehearse reign rejoin rekindle relinquish relish remarry
    renounce repaint replant reprimand repudiate resent restrain resurrect retell retort revere ridicule
    rob rule sabotage saddle savour scare scold scorn scrub seduce segregate shave shear shun slander
    slaughter slay smear smuggle sniff snub soothe spank sponsor sprinkle spurn squeeze stab stalk
    startle starve steam strangle strike subdue subpoena subvert summon supplant surrender swap swindle
    tame tarnish tease tempt terrify testify threaten thwart tickle tolerate topple torment torture
    trample transcribe transplant traverse treasure trespass trick tutor tyrannise unearth unmask
    unseat uproot usurp vandalise venerate victimise vilify vindicate warm warn whip whisper witness
    woo wound wreck
    aim believe breathe care count deserve fear form hate hope kiss laugh listen love matter miss owe
    pick pour pretend pull relate roll rush shout smell smile spell stare suit suppose surprise talk
    taste tie twist watch wave wish worry wrap
    abandon abuse accuse acknowledge adapt adhere advertise allocate alter anticipate apologise appeal
    appreciate assert assume assure attempt await bake betray blend bounce brand breathe calibrate
    cease certify chop cite clarify clash coin comment comprise compress concede confine confront
    conserve constitute contaminate contend convene convict convince correspond crack crush declare
    dedicate deem deepen defer degrade demolish denote depict descend desire detain deter devote differ
    diminish disagree disclose disconnect disqualify distinguish disturb divert dominate edit educate
    emerge emphasise enact encounter endure enlist entrust equip erase erect estimate evade exaggerate
    excavate exert exhaust exile exploit explore extinguish extract fabricate facilitate fasten fetch
    finalise float flourish foster fulfil furnish grasp graze greet grip halve hamper hatch hesitate
    hover ignite imitate impair imply impress incur inflict inhabit initiate insulate insult interfere
    interrupt intervene invade invoke irrigate justify launch liberate liquidate lobby lubricate
    magnify merge mitigate moderate mourn nationalise negotiate notify oblige obstruct offend offset
    omit oust outline penetrate perceive photograph plough plunder possess pray predate prepare presume
    prevail privatise procure prolong pronounce propel prosper publicise puncture pursue quit ratify
    rebrand recede reclaim reconcile recreate redesign redirect redraw refurbish refurnish reinforce
    reinstate relate relax relieve relocate rely remedy render repaint repay replenish reschedule
    reshape resemble resettle retrieve reunite revert revise revive revoke rinse roast salute scatter
    scrap sculpt seize shatter shelter shield shrug signal silence soften spawn specify speculate
    stabilise strip submerge subsidise substitute subtract succumb summarise surpass survey survive
    suspect sustain tamper tear thrive tow trim triumph troubleshoot unload unveil upset vacate vanish
    vary vow waive warrant withstand worsen worship yield
    accelerate analyse annex archive assemble authorise back bake balance blame bless boil breed
    brew burn campaign cast chair champion chase classify coach coat collide colonise commit
    compare compile compute condemn cooperate coordinate crown cultivate deliver demonstrate
    devise disclose donate draft dress dye embed endanger equip exempt expel feature flag forecast
    freeze gauge graduate grill guide harbour haul hunt illustrate inaugurate incorporate infringe
    inspire interpret invade jail kick lag lobby mandate migrate mine mirror mould move notice
    nurse object oversee pilot pollinate polish profit provoke rate refute remind rename render
    rotate route sample scale ship sow spare spill spoil stage staff steer sweep tackle tailor
    threaten throttle toast top toss translate trim tune upload download volunteer weave weld
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
