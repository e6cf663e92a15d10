"""Ways to damage bytes and text."""

import re

import numpy as np

#: What stands in place of a number.
EXTREMES = [
    "0", "-1", "1", "2", "-0", "1.5", "nan", "NaN", "inf", "-inf", "NA", "1e308", "-1e308", "1e999",
    "1e-320", "1e-999", "9007199254740993", "2147483647", "2147483648", "-2147483649", "4294967296",
    "9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999999",
    "0x10", "1_000", "1e5", "007", "+3", "3L", "1,5", "٣", "é", '""', "'", '"', "#", "%", "\\",
    "true", "None", "9" * 400, "\x1b[31m", "\u202e", "\ufeff", "", " ", "\t",
]  # fmt: skip

_INTERESTING_BYTES = [
    value.to_bytes(size, order, signed=True)
    for size, values in {
        1: (0, 1, -1, 127, -128),
        2: (0, 1, -1, 2**15 - 1, -(2**15)),
        4: (0, 1, -1, 2**31 - 1, -(2**31), 10**6),
        8: (0, 1, -1, 2**63 - 1, -(2**63), 2**31, 2**52),
    }.items()
    for value in values
    for order in ("little", "big")
]
_REPLACEMENTS = [
    (" ", ","), (" ", "\t"), (",", ";"), ("\n", "\r\n"), ("\n", "\r"), (" ", "  "), ("\n", "\n\n"),
    (".", ","), ('"', ""), ("<", ">"), ("[", "]"), ("0", "-"), ("1", "0"),
]  # fmt: skip
_TOKEN = re.compile(r"[^\s,;<>\[\]=\"/]+")


def mutated(rng, content, others, ways):
    """Damage some content once to four times in ways chosen at random."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 2, 3, 4]))):
        content = choice(rng, ways)(rng, content, others)
    return content


def choice(rng, options):
    return options[int(rng.integers(len(options)))]


def of_bytes(rng, content, others):
    """Damage the content as bytes, whatever they mean."""
    if not content:
        return bytes(rng.integers(0, 256, 20, dtype=np.uint8))
    match rng.integers(9):
        case 0 | 1:
            changed = bytearray(content)
            for _ in range(int(rng.integers(1, 4))):
                changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
            return bytes(changed)
        case 2:
            return content[: int(rng.integers(len(content)))]
        case 3:
            start, end = _place(rng, content)
            return content[:start] + content[end:]
        case 4:
            start, end = _place(rng, content)
            return content[:end] + content[start:end] * int(rng.integers(1, 4)) + content[end:]
        case 5:
            start, _ = _place(rng, content)
            junk = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
            return content[:start] + junk + content[start:]
        case 6 | 7:
            start, value = int(rng.integers(len(content))), choice(rng, _INTERESTING_BYTES)
            return content[:start] + value + content[start + len(value) :]
        case _:
            other = choice(rng, [*others, content])
            end, start = (int(rng.integers(len(each) + 1)) for each in (content, other))
            return content[:end] + other[start:]


def _place(rng, content):
    """A part of the content: its beginning and its end."""
    start = int(rng.integers(len(content) + 1))
    return start, min(len(content), start + int(2 ** rng.uniform(0, 7)))


def of_text(rng, content, others):
    """Damage the content as lines and words; what is not text is damaged as bytes."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return of_bytes(rng, content, others)
    match rng.integers(10):
        case 0 | 1 | 2:
            changed = _extreme(rng, text)
        case 3:
            changed = _swap(rng, text)
        case 4 | 5 | 6:
            changed = _line(rng, text)
        case 7:
            old, new = choice(rng, _REPLACEMENTS)
            changed = text.replace(old, new, choice(rng, [1, 1, -1]))
        case 8:
            other = choice(rng, [*others, content]).decode(errors="replace").split("\n")
            lines, i, j = text.split("\n"), *(int(n) for n in rng.integers(1000, size=2))
            changed = "\n".join(lines[: i % len(lines)] + other[j % len(other) :])
        case _:
            return choice(rng, _encodings(text))
    return changed.encode()


def _encodings(text):
    return [
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        text.encode("latin1", errors="replace"),
        text.replace("\n", "\0", 1).encode(),
    ]


def _extreme(rng, text):
    found = list(_TOKEN.finditer(text))
    if not found:
        return text + choice(rng, EXTREMES)
    token = choice(rng, found)
    return text[: token.start()] + choice(rng, EXTREMES) + text[token.end() :]


def _swap(rng, text):
    found = list(_TOKEN.finditer(text))
    if len(found) < 2:
        return text
    a, b = (found[place] for place in sorted(rng.choice(len(found), 2, replace=False).tolist()))
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def _line(rng, text):
    lines = text.split("\n")
    i, j = (int(n) for n in rng.integers(len(lines), size=2))
    match rng.integers(6):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            lines.insert(i, choice(rng, EXTREMES))
        case 4:
            lines[i] += choice(rng, [" ", ",", ";", "\t"]) + choice(rng, EXTREMES)
        case _:
            lines = lines[: i + 1]
    return "\n".join(lines)
