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
_TOKEN = re.compile(r"[^\s,;<>\[\]=\"/]+")


def mutated(rng, content, others, ways):
    """Damage some content once to four times in ways chosen at random."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 2, 3, 4]))):
        content = choice(rng, ways)(rng, content, others)
    return content


def of_bytes(rng, content, others):
    """Damage the content as bytes, whatever they mean."""
    if not content:
        return bytes(rng.integers(0, 256, 20, dtype=np.uint8))
    return choice(rng, _OF_BYTES)(rng, content, others)


def of_text(rng, content, others):
    """Damage the content as lines and words; what is not text is damaged as bytes."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return of_bytes(rng, content, others)
    changed = choice(rng, _OF_TEXT)(rng, text, others)
    return changed if isinstance(changed, bytes) else changed.encode()


def choice(rng, options):
    return options[int(rng.integers(len(options)))]


def _place(rng, content):
    """A part of the content: its beginning and its end."""
    start = int(rng.integers(len(content) + 1))
    return start, min(len(content), start + int(2 ** rng.uniform(0, 7)))


def _flip(rng, content, others):
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _truncate(rng, content, others):
    return content[: int(rng.integers(len(content)))]


def _remove(rng, content, others):
    start, end = _place(rng, content)
    return content[:start] + content[end:]


def _repeat(rng, content, others):
    start, end = _place(rng, content)
    return content[:end] + content[start:end] * int(rng.integers(1, 4)) + content[end:]


def _insert(rng, content, others):
    start, _ = _place(rng, content)
    junk = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
    return content[:start] + junk + content[start:]


def _overwrite(rng, content, others):
    start, value = int(rng.integers(len(content))), choice(rng, _INTERESTING_BYTES)
    return content[:start] + value + content[start + len(value) :]


def _splice(rng, content, others):
    other = choice(rng, [*others, content])
    return (
        content[: int(rng.integers(len(content) + 1))] + other[int(rng.integers(len(other) + 1)) :]
    )


_OF_BYTES = [_flip, _flip, _truncate, _remove, _repeat, _insert, _overwrite, _overwrite, _splice]


def _tokens(text):
    return list(_TOKEN.finditer(text))


def _extreme(rng, text, others):
    found = _tokens(text)
    if not found:
        return text + choice(rng, EXTREMES)
    token = choice(rng, found)
    return text[: token.start()] + choice(rng, EXTREMES) + text[token.end() :]


def _swap(rng, text, others):
    found = _tokens(text)
    if len(found) < 2:
        return text
    places = sorted(rng.choice(len(found), 2, replace=False).tolist())
    a, b = (found[place] for place in places)
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def _line(rng, text, others):
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


_REPLACEMENTS = [
    (" ", ","), (" ", "\t"), (",", ";"), ("\n", "\r\n"), ("\n", "\r"), (" ", "  "), ("\n", "\n\n"),
    (".", ","), ('"', ""), ("<", ">"), ("[", "]"), ("0", "-"), ("1", "0"),
]  # fmt: skip


def _characters(rng, text, others):
    old, new = choice(rng, _REPLACEMENTS)
    return text.replace(old, new, choice(rng, [1, 1, -1]))


def _encoding(rng, text, others):
    match rng.integers(4):
        case 0:
            return b"\xef\xbb\xbf" + text.encode()
        case 1:
            return text.encode("utf-16")
        case 2:
            return text.encode("latin1", errors="replace")
        case _:
            return text.replace("\n", "\0", 1)


def _text_splice(rng, text, others):
    other = choice(rng, [*others, text.encode()]).decode(errors="replace").split("\n")
    lines, i, j = text.split("\n"), *(int(n) for n in rng.integers(1000, size=2))
    return "\n".join(lines[: i % len(lines)] + other[j % len(other) :])


_OF_TEXT = [_extreme, _extreme, _extreme, _swap, _line, _line, _line, _characters, _text_splice,
            _encoding]  # fmt: skip
