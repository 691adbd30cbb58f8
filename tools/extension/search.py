"""The index of the book's search: an entry for each section, the glossary, and where a word is taught.

It is a script, not a file to be fetched, so that the search works from a folder on a disk as well. The ranking stands
in tools/site/search-engine.js. Pages that keep themselves out of every search (nosearch) are not in it.
"""

import json
import posixpath
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from tools.extension.page_parts import chapters, is_hidden
from tools.extension.search_words import ALIASES, STOPS, SYNONYMS

FILE = "search-data.js"
GLOSSARY = "chapters/glossary"
BESIDE, BEHIND = 0.6, 0.3  # what a hit counts outside the chapters and in recaps, and where pages list what others tell
QUIZ = "Check yourself"
RECAPS = ("Common mistakes", "What to take away", "Practise", "Further reading", "What comes next")
LISTS = tuple(f"chapters/{it}" for it in ("api", "bibliography", "checkpoints", "claims", "errata", "source-map"))
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
SIGNS = {
    "sum": "∑",
    "sqrt": "√",
    "top": "ᵀ",
    "cdot": "·",
    "times": "×",
    "to": "→",
    "infty": "∞",
    "partial": "∂",
    "le": "≤",
    "ge": "≥",
    "in": "∈",
    "dots": "…",
    "approx": "≈",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    **{name: f"{name} " for name in ("exp", "log", "ln", "max", "min", "tanh")},
}


def write_index(app, exception) -> None:
    """Hook of Sphinx ("build-finished")."""
    if exception is None and app.builder.name == "html":
        index = json.dumps(make_index(app.env, app.builder), ensure_ascii=False, separators=(",", ":"))
        script = f"window.CLEARFORMER_INDEX={index};\n"
        (Path(app.outdir) / "_static" / FILE).write_text(script, encoding="utf8")


def make_index(env, builder) -> dict:
    """Pages, sections (the number of the page, anchor, title, words, code, weight), terms, and what readers type."""
    numbered = chapters(env)
    names = [name for name in sorted(env.found_docs) if not is_hidden(env.metadata.get(name, {}))]
    pages: list[list] = []
    sections: list[list] = []
    for name in names:
        pages.append([f"{name}.html", page_title(env, name), weight(name, numbered)])
        if name != GLOSSARY:
            sections += ([len(pages) - 1, *entry] for entry in entries(env.get_doctree(name)))
    typed = {"synonyms": SYNONYMS, "aliases": ALIASES, "stops": STOPS}
    return {"pages": pages, "sections": sections, "terms": terms(env, builder, names), **typed}


def page_title(env, name: str) -> str:
    number = env.toc_secnumbers.get(name, {}).get("")
    title = env.titles[name].astext()
    return f"{'.'.join(map(str, number))}. {title}" if number else title


def weight(name: str, numbered: list[str]) -> float:
    return 1 if name in numbered else BEHIND if name in LISTS else BESIDE


def entries(doctree) -> list[tuple[str, str, str, str, float]]:
    """Anchor, title, words, code and weight of each section, and of each function and class of the library."""
    found = []
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title.astext() == QUIZ:
            continue
        anchor = "" if isinstance(section.parent, nodes.document) else section["ids"][0]
        share = BESIDE if title.astext() in RECAPS else 1
        found.append((anchor, title.astext(), *words_and_code(section), share))
    for described in doctree.findall(addnodes.desc):
        signature = described.next_node(addnodes.desc_signature)
        if isinstance(described.parent, nodes.section) and signature["ids"]:
            found.append((signature["ids"][0], signature["fullname"], *words_and_code(described.children[-1]), 1))
    return found


def words_and_code(node) -> tuple[str, str]:
    """What stands in a node, without its sections and without what code has printed."""
    words, code = [], []
    for child in without_quizzes(node.children):
        if isinstance(child, nodes.literal_block):
            code.append(child.astext())
        elif isinstance(child, nodes.Text):
            words.append(child.astext())
        elif is_left_out(child):
            continue
        elif is_text(child):
            words.append(text_of(child))
        else:
            inner = words_and_code(child)
            words.append(inner[0])
            code.append(inner[1])
    return " ".join(" ".join(words).split()), "\n".join(filter(None, code))


def without_quizzes(children):
    """The nodes without the options of quizzes: an excerpt of them would tell the answers."""
    in_quiz = False
    for child in children:
        told = child.astext() if isinstance(child, nodes.raw) else ""
        in_quiz = in_quiz or "quiz-question" in told
        if not in_quiz:
            yield child
        elif told.strip() == "</div>":
            in_quiz = False


def is_text(node) -> bool:
    return isinstance(node, nodes.TextElement) and not isinstance(node, addnodes.desc_signature)


def is_left_out(node) -> bool:
    printed = isinstance(node, nodes.container) and node.get("nb_element") == "cell_code_output"
    apart = (nodes.section, nodes.title, nodes.math_block, nodes.raw, nodes.comment, nodes.system_message)
    return printed or isinstance(node, (*apart, addnodes.toctree, addnodes.desc, addnodes.index))


def text_of(node) -> str:
    """The text of a paragraph, its formulas without the commands of TeX."""
    if isinstance(node, (nodes.math, nodes.math_block)):
        return readable_formula(node.astext())
    if isinstance(node, addnodes.pending_xref) and node["reftarget"] == node.astext():
        return ""  # the number of an equation or a citation, which is not known yet
    if isinstance(node, (nodes.Text, nodes.literal)):
        return node.astext()
    return "".join(text_of(child) for child in node.children if not isinstance(child, nodes.raw))


def readable_formula(tex: str) -> str:
    """A formula in a line of plain characters."""
    tex = FRACTION.sub(r"\1 / \2", re.sub(r"\\[!,;: ]", " ", tex))
    return re.sub(r"[{}\\]", "", re.sub(r"\\([a-zA-Z]+) ?", lambda command: SIGNS.get(command[1], ""), tex))


def terms(env, builder, names: list[str]) -> list[list]:
    """Term, anchor, definition, and the page and anchor of the place that explains it (the last that is linked)."""
    if GLOSSARY not in names:
        return []
    found: list[list] = []
    for item in env.get_and_resolve_doctree(GLOSSARY, builder).findall(nodes.definition_list_item):
        definition = item.next_node(nodes.definition)
        links = [link["refuri"] for link in definition.findall(nodes.reference) if ".html" in link.get("refuri", "")]
        address, _, anchor = links[-1].partition("#") if links else ("", "", "")
        page = posixpath.normpath(posixpath.join(posixpath.dirname(GLOSSARY), address)).removesuffix(".html")
        place = [names.index(page), anchor] if page in names and page != GLOSSARY else None
        words = " ".join(text_of(definition).split())
        found += ([term.astext(), term["ids"][0], words, place] for term in item.findall(nodes.term))
    return found


def setup(app):
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
