"""A chapter has the number that stands in the name of its file, wherever the site shows one.

Sphinx counts the pages of the contents, so that a chapter put between two others would give all that follow another
number than their files have and the prose calls them by.
"""

from docutils.nodes import reference

from tools.pages.chapters import chapter_number, is_chapter


def number_by_file_name(app, env) -> list[str]:
    """Hook of Sphinx ("env-get-updated"), after it has counted: the pages whose number is now another."""
    renumbered = []
    for name, sections in env.toc_secnumbers.items():
        counted = sections.get("")
        if not counted or not is_chapter(name):
            continue
        digits = chapter_number(name)
        number = (int(digits) if digits.isdigit() else digits, *counted[1:])
        if number != tuple(counted):
            sections[""] = number
            env.titles[name]["secnumber"] = number
            next(env.tocs[name].findall(reference))["secnumber"] = number
            renumbered.append(name)
    return renumbered


def setup(app) -> None:
    app.connect("env-get-updated", number_by_file_name, priority=900)
