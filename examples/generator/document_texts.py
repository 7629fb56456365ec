"""What stands in the sample documents of the e-bike maker: notes, messages, leaflets and a handbook."""

MEETING = """Weekly meeting of the workshop in Utrecht, 2 November

Present: Femke, Goran, Tilda, Señor Almeida from the supplier of rims.

The queue of open repairs went down from 41 to 26 since October, because two mechanics came back from holiday.
Eleven of the 26 wait for displays that the supplier has promised for week 46.
Goran measured the new brake pads: they last 1,900 km in the rain and 2,600 km in dry weather.
We decided to fit the new pads to every Heron Cargo XL that comes in, at no cost for the customer.
Tilda asks all shops to send photos with a claim, since half of the claims of last week had none.
The next meeting is on 9 November at 8:30; Femke brings the figures of the winter tyres.
"""

FIELD_TEST = """# Field test of the 720 Wh battery

Twelve riders used the larger battery of the **Tern 7 Comfort** for six weeks, 9,400 km in all.

## What we measured

| | 540 Wh | 720 Wh |
| --- | --- | --- |
| range in town | 71 km | 97 km |
| range with child seat | 52 km | 70 km |
| weight | 2.9 kg | 3.6 kg |

## What the riders said

- The range in winter is the reason why ten of twelve riders would pay 180 EUR more for the larger battery.
- Two riders found that it rattles on cobblestones, and a strip of felt in the holder cured that.
- Charging takes 5 hours and 10 minutes, which is one hour more than before.

We recommend to offer the battery from March on, with the strip of felt in the box.
"""

COMPLAINT = """Dear team,

the Heron Cargo that we lease for our bakery was in your workshop three times since September.
Each time the front brake was adjusted, and each time it squealed again within two weeks.
The bicycle carries 80 kg of bread every morning, so a brake that works is not a matter of comfort for us.
I ask you to replace the brake as a whole, or to take back the bicycle and end the lease by 30 November.

Kind regards,
Hanna Gruber, Bakery Gruber, Salzburg
"""

DEALER_VISIT = """<!doctype html>
<html lang="en">
<head><title>Visit of the dealer in Ghent</title><style>p { margin: 1em }</style></head>
<body>
<nav><a href="/">Home</a> <a href="/dealers">Dealers</a></nav>
<main>
<h1>Visit of the dealer in Ghent</h1>
<p>The shop sold 64 bicycles this year, 19 of them with the cargo box, and expects 80 for the next one.</p>
<p>Ilse, who runs it, would order earlier if the prices for spring were out in December and not in February.</p>
<p>Her customers ask for a lock that fits the battery key; she loses about one sale a week for want of it.</p>
<ul><li>To do: send the new price list by 10 December.</li><li>To do: two test bicycles for January.</li></ul>
</main>
<script>console.log("not for reading")</script>
</body>
</html>
"""

CAMPAIGN = (
    ("Spring campaign", "Ride to work in April: 30 days, one bicycle, no car"),
    (
        "Who we want to reach",
        "People who live 5 to 15 km from work and drive alone.",
        "In Leipzig and Graz that is 38 % of all commuters.",
    ),
    (
        "What it costs",
        "The budget is 42,000 EUR: 25,000 for 60 loan bicycles, 9,000 for posters, 8,000 for the shops.",
        "Last year every third loan bicycle was bought after the 30 days.",
    ),
)

WINTER_STORAGE = (
    """How to store an e-bike over the winter

Take out the battery and keep it in a dry room between 10 and 20 degrees.
Charge it to about 60 % before you put it away, and look at it every two months.
A battery that is left empty over the winter may lose a third of its range for good.
""",
    """Before the first ride in spring

Pump the tyres to the pressure that is printed on their side, and try both brakes while you push.
Oil the chain, wipe off what drips, and charge the battery to 100 % once.
If the display shows the code E-21, bring the bicycle to a shop; the update takes ten minutes and is free.
""",
)

RETURNS = (
    "Returns: what shops may decide by themselves",
    "A bicycle that was ridden for less than 50 km can be returned within 30 days, without giving a reason.",
    "The shop refunds the full price if nothing is scratched, and the price less 10 % otherwise.",
    "Helmets and locks are only taken back in their closed box.",
    "Anything above 3,000 EUR needs the approval of the regional office, which answers within two working days.",
)

HANDOVER = (
    "Übergabe der Werkstatt in Köln",
    "Die Werkstatt in Köln wird zum 1. Dezember von Eszter Dvorak übernommen.",
    "Offen sind 17 Reparaturen, davon warten neun auf den Motor des Modells Osprey Trail.",
    "Der Mietvertrag der Halle endet im Juni; die Miete beträgt 2.400 EUR im Monat.",
    "Die Schlüssel, die Kasse mit 312 EUR und die Liste der Leihräder liegen im Büro.",
)

