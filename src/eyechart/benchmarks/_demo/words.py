"""The words on the signs, and our own text for the printed pages."""

SIGN_WORDS = (
    "ACORN", "AMBER", "APRON", "BASIL", "BEACH", "BRICK", "CANOE", "CEDAR", "CHALK", "CLOUD", "CORAL", "DAISY",
    "EAGLE", "EMBER", "FERRY", "FLINT", "GLOVE", "GRAPE", "HAZEL", "HERON", "IVORY", "JEWEL", "KAYAK", "LEMON",
    "LILAC", "MANGO", "MAPLE", "NORTH", "OLIVE", "ONION", "OTTER", "PEARL", "PLUMB", "QUAIL", "RAVEN", "RIVER",
    "SPICE", "STORK", "THYME", "TULIP", "VIOLA", "WHEAT",
)  # fmt: skip
"""Five capital letters each, so that no sign's shape tells its word."""

PAGE_WORDS = ("Bittern", "Dunlin", "Fulmar", "Gannet", "Lapwing", "Plover", "Siskin", "Wigeon")
"""Names of samples on the pages."""

PAGE_TITLES = ("Notes on small print", "How near is near enough", "A page for patient eyes", "What a lens leaves out")

PAGE_SENTENCES = (
    "A letter is read when its strokes are wider than what the eye can part.",
    "Halve a picture and every stroke is halved with it.",
    "Nothing that was lost on the way down comes back on the way up.",
    "A crop keeps the strokes as they are and takes the surroundings away.",
    "The same page at arm's length and across the room is not the same page.",
    "Whoever reports a score should say how large the letters were.",
    "Two readers who see the same pixels may still read different words.",
    "Large type is kind to everybody; fine print is an eye test.",
    "Ask once and you have an answer, ask often and you have an error bar.",
    "What cannot be told should be called just that.",
    "A chart on the wall starts with one big letter for a reason.",
    "The last line is there so that somebody fails on it.",
)
