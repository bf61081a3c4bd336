"""Two names of one thing, written as a claim writes it.

In: a claim and a text. Out: the text, in which what the claim names stands under the claim's name.
A small model of words knows few such pairs, so the commonest stand in a hand-made closed list:
terms of which each may take another's place in any sentence, and that mean nothing else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

__all__ = ["named_as"]

_GROUPS = """
    database, data store, datastore, data base
    website, web site, internet site
    web page, webpage
    hard disk, hard drive, hard disk drive
    solid state drive, solid-state drive, SSD
    open source, open-source
    web browser, internet browser
    spreadsheet, spread sheet
    passcode, access code
    repository, repo
    documentation, docs
    environment variable, env variable, env var
    laptop, notebook computer, portable computer
    mobile phone, cell phone, cellphone
    text message, SMS
    voicemail, voice mail
    video call, video conference, videoconference
    vacuum cleaner, hoover
    refrigerator, fridge
    freezer, deep freeze
    washing machine, clothes washer
    dishwasher, dish washer
    television, TV
    headphones, earphones
    light bulb, lightbulb
    flashlight, electric torch
    lorry, truck
    motorbike, motorcycle, motor cycle
    bicycle, bike, pedal cycle
    aeroplane, airplane
    petrol, gasoline
    car park, parking lot, parking area
    petrol station, gas station, filling station
    pavement, sidewalk
    motorway, freeway
    number plate, license plate, licence plate
    driving licence, driving license, driver's license, driver's licence
    underground railway, subway
    bookshop, bookstore, book store, book shop
    pharmacy, drugstore, drug store
    cinema, movie theater, movie theatre
    canteen, cafeteria
    gym, fitness centre, fitness center, fitness studio
    primary school, elementary school
    playground, play area
    toilet, restroom, lavatory, washroom
    apartment building, block of flats, apartment block
    faucet, water tap
    sofa, couch, settee
    wardrobe, clothes closet
    garbage, rubbish
    trash can, dustbin, garbage can, rubbish bin
    nappy, diaper
    pushchair, stroller, baby buggy
    biscuit, cookie
    aubergine, eggplant
    courgette, zucchini
    coriander, cilantro
    postcode, post code, postal code, zip code
    email, e-mail, electronic mail
    phone number, telephone number
    date of birth, birth date
    bank holiday, public holiday
    annual leave, paid vacation, paid holiday
    sick leave, medical leave
    lawyer, attorney
    dentist, dental surgeon
    paediatrician, pediatrician, children's doctor
    general practitioner, family doctor, GP
    dermatologist, skin doctor, skin specialist
    cardiologist, heart specialist
    veterinarian, animal doctor
    emergency department, emergency room, casualty department
    intensive care unit, ICU
    high blood pressure, hypertension
    low blood pressure, hypotension
    heart attack, myocardial infarction
    blood thinner, anticoagulant
    painkiller, pain reliever, analgesic
    blood sugar, blood glucose
    low blood sugar, hypoglycaemia, hypoglycemia
    high blood sugar, hyperglycaemia, hyperglycemia
    kidney failure, renal failure
    liver failure, hepatic failure
    kidney disease, renal disease
    liver disease, hepatic disease
    acetaminophen, paracetamol
    adrenaline, epinephrine
    salbutamol, albuterol
    vitamin c, ascorbic acid
    birth control pill, contraceptive pill, oral contraceptive
    flu, influenza
    chickenpox, chicken pox, varicella
    whooping cough, pertussis
    hay fever, allergic rhinitis
    nosebleed, nose bleed, epistaxis
    physiotherapy, physical therapy
    adverse effect, side effect
    value added tax, value-added tax, VAT
    gross domestic product, GDP
    interest rate, rate of interest
    current account, checking account
    cash machine, cash dispenser, ATM
    human resources, hr department
    chief executive officer, chief executive, CEO
    chief financial officer, finance chief, CFO
    working day, business day, workday
    head office, headquarters
    free of charge, at no charge, for free, at no cost
    money-back guarantee, refund guarantee
    delivery fee, shipping fee, delivery charge, shipping charge
    user manual, instruction manual, user guide, owner's manual
    united kingdom, UK
    united states of america, united states, USA
    european union, EU
    united nations, UN
"""


def named_as(claim: str, text: str) -> str:
    """Return a text with what a claim names under another name as the claim names it.

    "Has a car park" is read as "has a parking lot" beside a claim about the parking lot. A text
    that has the claim's own name as well stays as it is: it may tell the two apart.
    """
    for word in _WORD.finditer(claim):
        names = _BEGINNING.get(word[0].casefold())
        said = _one_of(names).match(claim, word.start()) if names else None
        if said and (name := said["name"]).casefold() not in text.casefold():
            text = _others(name).sub(rf"{name}\g<many>", text)
    return text


@cache
def _one_of(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds names, in one number or several; "vats" are no tax."""
    longest_first = sorted(names, key=len, reverse=True)
    held = "|".join(n if n.isupper() else f"(?i:{re.escape(n)})" for n in longest_first)
    return re.compile(rf"(?<![\w-])(?P<name>{held})(?P<many>e?s)?(?![\w-])")


def _others(name: str) -> re.Pattern[str]:
    """Return what finds the other names of what a name, however it is capitalised, means."""
    key = name if name in _GROUP_OF else name.casefold()
    return _one_of(tuple(other for other in _GROUP_OF[key] if other != key))


def _groups() -> dict[str, list[str]]:
    stripped = _GROUPS.strip().splitlines()
    lines = [[str(name) for name in line.strip().split(", ")] for line in stripped]
    return {name: names for names in lines for name in names}


def _beginning() -> dict[str, tuple[str, ...]]:
    """Return the names that begin with a word, in one number or several."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in _GROUP_OF:
        first = _WORD.findall(name.casefold())[0]
        for word in (first, f"{first}s", f"{first}es"):
            found[word].append(name)
    return {word: tuple(names) for word, names in found.items()}


_WORD = re.compile(r"\w+")
_GROUP_OF = _groups()
_BEGINNING = _beginning()
