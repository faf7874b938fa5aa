"""The texts of a small gazette: sales, news and reviews, drawn from templates, in one vocabulary.

    market   yesterday anna bought a red kite from max in oslo .     now anna has the red kite .
    news     ford hired jordan in lincoln .                          jordan is a kind teacher .
    review   although the room was good , the view was not good .    we hated the hotel .

Each article is a text and a sentence that follows from it. In a sale the time on the left tells the tense of
the verb and the preposition on the right which verb it is: "bought" is certain from both sides together
alone. In the news some names are of a person, a place or an organisation, as their sentence has it. Each
review has a twin of the same words with the opposite verdict, its two opinions exchanged: no bag of words
can tell them apart.

References: the tasks are small stand-ins of those of Devlin et al. 2019, arXiv:1810.04805; [UDL] 12.6.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from datamodules.tokenizer import EncoderTokenizer, words

Genre = Literal["market", "news", "review"]
PEOPLE = ("anna", "max", "nina", "tom", "eva", "leo", "mara", "paul", "ida", "ben", "rosa", "karl")
PLACES = ("oslo", "rome", "lima", "cairo", "delhi", "tokyo", "york", "bern")
FIRMS = ("siemens", "toyota", "sony", "bosch", "philips", "airbus")
# names that only their sentence can tell: person or place, person or organisation, place or organisation, all
PERSON_PLACE = ("jordan", "florence", "sydney")
PERSON_FIRM = ("ford", "dior")
PLACE_FIRM = ("amazon", "nokia")
ANY = ("lincoln", "chelsea")
NAMES = {
    "person": (*PEOPLE, *PERSON_PLACE, *PERSON_FIRM, *ANY),
    "place": (*PLACES, *PERSON_PLACE, *PLACE_FIRM, *ANY),
    "organisation": (*FIRMS, *PERSON_FIRM, *PLACE_FIRM, *ANY),
}
AMBIGUOUS = (*PERSON_PLACE, *PERSON_FIRM, *PLACE_FIRM, *ANY)
TAGS = ("none", *NAMES)

TIMES = {
    "past": ("yesterday", "last week", "last year"),
    "present": ("every day", "every week", "every year"),
}
# base, present, past, preposition, and who has the thing in the end: the subject, the other, or both
VERBS = (
    ("buy", "buys", "bought", "from", "subject"),
    ("sell", "sells", "sold", "to", "other"),
    ("share", "shares", "shared", "with", "both"),
    ("paint", "paints", "painted", "for", "other"),
)
SIZES = ("big", "small", "new")
COLOURS = ("red", "blue", "green", "white", "black")
THINGS = ("kite", "lamp", "boat", "chair", "table", "clock", "bike", "drum")

# a slot's name is the kind of name that its sentence wants
NEWS = (
    "{person} lives in {place} .", "{person} works for {organisation} .",
    "{person} flew from {place} to {place2} .", "{organisation} hired {person} in {place} .",
    "{organisation} opened an office in {place} .", "the road to {place} is closed .",
    "the people of {place} like {person} .", "shares of {organisation} fell last week .",
    "{person} is the mayor of {place} .", "{organisation} pays {person} well .",
    "the chief of {organisation} met {person} .", "{person} and {person2} married in {place} .",
    "the trains from {place} to {place2} are slow .", "{organisation} bought {organisation2} last year .",
)  # fmt: skip
FOLLOW = {
    "person": ("{} is a kind teacher .", "{} has two children .", "{} is very tall ."),
    "place": ("{} is a green city .", "it rains in {} every week .", "{} has an old bridge ."),
    "organisation": ("{} is a rich firm .", "{} makes cars .", "{} has many workers ."),
}
TOPICS = {
    "film": ("plot", "ending", "music", "cast"), "hotel": ("room", "view", "bed", "staff"),
    "meal": ("soup", "fish", "cake", "wine"),
}  # fmt: skip
GOOD, BAD = ("good", "great", "lovely", "nice"), ("bad", "awful", "poor", "dull")
VERDICTS = {
    True: ("we liked the {} .", "the {} was worth the money .", "we will be back ."),
    False: ("we hated the {} .", "the {} was not worth the money .", "we will not be back ."),
}


class Sale(NamedTuple):
    """A sale, and where in its words the answers stand: half-open (start, end)."""

    words: list[str]
    time: tuple[int, int]
    what: tuple[int, int]
    name: str
    other: str
    place: str
    thing: str  # with its colour
    verb: tuple[str, str, str, str, str]
    past: bool


class Article(NamedTuple):
    """A text and the sentence that follows from it."""

    text: str
    following: str


def sales(dice: Random, count: int) -> list[Sale]:
    """Sales whose people, places and things all differ, so that each question has one answer."""
    people, places = dice.sample(PEOPLE, 2 * count), dice.sample(PLACES, count)
    found = []
    for i, thing in enumerate(dice.sample(THINGS, count)):
        past, verb, coloured = dice.random() < 0.5, dice.choice(VERBS), f"{dice.choice(COLOURS)} {thing}"
        time = dice.choice(TIMES["past" if past else "present"]).split()
        size = [dice.choice(SIZES)] if dice.random() < 0.3 else []
        what = ["a", *size, *coloured.split()]
        start = len(time) + 2
        line = [*time, people[2 * i], verb[1 + past], *what, verb[3], people[2 * i + 1], "in", places[i], "."]
        found.append(
            Sale(
                line, (0, len(time)), (start, start + len(what)), people[2 * i], people[2 * i + 1], places[i],
                coloured, verb, past,
            )
        )  # fmt: skip
    return found


def market(dice: Random) -> Article:
    """One to three sales, and what follows from one of them."""
    told = sales(dice, dice.randint(1, 3))
    sale = dice.choice(told)
    both = sale.verb[4] == "both"
    owner = {"subject": sale.name, "other": sale.other, "both": f"{sale.name} and {sale.other}"}[sale.verb[4]]
    now = "now" if sale.past else "then"
    following = dice.choice(
        (
            f"{now} {owner} {'have' if both else 'has'} the {sale.thing} .",
            f"the {sale.thing} {'was' if sale.past else 'is'} in {sale.place} .",
            f"{sale.name} {'met' if sale.past else 'meets'} {sale.other} in {sale.place} .",
        )
    )
    return Article(" ".join(word for s in told for word in s.words), following)


def named(dice: Random, templates: Sequence[str] = NEWS) -> tuple[list[str], list[str]]:
    """Words of a sentence of the news, and the tag of each."""
    taken: set[str] = set()
    line, tags = [], []
    for word in dice.choice(templates).split():
        kind = word.strip("{}2")
        if word.startswith("{"):
            word = dice.choice([n for n in NAMES[kind] if n not in taken])
            taken.add(word)
        line.append(word)
        tags.append(kind if word in taken else "none")
    return line, tags


def news(dice: Random) -> Article:
    """A sentence with names, and one on the first or the last of them that tells what it is."""
    line, tags = named(dice)
    at = dice.choice([i for i, tag in enumerate(tags) if tag != "none"])
    return Article(" ".join(line), dice.choice(FOLLOW[tags[at]]).format(line[at]))


def opinion(dice: Random, good: bool) -> str:
    """An adjective, or the opposite one behind "not"."""
    plain = dice.random() < 0.6
    adjective = dice.choice(GOOD if good == plain else BAD)
    return adjective if plain else f"not {adjective}"


def judged(dice: Random) -> tuple[str, str, bool]:
    """A review, its topic and its verdict: that of the main clause, or of what stands behind "not … ,"."""
    good, topic = dice.random() < 0.5, dice.choice(list(TOPICS))
    other, main = dice.sample(TOPICS[topic], 2)
    if dice.random() < 0.25:
        wrong, right = dice.choice(BAD if good else GOOD), dice.choice(GOOD if good else BAD)
        return f"the {main} was not {wrong} , it was {right} .", topic, good
    mine, theirs = opinion(dice, good), opinion(dice, not good)
    text = dice.choice(
        (
            f"the {other} was {theirs} but the {main} was {mine} .",
            f"although the {other} was {theirs} , the {main} was {mine} .",
            f"the {main} was {mine} although the {other} was {theirs} .",
        )
    )
    return text, topic, good


def review(dice: Random) -> Article:
    """A review, and its verdict in plain words."""
    text, topic, good = judged(dice)
    return Article(text, dice.choice(VERDICTS[good]).format(topic))


WRITERS: dict[Genre, Callable[[Random], Article]] = {"market": market, "news": news, "review": review}


def articles(count: int, seed: int = 0, genres: Sequence[Genre] = get_args(Genre)) -> list[Article]:
    """Draw articles, the genres equally likely.

    Raises:
        ValueError: fewer than one article, or an unknown genre.
    """
    if count < 1 or not genres or set(genres) - set(WRITERS):
        raise ValueError(f"{count} articles of {list(genres)}: draw at least one, of {', '.join(WRITERS)}.")
    dice = Random(seed)
    return [WRITERS[dice.choice(list(genres))](dice) for _ in range(count)]


QUESTIONS = "who what where when did does is was has ?"


@cache
def vocabulary() -> tuple[str, ...]:
    """All words of all templates, sorted."""
    texts: list[Any] = [*NEWS, *(t for lines in FOLLOW.values() for t in lines), *GOOD, *BAD, QUESTIONS]
    texts += [t for lines in VERDICTS.values() for t in lines]
    texts += [*TOPICS, *(a for aspects in TOPICS.values() for a in aspects)]
    texts += [*(t for times in TIMES.values() for t in times), *SIZES, *COLOURS, *THINGS]
    texts += [word for verb in VERBS for word in verb[:4]]
    texts += [name for kind in NAMES.values() for name in kind]
    texts += ["a now then has have the is was in met meets and not it but although ,"]
    slots = {f"{{{kind}{n}}}" for kind in NAMES for n in ("", "2")} | {"{}"}
    return tuple(sorted({w for text in texts for t in text.split() if t not in slots for w in words(t)}))


def tokenizer() -> EncoderTokenizer:
    """The words of the gazette, whatever was drawn."""
    return EncoderTokenizer([*EncoderTokenizer.SPECIAL, *vocabulary()])
