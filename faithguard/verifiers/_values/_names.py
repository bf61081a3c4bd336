"""Names of months and days in ten languages.

In: nothing. Out: name -> number, months from 1, Monday as 0; and what names a set of days.
"""

from __future__ import annotations

__all__ = [
    "DAYS",
    "DAY_OF",
    "DAY_SETS",
    "FOREIGN_DAYS",
    "MONTH_OF",
    "UNSPACED_SETS",
    "UNSURE_MONTHS",
]

_MONTHS = """
    january february march april may june july august september october november december
    januar februar märz april mai juni juli august september oktober november dezember
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
    जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
    """.split()
_ENGLISH = _MONTHS[:12]
MONTH_OF = {
    **{name: place % 12 + 1 for place, name in reversed(list(enumerate(_MONTHS)))},
    **{name[:3]: n for n, name in enumerate(_ENGLISH, 1)},
    "sept": 9,
    "jänner": 1,
}
UNSURE_MONTHS = frozenset("may mar march mars jun dec".split())
"""Words of their own unless they are capitalised, or stand beside a day."""

DAYS = """
    monday tuesday wednesday thursday friday saturday sunday
    """.split()
_OTHER_DAYS = """
    montag dienstag mittwoch donnerstag freitag samstag sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo
    月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日
    星期一 星期二 星期三 星期四 星期五 星期六 星期日
    周一 周二 周三 周四 周五 周六 周日
    الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
    सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार
    """.split()
FOREIGN_DAYS = {name: place % 7 for place, name in enumerate(_OTHER_DAYS)}
DAY_OF = {
    **{name[:size]: day for day, name in enumerate(DAYS) for size in (3, len(name))},
    "tues": 1,
    "thur": 3,
    "thurs": 3,
    **{f"{name}s": day for day, name in enumerate(DAYS)},
    **{f"{name}s": day for name, day in FOREIGN_DAYS.items() if name.isascii()},
    **FOREIGN_DAYS,
}
_WEEK = frozenset(range(7))
_WORKING, _FREE = frozenset(range(5)), frozenset({5, 6})
DAY_SETS = {
    "weekdays": _WORKING, "weekday": _WORKING, "every weekday": _WORKING,
    "business days": _WORKING, "working days": _WORKING, "werktags": _WORKING,
    "weekends": _FREE, "weekend": _FREE, "every weekend": _FREE, "am wochenende": _FREE,
    "every day": _WEEK, "daily": _WEEK, "each day": _WEEK, "seven days a week": _WEEK,
    "7 days a week": _WEEK, "all week": _WEEK, "24/7": _WEEK, "täglich": _WEEK,
    "tous les jours": _WEEK, "todos los días": _WEEK, "todos os dias": _WEEK,
    "ogni giorno": _WEEK, "tutti i giorni": _WEEK, "a diario": _WEEK, "diariamente": _WEEK,
    "wochentags": _WORKING, "unter der woche": _WORKING, "en semaine": _WORKING,
    "días laborables": _WORKING, "entre semana": _WORKING, "giorni feriali": _WORKING,
    "dias úteis": _WORKING, "wochenende": _FREE, "week-end": _FREE, "week-ends": _FREE,
    "fin de semana": _FREE, "fines de semana": _FREE, "fim de semana": _FREE,
    "fins de semana": _FREE, "fine settimana": _FREE, "يوميا": _WEEK, "يوميًا": _WEEK,
    "प्रतिदिन": _WEEK, "रोज़": _WEEK, "रोज": _WEEK, "हर दिन": _WEEK,
}  # fmt: skip
UNSPACED_SETS = {
    "每天": _WEEK, "毎日": _WEEK, "平日": _WORKING, "土日": _FREE, "周末": _FREE, "週末": _FREE,
}  # fmt: skip
"""The same in scripts that put no space between words."""
