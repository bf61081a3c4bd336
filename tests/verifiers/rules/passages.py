"""Passages of many fields, each with claims that follow from it and claims a small step away.

Written for the tests of the rules, to see whether what was written for one case holds in another.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PASSAGES", "Told"]


class Told(NamedTuple):
    """A context with claims that it supports and claims that it does not."""

    family: str
    context: tuple[str, ...]
    faithful: tuple[str, ...]
    wrong: tuple[str, ...]


PASSAGES = [
    Told(
        "quantities",
        (
            "The regional hospital group admitted 18,420 patients in 2023, up from 16,950"
            " a year earlier. Of these, 61% came through the emergency department, where "
            "the average wait was 4.2 hours. Occupancy stood at 92.5% and the group "
            "employs 3,100 nurses and 840 doctors. Readmissions within 30 days fell by "
            "1.3 percentage points to 8.9%.",
        ),
        (
            "In 2023 the group admitted roughly 18,400 patients, about 1,470 more than "
            "the year before.",
            "Nearly 3,950 nurses and doctors work for the group.",
            "The share of patients readmitted within a month dropped to 8.9%.",
            "About six in ten patients arrived via the emergency department.",
            "Occupancy was above 90%.",
        ),
        (
            "The group admitted 16,950 patients in 2023.",
            "Readmissions within 30 days fell to 1.3%.",
            "The group employs 840 nurses.",
            "Patients waited 9.2 hours on average in the emergency department.",
            "Occupancy stood at 95.2%.",
            "Readmissions rose by 1.3 percentage points.",
        ),
    ),
    Told(
        "quantities",
        (
            "A batch of the dough makes twelve rolls. Mix 500 g of flour with 7 g of dry "
            "yeast, 10 g of salt and 320 ml of lukewarm water, knead for ten minutes and "
            "let it rest for an hour. Bake at 220 °C for 18 to 20 minutes. Each roll has "
            "about 180 kcal and 6 g of protein.",
        ),
        (
            "You get a dozen rolls from one batch.",
            "The dough needs half a kilo of flour and 32 cl of water.",
            "The rolls bake for under 20 minutes or so at 220 °C.",
        ),
        (
            "Use 7 g of salt and 10 g of dry yeast.",
            "Bake the rolls at 200 °C.",
            "Each roll has 6 kcal.",
            "Mix 320 g of flour with 500 ml of water.",
        ),
    ),
    Told(
        "quantities",
        (
            "The levy applies to companies with more than 250 employees and an annual "
            "turnover of at least 40 million euros. Firms below these thresholds pay a "
            "flat fee of 900 euros. Late payment costs 0.5% per month, up to a maximum of"
            " 6%. One in five audits last year led to a correction.",
        ),
        (
            "Companies with 251 employees and a turnover of €40m are subject to the levy.",
            "Smaller firms pay a flat €900.",
            "20% of the audits last year resulted in a correction.",
            "Late payers are charged half a percent for every month.",
        ),
        (
            "The levy applies to companies with fewer than 250 employees.",
            "Firms below the thresholds pay a flat fee of 9,000 euros.",
            "Late payment costs 0.5% per year.",
            "Late payment costs at least 6%.",
            "One in fifteen audits led to a correction.",
        ),
    ),
    Told(
        "quantities",
        (
            "Of the 48 municipalities in the valley, 31 voted for the merger and 17 "
            "against. Turnout was 54 per cent, the lowest since 1998. The new district "
            "will have about 112,000 inhabitants, making it the third largest in the "
            "province. Two thirds of the costs of the merger, estimated at 9.3 million "
            "crowns, are borne by the province.",
        ),
        (
            "A majority of the 48 municipalities backed the merger.",
            "More than half of those entitled took part in the vote.",
            "The province pays roughly 6.2 million crowns of the cost.",
            "About one third of the cost is not covered by the province.",
        ),
        (
            "17 municipalities voted for the merger.",
            "Turnout was 45 per cent.",
            "The province bears one third of the costs of the merger.",
            "The district will have about 12,000 inhabitants.",
            "Costs are estimated at 9.3 billion crowns.",
        ),
    ),
    Told(
        "units_currency",
        (
            "The battery weighs 1.8 kg, stores 640 Wh and charges from 10 to 80% in 45 "
            "minutes. Its range is up to 120 km on flat ground. A replacement costs €489 "
            "including VAT; shipping to Switzerland costs 35 francs. The charger draws 4 "
            "A at 230 V.",
        ),
        (
            "The battery weighs 1,800 g.",
            "On level ground you can ride as far as 75 miles or so.",
            "It takes three quarters of an hour to charge from 10% to 80%.",
            "A new battery is 489 euros, VAT included.",
            "Shipping to Switzerland is CHF 35.",
        ),
        (
            "The battery weighs 1.8 g.",
            "The battery stores 640 kWh.",
            "A replacement costs $489.",
            "Shipping to Switzerland costs 35 euros.",
            "Its range is up to 120 miles.",
            "Charging to 80% takes 45 hours.",
        ),
    ),
    Told(
        "units_currency",
        (
            "Adults take 20 ml of the syrup, which contains 400 mg of the active "
            "substance, every six hours. Children from 6 to 12 years take 10 ml. Do not "
            "exceed 80 ml in 24 hours. Store the bottle below 25 °C and discard it 3 "
            "months after opening. One bottle holds 0.2 litres.",
        ),
        (
            "The bottle holds 200 ml.",
            "Adults must not take more than four doses of 20 ml a day.",
            "Children aged six to twelve take half the adult dose.",
            "An adult dose contains 0.4 g of the active substance.",
            "Throw the syrup away a quarter of a year after it was opened.",
        ),
        (
            "Adults take 20 l of the syrup every six hours.",
            "20 ml of the syrup contain 400 g of the active substance.",
            "Discard the bottle 3 weeks after opening.",
            "Store the bottle below 25 °F.",
            "Children from 6 to 12 months take 10 ml.",
        ),
    ),
    Told(
        "units_currency",
        (
            "The cargo bay is 5.4 m long and 2.1 m wide and takes up to 1.2 tonnes. The "
            "van does 9.6 litres per 100 km and has a tank of 80 litres. Renting it costs"
            " £74 a day or £410 a week; each mile above 150 a day is charged at 18p. A "
            "deposit of £300 is held on the card.",
        ),
        (
            "You can load as much as 1,200 kg.",
            "The van costs 74 pounds per day.",
            "The loading bay measures 540 cm by 210 cm.",
            "A week's rental is £410, and £300 is blocked as a deposit.",
            "Extra miles cost £0.18 each.",
        ),
        (
            "Renting the van costs £74 an hour.",
            "The cargo bay takes up to 1.2 kg.",
            "The tank holds 80 gallons.",
            "The deposit is 300 euros.",
            "The cargo bay is 5.4 ft long.",
        ),
    ),
    Told(
        "dates_times",
        (
            "The exhibition opens on Thursday, 14 March 2024 and runs until 9 June. The "
            "museum is open from 10:00 to 18:00, on Fridays until 21:00, and is closed on"
            " Mondays. Guided tours start at 11 am and 3 pm on weekends. The opening "
            "speech is at half past seven in the evening.",
        ),
        (
            "The show can be seen from 14/03/2024 to 9 June 2024.",
            "On Fridays visitors can stay until nine in the evening.",
            "There is a guided tour at 3 in the afternoon on Saturdays.",
            "The opening speech begins at 7:30 pm.",
            "On Mondays the museum stays shut.",
            "The exhibition lasts about three months.",
        ),
        (
            "The museum is open until 21:00 on Saturdays.",
            "Guided tours start at 11 pm and 3 pm.",
            "The museum is closed on Sundays.",
            "The exhibition runs until 9 July.",
            "The opening speech is at half past six in the evening.",
        ),
    ),
    Told(
        "dates_times",
        (
            "Applications must be submitted by 30 September 2025; interviews take place "
            "in the second week of November and results are announced within ten working "
            "days. The grant runs for 18 months from 1 February 2026. Reports are due "
            "every six months, and the final report no later than 60 days after the end "
            "of the project.",
        ),
        (
            "The deadline for applications is September 30, 2025.",
            "Funding lasts a year and a half and begins in February 2026.",
            "The grant ends on 31 July 2027.",
            "A report has to be handed in twice a year.",
            "The final report must arrive within two months of the end of the project.",
        ),
        (
            "Applications must be submitted by 30 November 2025.",
            "The grant runs for 18 weeks.",
            "The final report is due 60 days before the end of the project.",
            "Reports are due every six weeks.",
            "The grant runs from 1 February 2025.",
        ),
    ),
    Told(
        "dates_times",
        (
            "The ferry leaves Brannoy at 06:45 and 13:20 daily and at 17:50 on Fridays "
            "and Sundays only. The crossing takes 1 hour 35 minutes. Between 1 November "
            "and 31 March there is no afternoon sailing. Check-in closes 30 minutes "
            "before departure.",
        ),
        (
            "A crossing lasts 95 minutes.",
            "You have to check in by 06:15 for the morning ferry.",
            "In December there is no sailing in the afternoon.",
            "The first ferry leaves at a quarter to seven in the morning.",
        ),
        (
            "There is a ferry at 17:50 on Saturdays.",
            "The crossing takes 1 hour 53 minutes.",
            "Check-in closes 30 minutes after departure.",
            "The morning ferry leaves at 06:54.",
            "Check-in closes 13 minutes before departure.",
        ),
    ),
    Told(
        "identifiers",
        (
            "Call our helpline on +44 20 7946 0321 or write to claims@northmoor.example. "
            "Quote policy number NM-44817-B. The form H3-22 can be downloaded from "
            "www.northmoor.example/forms. For complaints use "
            "complaints@northmoor.example. Firmware 4.12.1 fixes error E207; error E270 "
            "is a hardware fault. Set `max_retries` to 5 in config.yaml.",
        ),
        (
            "The helpline's number is +44 (0)20 7946 0321.",
            "Complaints go to complaints@northmoor.example.",
            "Error E207 is fixed in firmware v4.12.1.",
            "Download form H3-22 from https://northmoor.example/forms.",
            "Your policy number is NM-44817-B.",
        ),
        (
            "Call the helpline on +44 20 7946 0231.",
            "Firmware 4.12.1 fixes error E270.",
            "Firmware 4.21.1 fixes error E207.",
            "Use form H3-32.",
            "Set `max_retries` in config.yml.",
            "The policy number is NM-44871-B.",
            "Set `min_retries` to 5 in config.yaml.",
        ),
    ),
    Told(
        "identifiers",
        (
            "Route B17 runs along the coast, route B71 inland. Gate C4 serves flights to "
            "Oslo, gate C14 flights to Bergen. The part number of the left hinge is "
            "88-1042, that of the right hinge 88-1024. Python 3.11 is supported, Python "
            "3.9 is not.",
        ),
        (
            "Flights to Bergen leave from gate C14.",
            "The right hinge is part 88-1024.",
            "Python 3.11 is supported.",
            "Along the coast you take the B17.",
        ),
        (
            "Flights to Oslo leave from gate C14.",
            "The left hinge has part number 88-1024.",
            "Route B71 runs along the coast.",
        ),
    ),
    Told(
        "polarity",
        (
            "Guests may use the pool from 7 am to 9 pm. Glass bottles are not allowed in "
            "the pool area, and children under ten must be accompanied by an adult. "
            "Towels are provided free of charge, but robes are only available on request."
            " The sauna is not included in the room rate. Late check-out is possible "
            "unless the hotel is fully booked.",
        ),
        (
            "You cannot take glass bottles to the pool.",
            "Kids younger than ten are not permitted in the pool without an adult.",
            "Towels cost nothing.",
            "You have to ask for a robe if you want one.",
            "The sauna costs extra.",
            "If the hotel is full, late check-out is not possible.",
        ),
        (
            "Glass bottles are permitted in the pool area.",
            "Children under ten may use the pool without an adult.",
            "The sauna is included in the room rate.",
            "Robes are not available.",
            "Late check-out is always possible.",
            "Guests must use the pool from 7 am to 9 pm.",
        ),
    ),
    Told(
        "polarity",
        (
            "Most patients tolerated the drug well, although some reported nausea. The "
            "drug did not reduce mortality, but it shortened hospital stays. It should "
            "not be combined with anticoagulants. Renal function must be checked before "
            "treatment. No serious adverse events occurred in the placebo group. Pregnant"
            " women were excluded from the trial.",
        ),
        (
            "Nausea was reported by some patients.",
            "Mortality was not reduced by the drug.",
            "Hospital stays became shorter.",
            "Combining it with anticoagulants is not advised.",
            "Pregnant women did not take part in the trial.",
            "The placebo group was free of serious adverse events.",
        ),
        (
            "All patients tolerated the drug well.",
            "The drug reduced mortality.",
            "The drug lengthened hospital stays.",
            "Renal function may be checked before treatment.",
            "Serious adverse events occurred in the placebo group.",
            "Pregnant women were included in the trial.",
            "It can be combined with anticoagulants.",
        ),
    ),
    Told(
        "polarity",
        (
            "The tenant may sublet the flat only with the written consent of the "
            "landlord. Pets are prohibited, except for small caged animals. The landlord "
            "is not liable for theft from the bicycle shed. Rent is payable in advance, "
            "and the deposit bears no interest. Either party may terminate the contract "
            "with three months' notice, provided that the minimum term has expired.",
        ),
        (
            "Without the landlord's written consent the tenant cannot sublet.",
            "Hamsters in a cage, as small caged animals, are allowed.",
            "If a bike is stolen from the shed, the landlord is not liable.",
            "No interest is paid on the deposit.",
            "Both parties can end the contract at three months' notice once the minimum "
            "term is over.",
        ),
        (
            "The tenant may sublet the flat without the landlord's consent.",
            "Pets of all kinds are prohibited without exception.",
            "The landlord is liable for theft from the bicycle shed.",
            "The deposit bears interest.",
            "Either party may terminate the contract at any time.",
            "Small caged animals are prohibited.",
        ),
    ),
    Told(
        "polarity",
        (
            "The new firmware no longer requires a reboot after changing the network "
            "settings. Backups are encrypted by default, but exports are not. The API key"
            " never expires, whereas session tokens expire after an hour. Administrators "
            "can disable two-factor authentication; ordinary users cannot. Logs older "
            "than 90 days are deleted unless archiving is enabled.",
        ),
        (
            "After changing network settings you don't have to reboot.",
            "Exports are unencrypted.",
            "Session tokens are valid for one hour.",
            "Two-factor authentication can be switched off only by administrators.",
            "With archiving enabled, old logs are kept.",
            "API keys do not expire.",
        ),
        (
            "Exports are encrypted by default.",
            "The API key expires after an hour.",
            "Ordinary users can disable two-factor authentication.",
            "Logs older than 90 days are never deleted.",
            "Backups are not encrypted by default.",
            "Session tokens never expire.",
        ),
    ),
    Told(
        "polarity",
        (
            "The central bank left its main rate unchanged but signalled that it might "
            "cut it in the autumn. Inflation eased for the third month, while "
            "unemployment edged up. The governor rejected calls for an emergency meeting."
            " Several members had argued for an immediate cut. The bank does not expect a"
            " recession, although it lowered its growth forecast.",
        ),
        (
            "The main rate was not changed.",
            "A rate cut in the autumn is possible.",
            "Unemployment rose slightly.",
            "The growth forecast was cut.",
            "The governor turned down calls for an emergency meeting.",
            "A recession is not what the bank expects.",
        ),
        (
            "The bank will cut its main rate in the autumn.",
            "Inflation accelerated for the third month.",
            "Unemployment edged down.",
            "The governor supported calls for an emergency meeting.",
            "All members had argued for an immediate cut.",
            "The bank expects a recession.",
            "The bank raised its growth forecast.",
        ),
    ),
    Told(
        "polarity",
        (
            "Ripe olives are harvested by hand. The oil is unfiltered and contains no "
            "preservatives. It is best stored in the dark, though it need not be "
            "refrigerated. Unlike refined oil, it is unsuitable for deep-frying. The "
            "estate is one of the oldest in the region and sells some of its oil abroad.",
        ),
        (
            "The oil has no preservatives and isn't filtered.",
            "You don't have to keep it in the fridge.",
            "The oil is not suitable for deep-frying.",
            "Some of the oil is exported.",
            "The estate is among the oldest in the area.",
        ),
        (
            "The oil is filtered.",
            "The oil contains preservatives.",
            "The oil is suitable for deep-frying.",
            "The estate is the oldest in the region.",
            "The estate sells all of its oil abroad.",
        ),
    ),
    Told(
        "roles",
        (
            "Harlow Mining sold its copper mine to Teshik Resources in 2019. Teshik, "
            "which is controlled by the Orlov family, hired Dana Petrov as manager; she "
            "had previously worked for Harlow. The mine is supplied with power by the "
            "Velka plant. In 2021 the miners' union sued Teshik over unpaid wages, and "
            "the court ruled in favour of the union.",
        ),
        (
            "Teshik Resources bought the copper mine from Harlow Mining.",
            "Dana Petrov was hired by Teshik.",
            "The Orlov family controls Teshik.",
            "The union took Teshik to court and won.",
            "The Velka plant supplies the mine with power.",
            "Petrov used to work for Harlow before she became manager at Teshik.",
        ),
        (
            "Harlow Mining bought the copper mine from Teshik Resources.",
            "Teshik sued the miners' union over unpaid wages.",
            "Teshik controls the Orlov family.",
        ),
    ),
    Told(
        "roles",
        (
            "The sender must label the parcel; the carrier weighs it and issues the "
            "receipt. If goods are damaged, the recipient informs the carrier within "
            "seven days, and the carrier's insurer compensates the sender. Customs duties"
            " are paid by the recipient. The carrier may refuse parcels that the sender "
            "has not packed properly.",
        ),
        (
            "Labelling the parcel is up to the sender.",
            "The receipt is issued by the carrier.",
            "The recipient pays customs duties.",
            "For damage, the sender is compensated by the insurer of the carrier.",
            "The recipient has to tell the carrier about damage within a week.",
        ),
        (
            "The carrier must label the parcel.",
            "Customs duties are paid by the sender.",
            "The carrier informs the recipient within seven days if goods are damaged.",
            "The sender issues the receipt.",
            "The sender may refuse parcels that the carrier has not packed properly.",
        ),
    ),
    Told(
        "roles",
        (
            "The painter Ilse Marten taught the sculptor Ruben Fahl at the academy in "
            "Torsk. Fahl later married Marten's sister Greta and designed the fountain on"
            " the main square. Marten painted the portrait of the mayor, Anton Reik, "
            "which the city bought in 1931. Fahl admired the older artist Pavel Dorn, who"
            " never mentioned him.",
        ),
        (
            "Ruben Fahl was a student of Ilse Marten at the Torsk academy.",
            "Greta, the sister of Ilse Marten, became Fahl's wife.",
            "The fountain on the main square is Fahl's work.",
            "The city acquired Marten's portrait of Anton Reik in 1931.",
            "Anton Reik was painted by Marten.",
        ),
        (
            "Ruben Fahl taught Ilse Marten at the academy in Torsk.",
            "Ilse Marten designed the fountain on the main square.",
            "Pavel Dorn admired Ruben Fahl.",
            "Anton Reik painted the portrait of Ilse Marten.",
            "Ruben Fahl painted the portrait of the mayor.",
            "Greta taught Ruben Fahl.",
        ),
    ),
    Told(
        "roles",
        (
            "Lake water cools the reactor, and the heated water is then used by the fish "
            "farm. The control rods absorb neutrons; the moderator, graphite, slows them "
            "down. Unit 1 is older and less powerful than Unit 2. Steam drives the "
            "turbine, which drives the generator. Unit 2 supplies the town of Melk, Unit "
            "1 the aluminium smelter.",
        ),
        (
            "The reactor is cooled by water from the lake.",
            "Neutrons are slowed down by graphite.",
            "Unit 2 is more powerful than Unit 1.",
            "The generator is driven by the turbine.",
            "The smelter gets its power from Unit 1.",
        ),
        (
            "The generator drives the turbine.",
            "Unit 1 is more powerful than Unit 2.",
            "Unit 1 supplies the town of Melk.",
            "The fish farm cools the reactor.",
            "Unit 2 is older than Unit 1.",
        ),
    ),
    Told(
        "roles",
        (
            "Marta Quiroga founded the clinic and her cousin Luis Abad runs it today. "
            "Nurse Okafor trains the volunteers, who are paid by the foundation. The "
            "clinic refers severe cases to St. Olave's Hospital. Dr. Hess, who replaced "
            "Dr. Brun in May, sees children only. Donations are collected by the Lions "
            "Club.",
        ),
        (
            "Luis Abad is in charge of the clinic now.",
            "The clinic was founded by Marta Quiroga.",
            "Dr. Brun was succeeded by Dr. Hess in May.",
            "Volunteers are trained by Nurse Okafor.",
            "Severe cases are sent on to St. Olave's Hospital.",
        ),
        (
            "Luis Abad founded the clinic.",
            "The volunteers train Nurse Okafor.",
            "St. Olave's Hospital refers severe cases to the clinic.",
            "The volunteers are paid by the Lions Club.",
        ),
    ),
    Told(
        "tables_lists",
        (
            "Rates by plan\n"
            "\n"
            "| Plan | Monthly fee | Storage | Users | Support | SSO |\n"
            "|---|---|---|---|---|---|\n"
            "| Solo | $9 | 50 GB | 1 | e-mail | no |\n"
            "| Crew | $29 | 200 GB | 10 | chat | no |\n"
            "| Fleet | $99 | 1 TB | unlimited | phone | yes |\n"
            "\n"
            "Annual billing saves two months.",
        ),
        (
            "Crew costs $29 a month and allows ten users.",
            "Fleet is the only plan with SSO.",
            "Solo customers are supported by e-mail.",
            "The Fleet plan has 1,000 GB of storage.",
            "Phone support comes with Fleet.",
            "On the Crew plan you get chat support but no SSO.",
        ),
        (
            "Crew costs $9 a month.",
            "The Crew plan includes SSO.",
            "Solo customers get chat support.",
            "Fleet allows ten users.",
            "Crew offers 1 TB of storage.",
            "All plans include SSO.",
            "Phone support comes with Crew.",
        ),
    ),
    Told(
        "tables_lists",
        (
            "Invoice: 2024-118\n"
            "Customer: Brandt & Sons\n"
            "Contact: Lea Brandt\n"
            "Due: 15 April 2024\n"
            "Amount: 1,240.00 EUR\n"
            "Discount: 2% if paid within 10 days\n"
            "Payment method: bank transfer\n"
            "Delivered items: 4 office chairs, 2 desks, 1 lamp\n"
            "Back-ordered items: 3 monitor arms, 1 cabinet",
        ),
        (
            "The invoice is to be paid by 15 April 2024.",
            "Four office chairs, two desks and a lamp were delivered.",
            "The cabinet is on back order.",
            "Brandt & Sons owe 1,240 euros.",
            "Lea Brandt is the contact person.",
        ),
        (
            "Four office chairs, two desks and a cabinet were delivered.",
            "The discount is 10% if paid within 2 days.",
        ),
    ),
    Told(
        "tables_lists",
        (
            "name;role;office;start\n"
            "Ayla Demir;designer;Lyon;2019\n"
            "Jon Bratt;engineer;Oslo;2021\n"
            "Sara Vik;engineer;Lyon;2020\n"
            "Tomas Rey;analyst;Oslo;2018",
        ),
        (
            "Sara Vik is an engineer in the Lyon office.",
            "Tomas Rey has worked as an analyst since 2018.",
            "Jon Bratt and Tomas Rey are based in Oslo.",
            "Two engineers are listed.",
        ),
        (
            "Jon Bratt works in the Lyon office.",
            "Sara Vik is an analyst.",
            "Ayla Demir started in 2021.",
            "Tomas Rey and Ayla Demir are based in Oslo.",
            "Ayla Demir, Sara Vik and Tomas Rey work in Lyon.",
        ),
    ),
    Told(
        "tables_lists",
        (
            "Before the procedure:\n"
            "- stop eating 6 hours before\n"
            "- remove jewellery and contact lenses\n"
            "- bring your insurance card\n"
            "\n"
            "After the procedure:\n"
            "- do not drive for 24 hours\n"
            "- drink plenty of water\n"
            "- keep the dressing dry\n"
            "\n"
            "Call us if you notice fever, heavy bleeding or a rash.",
        ),
        (
            "Before the procedure, jewellery and contact lenses have to come off.",
            "Afterwards you should drink a lot of water and keep the dressing dry.",
            "Fever, a rash and heavy bleeding are reasons to call.",
        ),
        (
            "Before the procedure you should drink plenty of water.",
            "Call us if you notice fever, heavy bleeding, a rash or dizziness.",
        ),
    ),
    Told(
        "tables_lists",
        (
            "| Tier | Hotel | Breakfast | Pool | Pets | From |\n"
            "|---|---|---|---|---|---|\n"
            "| A | Hotel Lark | ✓ | ✓ | – | €120 |\n"
            "| B | Hotel Finch | ✓ | – | ✓ | €95 |\n"
            "| C | Hotel Wren | – | – | ✓ | €70 |",
        ),
        (
            "Hotel Lark has a pool but does not take pets.",
            "Hotel Finch serves breakfast and welcomes pets.",
            "Hotel Wren offers no breakfast.",
        ),
        (
            "Hotel Finch has a pool.",
            "Hotel Wren serves breakfast.",
            "Hotel Lark accepts pets.",
            "Rooms at Hotel Finch start at €120.",
            "Pets are welcome in all three hotels.",
        ),
    ),
    Told(
        "citations",
        (
            "The canal was dug between 1820 and 1831 by Scottish engineers. It is 44 km "
            "long and has nine locks.",
            "Barges carried coal and timber until 1956. Since 1990 the canal has been "
            "used for leisure boats only.",
            "A toll of 6 euros per lock is charged in summer. Dogs must be kept on a lead"
            " on the towpath.",
        ),
        (
            "The canal has nine locks [1].",
            "Leisure boats have had the canal to themselves since 1990 [2].",
            "In summer each lock costs 6 euros [3].",
            "The canal is 44 km long [1] and the toll is 6 euros per lock in summer [3].",
            "Coal and timber were carried on the canal until 1956 [2], which is 44 km long [1].",
            "The canal was finished in 1831 and served barges until 1956 [1][2].",
        ),
        (
            "The canal has nine locks [2].",
            "Barges carried coal until 1956 [3].",
            "The canal is 44 km long and dogs must be kept on a lead [1].",
            "In summer each lock costs 6 euros [1].",
            "The canal is 44 km long [4].",
            "The canal was dug by Scottish engineers, and barges carried timber on it "
            "until 1956 [1].",
            "The canal has eleven locks [1].",
        ),
    ),
    Told(
        "citations",
        (
            "Vitamin D is made in the skin under sunlight. Oily fish and egg yolk contain it too.",
            "Adults need about 15 micrograms of vitamin D a day. In winter a supplement "
            "may be advisable.",
            "Too much vitamin D raises the level of calcium in the blood. Symptoms "
            "include nausea and thirst.",
        ),
        (
            "Egg yolk contains vitamin D [1], of which adults need around 15 micrograms daily [2].",
            "Thirst and nausea are symptoms of an overdose [3].",
            "A supplement can be sensible in winter [2].",
        ),
        (
            "Oily fish contains vitamin D [3].",
            "Nausea and thirst are symptoms of too much vitamin D [2].",
            "Adults need about 15 micrograms of vitamin D a day, and too much of it "
            "raises calcium in the blood [2].",
            "Too much vitamin D lowers the level of calcium in the blood [3].",
        ),
    ),
    Told(
        "other_languages",
        (
            "Die Bibliothek ist montags bis freitags von 10 bis 19 Uhr geöffnet. Bücher "
            "können vier Wochen ausgeliehen werden, DVDs nur eine Woche. Die Jahresgebühr"
            " beträgt 24 Euro; Schüler zahlen nichts. Essen ist im Lesesaal nicht "
            "erlaubt. Am 3. Oktober bleibt die Bibliothek geschlossen.",
        ),
        (
            "Für Schüler ist die Ausleihe kostenlos.",
            "Bücher darf man 28 Tage lang behalten.",
            "Im Lesesaal darf man nicht essen.",
            "Mittwochs schließt die Bibliothek um 19 Uhr.",
        ),
        (
            "Essen ist im Lesesaal erlaubt.",
            "Die Jahresgebühr beträgt 42 Euro.",
            "Die Bibliothek ist samstags geöffnet.",
            "Die Bibliothek ist montags bis freitags bis 18 Uhr geöffnet.",
        ),
    ),
    Told(
        "other_languages",
        (
            "Le musée est ouvert tous les jours sauf le mardi. L'entrée coûte 12 euros, 8"
            " euros pour les étudiants, et elle est gratuite pour les moins de 18 ans. "
            "Les photos sans flash sont autorisées. Le restaurant n'accepte pas les "
            "chèques. La dernière visite commence à 16h30.",
        ),
        (
            "Les étudiants paient 8 euros.",
            "On ne peut pas payer par chèque au restaurant.",
        ),
        (
            "Les étudiants paient 12 euros.",
            "Le musée est ouvert le mardi.",
            "Le restaurant accepte les chèques.",
            "La dernière visite commence à 17h30.",
        ),
    ),
    Told(
        "other_languages",
        (
            "La beca cubre la matrícula y 600 euros al mes durante diez meses. No pueden "
            "solicitarla quienes ya tengan un máster. El plazo termina el 15 de mayo. Los"
            " documentos deben enviarse en formato PDF. La universidad no ofrece "
            "alojamiento.",
        ),
        (
            "Los que ya tienen un máster no pueden pedir la beca.",
            "En total, la beca paga 6.000 euros además de la matrícula.",
            "No se ofrece alojamiento.",
        ),
        (
            "La beca cubre 600 euros al año.",
            "La universidad ofrece alojamiento.",
            "La beca cubre 900 euros al mes.",
        ),
    ),
]
