"""Units and currencies: their names in ten languages, and how they convert.

In: a word after a number. Out: base unit and factor. A month has no fixed length, so months and
years agree with each other only; currencies agree with none but themselves.
"""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = [
    "AMBIGUOUS",
    "CURRENCIES",
    "CURRENCY_NAMES",
    "CURRENCY_PREFIX",
    "CURRENCY_SIGNS",
    "IMPERIAL",
    "UNIT",
    "unit_of",
]

# base unit -> its unit words, each group with its factor
_TABLE = {
    "second": "ms|millisecond|milliseconds 1/1000;"
    " second|seconds|sec|secs|s|sekunde|sekunden|seconde|secondes|segundo|segundos|secondo|secondi"
    "|秒|秒間|ثانية|ثوان|सेकंड 1;"
    " minute|minutes|min|mins|minuten|minuto|minutos|minuti|分|分間|分钟|分鐘|دقيقة|دقائق|मिनट 60;"
    " hour|hours|hr|hrs|h|std|stunde|stunden|heure|heures|hora|horas|ora|ore|時間|小时|小時"
    "|ساعة|ساعات|घंटे|घंटा|घण्टे 3600;"
    " day|days|tag|tage|tagen|jour|jours|día|días|giorno|giorni|dia|dias"
    "|日間|天|يوم|يوما|يومًا|أيام|दिन|दिनों 86400;"
    " week|weeks|wk|wks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane"
    "|週間|周|星期|أسبوع|أسابيع|सप्ताह|हफ्ते 604800;"
    " fortnight|fortnights 1209600",
    "month": "month|months|monat|monate|monaten|mois|mes|meses|mese|mesi|mês"
    "|か月|ヶ月|カ月|ヵ月|箇月|个月|個月|شهر|أشهر|شهرا|شهرًا|महीने|महीना|माह 1;"
    " quarter-year 3;"
    " year|years|yr|yrs|jahr|jahre|jahren|ans|année|années|año|años|anno|anni|ano|anos|年|年間"
    "|سنة|سنوات|عام|أعوام|साल|वर्ष|वर्षों 12;"
    " decade|decades 120; century|centuries 1200",
    "business day": "businessday|werktage|werktagen|arbeitstage|arbeitstagen|工作日|営業日 1",
    "gram": "mcg|µg|μg|ug|microgram|micrograms|mikrogramm 1/1000000;"
    " mg|milligram|milligrams|milligramm|milligrammes|miligramos|milligrammi|miligramas"
    "|毫克|ミリグラム|मिलीग्राम|ملليغرام 1/1000;"
    " g|gr|gram|grams|gramm|gramme|grammes|gramo|gramos|grammo|grammi|grama|gramas"
    "|克|グラム|ग्राम|غرام 1;"
    " kg|kilogram|kilograms|kilo|kilos|kilogramm|kilogrammes|kilogramos|chilo|chili|chilogrammi"
    "|公斤|千克|キロ|キログラム|كيلوغرام|किलो|किलोग्राम 1000;"
    " t|tonne|tonnes|tonnen|toneladas|tonnellate|吨|トン|टन 1000000",
    "ounce": "oz|ounce|ounces 1; lb|lbs|pound-weight 16",
    "metre": "µm|micrometre|micrometres 1/1000000; nm|nanometre|nanometres 1/1000000000;"
    " mm|millimetre|millimetres|millimeter|millimeters|millimètres|milímetros"
    "|millimetri|毫米|ミリ|ミリメートル"
    " 1/1000;"
    " cm|centimetre|centimetres|centimeter|centimeters|zentimeter|centimètres|centímetros"
    "|centimetri|厘米|センチ|センチメートル|सेंटीमीटर|سم|سنتيمتر 1/100;"
    " m|metre|metres|meter|meters|metern|mètre|mètres|metro|metros|metri|米|メートル"
    "|متر|أمتار|मीटर 1;"
    " km|kilometre|kilometres|kilometer|kilometers|kilometern|kilomètre|kilomètres|kilómetro"
    "|kilómetros|chilometro|chilometri|quilômetros|quilómetros|公里|千米|キロメートル|كيلومتر"
    "|كيلومترا|किलोमीटर|किमी 1000",
    "inch": "inch|inches 1; ft|foot|feet 12; yd|yard|yards 36; mile|miles|mi|meilen 63360",
    "square metre": "mètrecarré|mètrescarrés|metrocuadrado|metroscuadrados|metriquadrati"
    "|metroquadrado|metrosquadrados|مترمربع|वर्गमीटर|平方メートル|m2|m²|sqm|squaremetre|squaremetres|squaremeter|squaremeters|quadratmeter"
    "|平方米|平米 1;"
    " hectare|hectares|ha|hektar|هكتار|هكتارات|hectáreas|ettari|公顷|ヘクタール|हेक्टेयर 10000;"
    " km2|km²|squarekilometre|squarekilometres|squarekilometer|squarekilometers|平方公里 1000000",
    "square foot": "sqft|squarefoot|squarefeet 1; acre|acres 43560;"
    " squaremile|squaremiles 27878400",
    "litre": "ml|millilitre|millilitres|milliliter|milliliters|millilitri|mililitros|毫升"
    "|ミリリットル|मिलीलीटर|مليلتر 1/1000;"
    " cl|centilitre|centilitres|centiliter 1/100;"
    " dl|decilitre|decilitres|deciliter|décilitres|decilitri|decilitros 1/10;"
    " l|litre|litres|liter|liters|litern|litri|litro|litros|升|リットル|لتر|लीटर 1;"
    " mètrecube|mètrescubes|metrocúbico|metroscúbicos|metricubi|立方メートル|m3|m³|cubicmetre"
    "|cubicmetres|cubicmeter|cubicmeters|kubikmeter|立方米 1000;"
    " cm3|cm³|cc 1/1000",
    "cup": "cup|cups 1", "tablespoon": "tablespoon|tablespoons|tbsp 1",
    "teaspoon": "teaspoon|teaspoons|tsp 1", "pint": "pint|pints 1", "gallon": "gallon|gallons 1",
    "byte": "byte|bytes 1; kb|kilobyte|kilobytes 1000; mb|megabyte|megabytes 1000000;"
    " gb|gigabyte|gigabytes 1000000000; tb|terabyte|terabytes 1000000000000;"
    " kib 1024; mib 1048576; gib 1073741824",
    "bit per second": "kbit/s|kbps 1000; mbit/s|mbps 1000000; gbit/s|gbps 1000000000",
    "kelvin difference": "°c|celsius|degreescelsius|degreecelsius|gradcelsius|℃ 1",
    "fahrenheit": "°f|fahrenheit|degreesfahrenheit|degreefahrenheit|℉ 1",
    "watt": "w|watt|watts|ワット|瓦 1; kw|kilowatt|kilowatts|キロワット|千瓦 1000; mw|megawatt"
    "|megawatts 1000000;"
    " gw|gigawatt|gigawatts 1000000000",
    "watt hour": "wh|watt-hour|watt-hours|watthours|watthour 1;"
    " kwh|kilowatt-hour|kilowatt-hours|kilowattstunden 1000;"
    " mwh|megawatt-hour|megawatt-hours 1000000; gwh|gigawatt-hours 1000000000;"
    " twh 1000000000000",
    "volt": "v|volt|volts 1; kv|kilovolt|kilovolts 1000; mv 1/1000",
    "ampere": "ampere|amperes|amps|amp 1; ma|milliamps 1/1000",
    "ampere hour": "ah 1; mah 1/1000",
    "hertz": "hz|hertz 1; khz|kilohertz 1000; mhz|megahertz 1000000; ghz|gigahertz 1000000000",
    "pascal": "pa|pascal 1; hpa 100; kpa|kilopascal 1000; mpa|megapascal 1000000; bar 100000",
    "millimetre of mercury": "mmhg 1", "newton": "newton|newtons 1",
    "newton metre": "newton-metre|newton-metres 1",
    "psi": "psi 1", "decibel": "db|decibel|decibels|dezibel 1",
    "calorie": "cal|kcal|calories|calorías|kalorien 1",
    "joule": "joule|joules 1; kj 1000; mj 1000000",
    "international unit": "iu|ui|international-units|internationalunits|internationalunit 1",
    "mole": "mol|moles 1; mmol|millimoles 1/1000; µmol|umol 1/1000000",
    "pixel": "px|pixel|pixels 1", "ppm": "ppm 1", "ppb": "ppb 1",
    "rpm": "rpm 1", "knot": "knots|knot 1", 
    "km/h": "km/h|kmh|kph|kilometresperhour|kilometersperhour|kilometresanhour"
    "|kilometersanhour 1",
    "mph": "mph|milesperhour|milesanhour 1",
    "degree": "°|degrees|degree 1",
    "%": "%|٪|％|percent|pct|per-cent|prozent|pourcent|por-ciento|百分"
    "|प्रतिशत|फीसदी|パーセント 1; 割 10",
    "permille": "‰ 1",
    "percentage point": "pp|percentage-point|prozentpunkte|prozentpunkten|个百分点|ポイント 1;"
    " bp|bps|basispoint|basispoints|basispunkte 1/100",
    "person": "people|persons|person 1",
    "times": "times|fold|fois|veces|volte|vezes|倍 1",
}  # fmt: skip
IMPERIAL = {
    "inch": ("metre", Fraction(254, 10_000), Fraction(0)),
    "ounce": ("gram", Fraction(2835, 100), Fraction(0)),
    "square foot": ("square metre", Fraction(929, 10_000), Fraction(0)),
    "gallon": ("litre", Fraction(3785, 1000), Fraction(0)),
    "mph": ("km/h", Fraction(1609, 1000), Fraction(0)),
    "fahrenheit": ("kelvin difference", Fraction(5, 9), Fraction(32)),
}
"""Unit -> (metric base unit, factor, what is subtracted before)."""

