"""The BibTeX of a result as readable references."""
from __future__ import annotations

import re
import unicodedata

ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "v": "\u030c", "c": "\u0327", "H": "\u030b",
           "=": "\u0304", ".": "\u0307", "u": "\u0306", "r": "\u030a", "k": "\u0328"}
SIGNS = {r"\o": "\u00f8", r"\O": "\u00d8", r"\l": "\u0142", r"\L": "\u0141", r"\ss": "\u00df", r"\ae": "\u00e6", r"\aa": "\u00e5",
         r"\i": "\u0131", r"\&": "&", "---": "\u2014", "--": "\u2013", "~": " "}


def entries(bibtex):
    """One dictionary for each entry: its fields, plain text."""
    found = []
    for body in re.findall(r"@\w+\s*\{[^,]*,(.*?)\n\}", bibtex + "\n}", re.S):
        fields = {}
        for match in re.finditer(r"(\w+)\s*=\s*", body):
            value = _braced(body, match.end())
            if value is not None:
                fields[match.group(1).lower()] = plain(value)
        if fields:
            found.append(fields)
    return found


def _braced(body, start):
    """The value in braces that begins at `start`."""
    if start >= len(body) or body[start] != "{":
        return None
    depth = 0
    for place in range(start, len(body)):
        depth += (body[place] == "{") - (body[place] == "}")
        if depth == 0:
            return body[start + 1:place]
    return None


def plain(value):
    """Text without the commands of TeX that names and titles have."""
    def accented(match):
        return match.group(2) + ACCENTS[match.group(1)]

    value = re.sub(r"\\(['`\"^~=.]|[vcHurk](?=[{ ]))\s*\{?\s*(\\i|[A-Za-z])\s*\}?", accented, value)
    for sign, character in SIGNS.items():
        value = re.sub(re.escape(sign) + (r"(?![A-Za-z])\s*" if sign[0] == "\\" and sign[1:].isalpha() else ""), character, value)
    return unicodedata.normalize("NFC", " ".join(value.replace("{", "").replace("}", "").split()))


def authors(names):
    """"Barash, Lev Yu. and Weigel, Martin" -> "L. Yu. Barash and M. Weigel"."""
    def one(name):
        last, _, first = (part.strip() for part in name.partition(","))
        initials = " ".join(part if part.endswith(".") else part[0] + "." for part in first.split())
        return f"{initials} {last}".strip()

    people = [one(name) for name in re.split(r"\s+and\s+", names) if name.strip()]
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + (" and " if people else "") + people[-1]


def reference(entry, escape):
    """HTML of one work: authors, title, journal volume, pages (year), with its DOI as a link."""
    parts = [escape(authors(entry.get("author", "")))] * ("author" in entry)
    parts += [f"<i>{escape(entry['title'])}</i>"] if "title" in entry else []
    where = " ".join([escape(entry.get("journal") or entry.get("booktitle") or entry.get("publisher", "")),
                      f"<b>{escape(entry['volume'])}</b>" if "volume" in entry else ""]).strip()
    where += f", {escape(entry['pages'])}" if "pages" in entry else ""
    where += f" ({escape(entry['year'])})" if "year" in entry else ""
    parts += [where] if where else []
    if "doi" in entry:
        parts.append(f'<a href="https://doi.org/{escape(entry["doi"])}">doi:{escape(entry["doi"])}</a>')
    return ", ".join(parts) + "."
