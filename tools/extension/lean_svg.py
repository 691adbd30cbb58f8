"""A drawing of matplotlib in fewer bytes: the same lines and letters, to a hundredth of a point.

What a browser does not need goes (metadata, comments, names that nothing asks for, groups around one thing), paths
become relative, and styles that occur more than once become classes.
"""

import re
from collections import Counter
from itertools import count
from string import ascii_letters
from xml.etree import ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
DIGITS = 2  # of a coordinate, in points
PATH = re.compile(r"[MLQCZz]|-?[\d.]+(?:e-?\d+)?")
PLACE = re.compile(r"(scale\([^)]*\))|-?\d+\.\d+(?:e-?\d+)?|-?\d+e-?\d+")  # sizes of letters keep all their digits
REFERENCE = re.compile(r"url\(#([^)]+)\)")
N_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}
MOVED = re.compile(r"translate\((-?[\d.]+) 0\)")
HEX = re.compile(r"#([0-9a-f])\1([0-9a-f])\2([0-9a-f])\3\b")


def lean(text: str) -> str:
    """The drawing in fewer bytes; one that is lean already, or was not drawn by matplotlib, stays as it is."""
    if not text.startswith("<?xml") or "matplotlib" not in text:
        return text
    root = ElementTree.fromstring(text)
    for place in root.findall(f"{{{SVG}}}metadata"):
        root.remove(place)
    names = used_names(root)
    for node in root.iter():
        node.text = node.text if node.tag.endswith("}style") else None
        node.tail = None
        simplify(node, names)
    share_styles(root)
    flatten(root)
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def used_names(root: ElementTree.Element) -> dict[str, str]:
    """Short names for whatever is referred to."""
    found: dict[str, str] = {}
    short = ("".join((ascii_letters[i % 52], str(i // 52) if i >= 52 else "")) for i in count())
    for node in root.iter():
        for value in node.attrib.values():
            wanted = [value[1:]] if value.startswith("#") and value == node.get(HREF) else REFERENCE.findall(value)
            for name in wanted:
                if name not in found:
                    found[name] = next(short)
    return found


def simplify(node: ElementTree.Element, names: dict[str, str]) -> None:
    """The attributes of one element."""
    name = node.attrib.pop("id", None)
    if name in names:
        node.set("id", names[name])
    if (target := node.attrib.pop(HREF, None)) is not None:
        node.set("href", f"#{names[target[1:]]}" if target.startswith("#") else target)
    for key, value in list(node.attrib.items()):
        if key in ("href", "id", "version", "type"):
            continue
        value = REFERENCE.sub(lambda m: f"url(#{names[m[1]]})", value)
        if key == "d":
            value = relative(value)
        elif key == "style":
            value = HEX.sub(r"#\1\2\3", re.sub(r"\s*([:;])\s*", r"\1", value))
        elif not value.startswith("url("):
            value = PLACE.sub(lambda m: m[0] if m[1] else format_number(float(m[0])), value)
        node.set(key, value)
    moved = MOVED.fullmatch(node.get("transform", ""))
    if node.tag == f"{{{SVG}}}use" and moved and "x" not in node.attrib:  # a letter in its word
        del node.attrib["transform"]
        node.set("x", moved[1])
    for key in ("version", "type"):
        node.attrib.pop(key, None)


def format_number(number: float, digits: int = DIGITS) -> str:
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{number:.0f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if text not in ("-0", "") else "0"


def relative(path: str) -> str:
    """A path of absolute M, L, Q, C and z, as matplotlib writes them, relative to the point before."""
    tokens = PATH.findall(path)
    out, here, start, i, last = [], (0.0, 0.0), (0.0, 0.0), 0, ""
    while i < len(tokens):
        letter = tokens[i]
        i += 1
        if letter in "Zz":
            out.append("z")
            here, last = start, ""
            continue
        n = N_POINTS[letter]
        numbers = [round(float(number), DIGITS) for number in tokens[i : i + 2 * n]]
        i += 2 * n
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        steps = [(x - here[0], y - here[1]) for x, y in points]
        command, values = shortest(letter, points, steps)
        sequel = "l" if last == "m" else "L" if last == "M" else last  # what numbers alone mean after this command
        out.append(("" if command == sequel else command) + join_numbers(values, bare=command == sequel))
        here, last = points[-1], command
        if letter == "M":
            start = here
    return "".join(out)


def shortest(letter: str, points: list, steps: list) -> tuple[str, list[float]]:
    """The command and its numbers: level and upright strokes have one alone."""
    (dx, dy), flat = steps[-1], [number for step in steps for number in step]
    if letter == "L" and round(dy, DIGITS) == 0:
        return "h", [dx]
    if letter == "L" and round(dx, DIGITS) == 0:
        return "v", [dy]
    return ("M", list(points[0])) if letter == "M" else (letter.lower(), flat)


def join_numbers(values: list[float], *, bare: bool) -> str:
    """Numbers with as few signs between them as can be read."""
    text = ""
    for value in values:
        number = format_number(value)
        apart = (text or bare) and not number.startswith("-")
        text += (" " if apart else "") + number
    return text


def share_styles(root: ElementTree.Element) -> None:
    """A style that stands more than once becomes a class, in the one style sheet that matplotlib writes."""
    sheet = next(root.iter(f"{{{SVG}}}style"))
    counted = Counter(node.get("style") for node in root.iter() if node.get("style"))
    classes = {style: f"s{i}" for i, (style, n) in enumerate(counted.most_common()) if n > 1}
    for node in root.iter():
        if node.get("style") in classes:
            node.set("class", classes[node.attrib.pop("style")])
    sheet.text = re.sub(r"\s*([:;])\s*", r"\1", sheet.text or "") + "".join(f".{c}{{{s}}}" for s, c in classes.items())


def flatten(node: ElementTree.Element) -> None:
    """Take out empty elements, and groups that say nothing about what is in them."""
    for child in list(node):
        flatten(child)
        if child.tag not in (f"{{{SVG}}}g", f"{{{SVG}}}defs"):
            continue
        place = list(node).index(child)
        if not len(child):
            node.remove(child)
        elif child.tag == f"{{{SVG}}}g" and not child.attrib:
            node[place : place + 1] = list(child)
