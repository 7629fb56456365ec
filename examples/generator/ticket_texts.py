"""What people write to the support desk of an invented e-bike maker, sentence by sentence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A kind of ticket; a text takes one sentence of each group, in this order."""

    subjects: tuple[str, ...]
    facts: tuple[str, ...]
    details: tuple[str, ...]
    tried: tuple[str, ...]


GREETINGS = ("Hello,", "Good morning,", "Dear team,", "Hi there,", "To whom it may concern,")

ORDERS = (
    "I bought the {model} from your shop in {town} on {day}, order {order}.",
    "This is about order {order}, a {model} that I collected on {day}.",
    "I have owned the {model} for {weeks} months, and until {day} I was very happy with it.",
    "My {model} came on {day} (order {order}), and I have ridden it for about {km} km since.",
    "The bicycle is a {model}, and the number of the order is {order}.",
    "I tried the phone line about order {order} first, and waited for {weeks} rounds of music.",
)

EFFECTS = (
    "I commute with it every day, and without it I spend {amount} a month on the train.",
    "My daughter rides in the child seat, so I do not want to take any risk with this.",
    "We had planned a tour for the {weeks} weeks around {day}, which is now uncertain.",
    "It is my only way to get to work before the first bus leaves at 05:10.",
    "I still like the bicycle a lot, which is why I would rather have it mended than returned.",
    "My neighbour has the same {model} and has never seen anything like it.",
)

WISHES = (
    "Please tell me by {day} whether this is covered by the warranty, and what I should bring along.",
    "Could somebody from the workshop in {town} call me back, best after 17:00?",
    "I would like a replacement part sent to me, or the {amount} refunded to the card I paid with.",
    "Kindly confirm that you have received this, and give me a date that I can rely on.",
    "What do you need from me, photos, a video, the frame number? I can send all of it today.",
    "If the repair costs more than {amount}, please ask me before you begin.",
)

CLOSINGS = (
    "Best regards,",
    "Kind regards,",
    "Thank you in advance,",
    "With thanks,",
    "Greetings from {town},",
)