PARTS = (
    ("Part", "Price", "Change"),
    ("Brake pads, set of four", "24.90 EUR", "up 2.00"),
    ("Display, colour", "149.00 EUR", "unchanged"),
    ("Battery 540 Wh", "489.00 EUR", "down 30.00"),
    ("Battery 720 Wh", "669.00 EUR", "new"),
    ("Child seat adapter", "39.50 EUR", "up 1.50"),
)

# Below `inbox/`: what came in, by the name of its file.
INBOX = {
    "battery.txt": "The battery of my Tern 5 is empty after 20 km since it is cold. Order 71108. Ana",
    "brakes.txt": "Urgent: both brakes of my Swift 28 failed on a hill today, order 74519. I was lucky. Dario",
    "refund.txt": "I was charged 89.90 EUR twice for order 72266. When do I get my refund? Oriane",
    "threat.txt": "I have written four times about order 79013, and now I know where your shop is. Pavel",
    "lost parcel.eml": "The delivery of order 75540 was promised for 12 November and nobody knows where it is. Nuno",
    "thanks.md": "**Many thanks** to the team in Porto! The Dunlin Fold of order 70882 rides like new. Rosa",
    "account.html": "<p>Please delete my account, I sold the Osprey Trail. The order was 73397.</p><p>Wim</p>",
}

# Below `voices/`: what riders wrote after a month, for a pipeline that is in no hurry.
VOICES = {
    "Ana.txt": "After a month with the Tern 5 I sold my car. It takes two children and the shopping up the hill. Only"
    " the bell is too quiet for the tourists in my street.",
    "Dario.md": "**Four stars.** The motor of the Osprey Trail pulls like a horse. The display can hardly be read in"
    " the sun, and the manual says nothing about it.",
    "Rosa.html": "<p>I fold the Dunlin ten times a day and it still closes with one hand. On the train nobody minds"
    " it. I would buy it again, in green.</p>",
}

CARE = """# Care of your bicycle

Wash it with a sponge and cold water; never use a pressure washer near the motor.
Oil the chain every 200 km, and after every ride in the rain.

A loose screw is an accident that waits. Once a month, try all of them by hand.
"""

TYRES = (
    "Which tyre for which road",
    "Narrow tyres roll easily on asphalt and need 5 bar; check the pressure every two weeks.",
    "Wide tyres with 2.5 bar are for gravel and cobblestones, and they forgive a pothole.",
    "With winter tyres you stop in half the distance on ice.",
)

FAQ = """<!doctype html>
<html lang="en"><body><h1>Questions that customers ask</h1>
<h2>How far can I ride?</h2><p>Between 50 and 110 km, depending on battery, hills, wind and rider. In frost a
quarter less.</p>
<h2>May I ride in heavy rain?</h2><p>Yes. Motor and battery are sealed; only a pressure washer gets water into
them.</p>
<h2>How long does the battery last?</h2><p>About 800 full charges, which is 50,000 km for most riders. After that
it still holds 70 % of what it held when it was new.</p>
<h2>What does the warranty cover?</h2><p>The frame for ten years, motor and battery for two years, wear of brakes
and chain not at all.</p>
</body></html>
"""

_CHAPTERS = {
    "Frame": (
        "The frame is made of aluminium and carries 130 kg, rider and luggage together.",
        "A dent in the down tube is a reason to stop riding; a scratch in the paint is not.",
        "Screws at the stem are tightened with 6 Nm, those at the seat post with 8 Nm.",
        "The number of the frame is under the bottom bracket and in the papers.",
    ),
    "Motor": (
        "The motor helps up to 25 km/h and switches itself off beyond.",
        "It has four levels; the highest uses three times as much energy as the lowest.",
        "A humming at 18 km/h is normal, a clicking at every turn of the pedal is not.",
        "The code E-07 means that the sensor of the wheel is out of its place by more than 5 mm.",
    ),
    "Battery": (
        "The battery is charged between 5 and 35 degrees, and never near anything that burns.",
        "It switches itself off after ten minutes without use, and wakes up at a touch of the button.",
        "A battery that has fallen is checked by a shop before it is charged again.",
        "Batteries travel by road only; no airline takes them.",
    ),
    "Brakes": (
        "Both brakes are hydraulic, and their fluid is changed every two years.",
        "Pads of less than 1 mm are replaced; a set lasts about 2,000 km.",
        "New brakes are run in by stopping thirty times from 30 km/h.",
        "After a change of a wheel, pull the lever until it feels hard before you ride.",
    ),
}


def handbook() -> str:
    """Long enough to be cut into a few pieces."""
    chapters = "".join(
        f"\n## {title}\n\n" + " ".join(sentences) + "\n" for title, sentences in _CHAPTERS.items()
    )
    return f"# Handbook for mechanics\n{chapters}"
