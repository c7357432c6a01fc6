import html
import re
from html.parser import HTMLParser

name = "markup"

TAG = re.compile(r"<(?P<close>/)?(?P<name>[a-z]+)(?P<rest>[^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r'''(\w+)=(?:"([^"]*)"|'([^']*)')''')


class Text(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.skipping = [], 0

    def handle_starttag(self, tag, attrs):
        self.skipping += tag in ("script", "style")
        if tag == "br":
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.skipping -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.skipping:
            self.parts.append(data)


def attributes(rest):
    return {match[1].lower(): html.unescape(match[2] or match[3] or "") for match in ATTRIBUTE.finditer(rest)}


def transform(sources):
    page = sources["rows"]["content"]
    cases = []
    for block in re.split(r"\s*<item\b", page)[1:]:
        head, _, inner = block.partition(">")
        inner = inner.rsplit("</item>", 1)[0]
        parser = Text()
        parser.feed(inner)
        parser.close()
        squeezed = re.sub(r"[ \t]+", " ", "".join(parser.parts)).strip()
        names = [m["name"].lower() for m in TAG.finditer(inner) if not m["close"]]
        cases.append({**attributes(head), "text": squeezed, "tags": list(dict.fromkeys(names)), "safe": html.escape(squeezed)})
    return cases
