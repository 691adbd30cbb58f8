"""Hooks of Sphinx that let a reader of the site run the course: downloads, and buttons that lead to the repository.

Two variables of the environment say what the checkout cannot know. SITE_URL is the address under which the site will
be found (or html.baseurl of _config.yml), REPOSITORY_URL that of the repository on GitHub; the workflow that publishes
the site sets both. Launch buttons open the branch BRANCH, into which the workflow unpacks the archive: its notebooks
install the course by themselves.
"""

import os
import re
import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ConfigError

from tools.takeaway.downloads import ARCHIVE, DIST, published_name, wheel_name, write_downloads

SITE_URL, REPOSITORY_URL, BRANCH = "SITE_URL", "REPOSITORY_URL", "notebooks"
PDF = "clearformer.pdf"
EXERCISE = re.compile(r"(_downloads/[0-9a-f]+/)(\d\d-[\w-]+\.ipynb)")
PDF_PLACE = "<!-- the book as a PDF -->"
LAUNCH = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}


def site_address(config) -> str:
    """The address of the site, with a slash at its end; empty where nobody has said it.

    Raises: ConfigError for one that is no address on the web.
    """
    address = os.environ.get(SITE_URL) or config.html_baseurl or ""
    if address and not re.match(r"https?://[^/\s]+", address):
        raise ConfigError(f"{SITE_URL}={address}: an address such as https://name.github.io/course/ is expected.")
    return address.rstrip("/") + "/" if address else ""


def add_buttons(app, config) -> None:
    """Buttons for the repository, Binder and Colab, where the repository's address is known.

    Raises: ConfigError for an address that Binder and Colab could not open.
    """
    repository = os.environ.get(REPOSITORY_URL, "").rstrip("/").removesuffix(".git")
    if not repository:
        return
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", repository):
        raise ConfigError(
            f"{REPOSITORY_URL}={repository}: an address such as https://github.com/name/course is expected."
        )
    options = config.html_theme_options
    launch = {**options.get("launch_buttons", {}), **LAUNCH}
    own = {"repository_url": repository, "repository_branch": BRANCH, "use_repository_button": True}
    config.html_theme_options = {**options, **own, "launch_buttons": launch}


class Downloads(Directive):
    """The list of what can be taken home, with the command that installs the wheel."""

    def run(self):
        settings = self.state.document.settings
        config, here = settings.env.config, settings.env.docname
        folder = "../" * here.count("/") + DIST
        wheel, address = wheel_name(), site_address(config)
        source = f"clearformer[notebooks] @ {address}{DIST}/{wheel}" if address else f"path/to/{wheel}[notebooks]"
        return [
            nodes.raw(
                "",
                LIST.format(folder=folder, archive=ARCHIVE, wheel=wheel, source=source, pdf=PDF_PLACE),
                format="html",
            )
        ]


LIST = """\
<ul class="downloads">
<li><a href="{folder}/{archive}" download>{archive}</a>: chapters, exercises, library and grader in one folder, with a
README that says how to start.</li>
<li><a href="{folder}/{wheel}" download>{wheel}</a>: the library and the grader alone, for an environment of your own:
<code class="docutils literal notranslate">python -m pip install "{source}"</code></li>
{pdf}
</ul>
"""


def forget_downloads(app) -> None:
    """Notebooks that an earlier build published are no copies of their sources, and Sphinx would tell of each."""
    shutil.rmtree(Path(app.outdir) / "_downloads", ignore_errors=True)


def name_exercises(app, pagename, templatename, context, doctree) -> None:
    """A link to an exercise leads to the name under which it is published, which is not that of its chapter."""
    if context.get("body"):
        context["body"] = EXERCISE.sub(
            lambda link: link[1] + published_name(Path("exercises", link[2])), context["body"]
        )


def add_downloads(app, error) -> None:
    if error is None and app.builder.format == "html":
        for source, (_, place) in app.env.dlfiles.items():  # Sphinx copies none where no page has changed
            copy = Path(app.outdir) / "_downloads" / place
            copy.unlink(missing_ok=True)  # Sphinx gives it the name that it has in the repository
            copy = copy.with_name(published_name(Path(source)))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(app.srcdir) / source, copy)
        write_downloads(Path(app.outdir), site_address(app.config))
        link_the_pdf(Path(app.outdir))


def link_the_pdf(site: Path) -> None:
    """On the pages that list the downloads; the PDF is there once `make pdf` has printed it."""
    file = site / DIST / PDF
    if not file.exists():
        return
    size = f"{file.stat().st_size / 1e6:.0f} MB"
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if PDF_PLACE in text:
            folder = "../" * (len(page.relative_to(site).parts) - 1) + DIST
            item = f'<li><a href="{folder}/{PDF}">{PDF}</a>: the chapters to read on paper or offline ({size}).</li>'
            page.write_text(text.replace(PDF_PLACE, item), encoding="utf-8")


def setup(app):
    app.connect("config-inited", add_buttons)
    app.connect("builder-inited", forget_downloads)
    app.connect("build-finished", add_downloads)
    app.connect("html-page-context", name_exercises)
    app.add_directive("downloads", Downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
