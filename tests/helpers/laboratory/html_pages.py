"""HTML pages that stand on their own."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "path", "circle"}


class Checker(HTMLParser):
    """Open tags must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.pictures, self.anchors, self.links = [], [], set(), set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "img":
            self.pictures.append(attrs)
        self.anchors.add(attrs.get("id"))
        if tag == "a":
            self.links.add(attrs["href"].removeprefix("#"))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(html):
    """Parse a page: well-formed, without other files, with words for every picture."""
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert all(each["alt"] and each["src"].startswith("data:") for each in checker.pictures)
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", html)
    assert not re.search(r"@import|url\(", html)
    assert "<script" not in html
    return checker