CURRENCY_NAMES = {
    "$": "dollar", "us$": "USD", "usd": "USD", "dollar": "dollar", "dollars": "dollar",
    "usdollar": "USD",
    "usdollars": "USD", "dólares": "dollar", "dollari": "dollar", "美元": "USD", "ドル": "USD",
    "دولار": "USD", "दॉलर": "USD", "डॉलर": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR", "ユーロ": "EUR",
    "يورو": "EUR", "यूरो": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "pfund": "GBP", "英镑": "GBP",
    "livres": "GBP", "libras": "GBP", "sterline": "GBP", "ポンド": "GBP",
    "₹": "INR", "inr": "INR", "rs": "INR", "rupee": "INR", "rupees": "INR", "रुपये": "INR",
    "रुपए": "INR", "रुपया": "INR", "रु": "INR",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "円": "JPY", "日元": "JPY", "元": "CNY", "cny": "CNY",
    "yuan": "CNY", "人民币": "CNY", "rmb": "CNY", "块": "CNY",
    "chf": "CHF", "franc": "CHF", "francs": "CHF", "franken": "CHF", "swissfrancs": "CHF",
    "swedishkronor": "SEK", "swedishkrona": "SEK", "swedishkroner": "SEK", "swedishcrowns": "SEK",
    "norwegiankroner": "NOK", "norwegiankrone": "NOK", "norwegiancrowns": "NOK",
    "danishkroner": "DKK", "danishkrone": "DKK", "danishcrowns": "DKK",
    "poundssterling": "GBP", "poundsterling": "GBP", "mexicanpesos": "MXN",
    "hongkongdollars": "HKD", "singaporedollars": "SGD", "newzealanddollars": "NZD",
    "francossuizos": "CHF", "francssuisses": "CHF", "schweizerfranken": "CHF",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "kr": "krone", "kronor": "krone", "kroner": "krone",
    "crowns": "krone", "kronen": "krone", "cad": "CAD", "c$": "CAD", "ca$": "CAD",
    "canadiandollars": "CAD", "aud": "AUD", "a$": "AUD", "au$": "AUD", "australiandollars": "AUD",
    "nzd": "NZD", "nz$": "NZD", "hk$": "HKD", "hkd": "HKD", "s$": "SGD", "sgd": "SGD",
    "r$": "BRL", "brl": "BRL", "reais": "BRL", "mex$": "MXN", "mxn": "MXN",
    "pesos": "peso", "peso": "peso", "aed": "dirham", "dirham": "dirham", "dirhams": "dirham",
    "درهم": "dirham", "درهما": "dirham", "درهمًا": "dirham", "ريال": "riyal", "ريالا": "riyal",
    "ريالًا": "riyal", "sar": "riyal", "جنيه": "pound", "دينار": "dinar", "دينارًا": "dinar",
    "₩": "KRW", "krw": "KRW", "₺": "TRY", "lira": "TRY",
    "₽": "RUB", "rub": "RUB", "rubles": "RUB", "roubles": "RUB", "zł": "PLN", "pln": "PLN",
    "zloty": "PLN", "złoty": "PLN", "złotych": "PLN", "złote": "PLN", "zlotys": "PLN",
    "koruna": "CZK", "korunas": "CZK", "forint": "HUF", "forints": "HUF", "shekel": "ILS",
    "shekels": "ILS", "rand": "ZAR", "baht": "THB", "ringgit": "MYR", "rupiah": "IDR",
    "rouble": "RUB", "ruble": "RUB",
    "czk": "CZK", "huf": "HUF", "₪": "ILS", "ils": "ILS", "zar": "ZAR",
    "₦": "NGN", "ngn": "NGN", "naira": "NGN",
    "cents": "cent", "cent": "cent", "centime": "cent", "centimes": "cent", "centesimi": "cent",
    "céntimos": "cent", "cêntimos": "cent", "centavos": "cent", "rappen": "cent",
}  # fmt: skip
"""Name -> code; "cent" is a hundredth of whichever has cents."""
AMBIGUOUS = {
    "krone": ("SEK", "NOK", "DKK", "CZK"),
    "degree": ("kelvin difference", "fahrenheit"),
    "peso": ("MXN",),
    "pound": ("GBP",),
    "dollar": ("USD", "CAD", "AUD", "NZD", "HKD", "SGD"),
}
"""What a name may mean that several countries give to their money, or several scales to a step."""
_PENCE = {name: ("GBP", Fraction(1, 100)) for name in ("p", "penny", "pence")}
CURRENCIES = frozenset(CURRENCY_NAMES.values())
CURRENCY_SIGNS = "€$£₹¥₩₺₽₪₦"
CURRENCY_PREFIX = (
    rf"(?:(?:US|C|CA|A|AU|NZ|HK|S|R|MEX)\$|[{CURRENCY_SIGNS}]"
    r"|\b(?:EUR|USD|GBP|INR|CHF|JPY|CNY|CAD|AUD|NZD|SEK|NOK|DKK|CZK|HUF|ILS|THB|BRL|MXN|AED|SAR|PLN|ZAR|Rs)\b\.?)"
)