TROUBLES = (
    Trouble(
        subjects=("Battery empties far too fast", "Range has halved", "Battery drops from 60 % to 0"),
        facts=(
            "Since last week the battery lasts for 28 km instead of the 80 km that it had in summer.",
            "The battery shows 61 % and then the display goes dark within a few minutes.",
            "A full battery is now empty after {weeks} short trips to the office.",
        ),
        details=(
            "It happens in eco mode as well, on flat roads, and at 15 degrees it cannot be the cold.",
            "The app says that the battery has gone through 41 charging cycles, which is hardly anything.",
            "When I charge it overnight the charger turns green after 90 minutes, far earlier than before.",
        ),
        tried=(
            "I have cleaned the contacts, updated the firmware to 4.2 and let it run empty once.",
            "The dealer swapped the charger for a new one, and that changed nothing.",
            "I reset the display by holding both buttons for ten seconds, as the manual says.",
        ),
    ),
    Trouble(
        subjects=("Charged twice for one order", "Wrong amount on my card", "Invoice does not match"),
        facts=(
            "My bank statement shows two payments of {amount} for order {order}, one minute apart.",
            "The invoice says {amount}, but the offer that I accepted was 35.00 EUR lower.",
            "I paid the deposit of {amount} in the shop, and the full price was taken from my card as well.",
        ),
        details=(
            "The second payment has the reference LF-{order}-B, which I cannot find in my account.",
            "The discount code AUTUMN was accepted on the website, and the confirmation mail still shows it.",
            "The leasing company asks me for a corrected invoice, else they will not pay their part.",
        ),
        tried=(
            "The shop told me to write to you, because they cannot see online payments.",
            "I asked my bank, and they say that the payment is final and only you can return it.",
            "I have sent the statement by mail {weeks} weeks ago and had no answer.",
        ),
    ),
    Trouble(
        subjects=(
            "Brake squeals and hardly holds",
            "Front brake has no pressure",
            "Brake lever goes to the grip",
        ),
        facts=(
            "The front brake squeals so loudly that people turn round, and it needs twice the distance to stop.",
            "I can pull the lever of the rear brake to the handlebar, and the bicycle just rolls on.",
            "After {km} km the brake pads are down to the metal.",
        ),
        details=(
            "There is a trace of oil at the hose, right where it enters the calliper.",
            "It is worst in the rain, and going downhill towards {town} I had to use my feet.",
            "The disc has turned blue on one side and wobbles by about two millimetres.",
        ),
        tried=(
            "I cleaned the disc with alcohol and fitted new pads for {amount}, and it came back within days.",
            "A friend who is a mechanic bled the brake, but the pressure is gone again.",
            "I have stopped riding it, because I do not think that it is safe.",
        ),
    ),
    Trouble(
        subjects=("Parcel never arrived", "Delivery to the wrong address", "Half of the order is missing"),
        facts=(
            "The tracking says that order {order} was delivered on {day}, but nothing was left here.",
            "The carrier brought the box to a street of the same name in {town}, 40 km from here.",
            "The box held the rack and the bag, but neither the lock nor the second key.",
        ),
        details=(
            "Nobody in our house signed for it, and the signature on the note is not mine.",
            "The box was wet and one side was open when the neighbour took it in.",
            "According to the packing list all four parts weigh 6.2 kg, and the label says 3.9 kg.",
        ),
        tried=(
            "The carrier told me that only the sender may start an inquiry.",
            "I went to the parcel shop twice, and they have no record of it.",
            "I have photos of the box, the label and the packing list.",
        ),
    ),
    Trouble(
        subjects=(
            "Display shows error E-17",
            "Motor cuts out uphill",
            "Motor does not start after the update",
        ),
        facts=(
            "On every steep hill the motor switches off after 300 metres and the display shows E-17.",
            "Since the update of {day} the motor starts only at the third try.",
            "The motor pulls for a second, lets go, and pulls again, so that the chain jumps.",
        ),
        details=(
            "There is a grinding noise from the left side, as if there was sand in it.",
            "The app lists 23 entries of E-17 within {weeks} days, all between 14 and 18 km/h.",
            "It makes no difference whether the battery is full, and the sensor at the wheel is clean.",
        ),
        tried=(
            "I turned it off and on, removed the battery for an hour, and checked the magnet on the spoke.",
            "Your hotline made me reset it, and the error came back on the way home.",
            "The workshop read the log and found nothing, and charged me {amount} for it.",
        ),
    ),
    Trouble(
        subjects=("Cannot log in to the app", "Bicycle still tied to the old owner", "Lost the key code"),
        facts=(
            "I bought a used {model}, and the app says that it belongs to another account.",
            "After the change of my phone the app asks for a code that is sent to my old number.",
            "I lost both keys of the battery lock, and the card with the code as well.",
        ),
        details=(
            "The seller has moved abroad and only answers every {weeks} weeks.",
            "I have the bill of sale, the frame number and a photo of the sticker.",
            "The form on the website accepts my address and then shows an empty page.",
        ),
        tried=(
            "I asked for a new password five times and got no mail, not in the junk folder either.",
            "I deleted the app, installed it anew and tried it on a tablet.",
            "The dealer in {town} says that only you can release it.",
        ),
    ),
    Trouble(
        subjects=("Wrong frame size delivered", "Return within 14 days", "Colour is not what I ordered"),
        facts=(
            "I ordered the {model} with a 53 cm frame and got a 48 cm one.",
            "I want to return the {model} of order {order}, which has 12 km on it and no scratch.",
            "The frame is dark green, while the order and the invoice both say slate blue.",
        ),
        details=(
            "The box is still here, with all of the foam, and I can have it ready within a day.",
            "The website promises a free return within 30 days, and this is day 9.",
            "I would keep it for a discount of {amount}, if that is easier for you.",
        ),
        tried=(
            "The return form rejects the order number because it has five digits only.",
            "Your carrier came for it with a van that was too small and left again.",
            "The shop in {town} would take it back, but they need your agreement first.",
        ),
    ),
    Trouble(
        subjects=("Spare part not available", "Repair takes for ever", "Appointment was cancelled twice"),
        facts=(
            "My bicycle has been in your workshop in {town} since {day}, waiting for one spoke.",
            "The appointment on {day} was cancelled by text message, for the second time.",
            "The belt for the {model} has been sold out for {weeks} months.",
        ),
        details=(
            "Each time I call I am told that it will be next week.",
            "The part has the number 44-{order}, and two other shops list it as available.",
            "I was offered a bicycle on loan for 12.00 EUR a day, which I find hard to accept.",
        ),
        tried=(
            "I offered to buy the part elsewhere and to bring it along.",
            "I asked for the transfer to another workshop and heard that this is impossible.",
            "I have written to the manager of the shop and had no answer in {weeks} weeks.",
        ),
    ),
)