# unit word -> (base unit, factor)
_UNITS = (
    {
        name: (base, Fraction(factor))
        for base, table in _TABLE.items()
        for names, factor in (entry.split() for entry in table.split(";"))
        for name in names.split("|")
    }
    | {name: (code, Fraction(1)) for name, code in CURRENCY_NAMES.items()}
    | _PENCE
)

_LETTER = "(?:[^\\W\\d_]|[\u0900-\u0963\u064b-\u0652])"
_UNSPACED = sorted(
    (name for name in _UNITS if re.match("[\u3040-\u30ff\u3400-\u9fff]", name)),
    key=len,
    reverse=True,
)
_TWO_WORDS = (
    r"(?:square|sq\.?|cubic)[\s-]+(?:kilo)?(?:met(?:re|er)s?|feet|foot|ft|miles?)|"
    r"degrees?\s+(?:celsius|fahrenheit)|grad\s+celsius|us\s+dollars?|u\.s\.\s+dollars?|"
    r"(?:canadian|australian)\s+dollars|swiss\s+francs|watt[\s-]hours?|basis\s+points?|"
    r"international\s+units?|(?:kilo|mega)watt[\s-]hours?|por\s+ciento|por\s+cento|per\s+cento|"
    r"pour\s+cent|[kmg]?bit/s|km/h|(?:norwegian|swedish|danish)\s+(?:krone[rn]?|kronor|krona|crowns)|"
    r"pounds?\s+sterling|(?:mexican)\s+pesos?|(?:hong\s+kong|singapore|new\s+zealand)\s+dollars?|"
    r"miles\s+(?:per|an)\s+hour|kilomet(?:re|er)s\s+(?:per|an)\s+hour|"
    r"mètres?\s+carrés?|metros?\s+cuadrados?|metri\s+quadrat[io]|metros?\s+quadrados?|"
    r"mètres?\s+cubes?|metros?\s+cúbicos?|metri\s+cubi|متر\s+مربع|वर्ग\s+मीटर|"
    r"francos\s+suizos|francs\s+suisses|schweizer\s+franken"
)
UNIT = re.compile(
    rf"(?:[\s-]|d['’]|de\s|di\s){{0,3}}(?P<name>{'|'.join(_UNSPACED)}"
    rf"|{_TWO_WORDS}|[%٪％‰]|°\s?[CF]\b|°|[A-Z]{{1,2}}\$|[{CURRENCY_SIGNS}]"
    rf"|k?m[²³23](?!\w)|{_LETTER}{{1,18}})",
    re.I,
)
"""What may stand right after a number."""
# What is a word of another language, or another unit, in another case.
_BY_CASE = {
    "Nm": ("newton metre", Fraction(1)),
    "mW": ("watt", Fraction(1, 1000)),
    "Ko": ("byte", Fraction(1000)),
    "Mo": ("byte", Fraction(10**6)),
    "Go": ("byte", Fraction(10**9)),
    "To": ("byte", Fraction(10**12)),
}
_BETWEEN = re.compile(r"[\s.-]")
_UNCOMMON_CAPITALS = ("M", "G", "S", "H", "C", "F", "T")


def unit_of(name: str) -> tuple[str, Fraction] | None:
    """Look a unit up; the case of short symbols matters (MB is no mb, but many write it so)."""
    if name in _UNCOMMON_CAPITALS:
        return None
    plain = _BETWEEN.sub("", name.lower())
    if plain in ("porciento", "porcento", "percento", "pourcent"):
        plain = "%"
    found = _BY_CASE.get(name) or _UNITS.get(plain)
    if found is None and plain.endswith("ا"):  # the accusative of a counted noun
        found = _UNITS.get(plain[:-1])
    return found
