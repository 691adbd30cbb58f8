"""A release is what its tag says, and what goes into it reads as one change each."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.checks import release

ROOT = Path(__file__).parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["tool"]["towncrier"]
TYPES = {entry["directory"]: entry["name"] for entry in CONFIGURATION["type"]}
FRAGMENTS = [path for path in (ROOT / CONFIGURATION["directory"]).iterdir() if path.name != ".gitignore"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
USES = re.compile(r"uses: (\S+)(.*)")


@pytest.fixture
def project(tmp_path) -> Path:
    """What a release looks at, ready to be one."""
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text('title: x\nversion: 1.2.0\ndate-released: "2030-01-02"\nlicense: MIT\n')
    changes = "# Changes\n\n## 1.2.0 (2030-01-02)\n\n### Text\n\n- new\n\n## 1.1.0 (2029-01-01)\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(changes)
    return tmp_path


def test_the_notes_are_those_of_the_version(project, capsys):
    """Catches notes that go on into the version before, or begin at another heading."""
    assert release.main("v1.2.0", project) == 0
    assert capsys.readouterr().out == "### Text\n\n- new\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("pyproject.toml", "1.2.0", "1.2.1", "the tag has to be v1.2.1"),
        ("CHANGELOG.md", "## 1.2.0 (2030-01-02)", "## Unreleased", "no heading of the form ## 1.2.0"),
        ("CITATION.cff", "2030-01-02", "2030-01-01", "CITATION.cff has another version or date"),
        ("CITATION.cff", "version: 1.2.0", "version: 1.1.0", "CITATION.cff has another version or date"),
    ],
)
def test_what_is_missing_is_told(project, capsys, file, old, new, told):
    """Catches a release with another version, date or changelog than its tag says."""
    path = project / file
    path.write_text(path.read_text().replace(old, new))
    assert release.main("v1.2.0", project) == 1
    assert told in capsys.readouterr().err


def test_fragments_that_wait_are_told(project, capsys):
    """Catches a release whose changelog leaves out what was merged last."""
    (project / "changelog.d" / "+new.lib.md").write_text("New.\n")
    assert release.main("v1.2.0", project) == 1
    assert "+new.lib.md in changelog.d/ are not in CHANGELOG.md" in capsys.readouterr().err


def test_a_release_finds_what_towncrier_writes():
    """Catches a heading, a folder or a mark that towncrier is told otherwise than the release and the page have it."""
    changes = (ROOT / CONFIGURATION["filename"]).read_text(encoding="utf8")
    assert changes.count(CONFIGURATION["start_string"]) == 1
    before, after = changes.split(CONFIGURATION["start_string"])
    assert "## " not in before and re.match(r"\n## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n", after)
    assert CONFIGURATION["title_format"] == "## {version} ({project_date})"
    assert set(re.findall(r"^### (.+)$", after, re.M)) - {"In short"} == set(TYPES.values())


def problems(path: Path) -> list[str]:
    """What is wrong with a fragment: its name, or that it is empty, a list, or no sentence."""
    words = path.read_text(encoding="utf8").strip()
    found = [] if re.fullmatch(rf"\+[\w.-]+\.({'|'.join(TYPES)})\.md", path.name) else ["its name"]
    found += [] if words and "\n" not in words else ["not one paragraph"]
    return found + ([] if words.endswith(".") and not words.startswith(("-", "#")) else ["no sentence"])


def test_every_fragment_is_a_sentence_of_a_known_type():
    """Catches a fragment that towncrier would leave out or print as something else."""
    assert {path.name: wrong for path in FRAGMENTS if (wrong := problems(path))} == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("+a.library.md", "New."),
        ("a.lib.md", "New."),
        ("+a.lib.md", ""),
        ("+a.lib.md", "- New."),
        ("+a.lib.md", "A\n\nB."),
    ],
)
def test_a_fragment_that_is_none_is_noticed(tmp_path, name, words):
    """Catches a check that lets everything pass."""
    (tmp_path / name).write_text(words)
    assert problems(tmp_path / name)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_named_by_its_commit_with_the_version_behind(path):
    """Catches an action by a tag, which can be moved to other code, and a commit whose version nobody can read."""
    found = USES.findall(path.read_text(encoding="utf8"))
    for action, comment in found:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action}{comment}"


def test_one_action_has_one_commit():
    """Catches two versions of one action, of which one was forgotten."""
    everywhere = {use for path in WORKFLOWS for use in USES.findall(path.read_text(encoding="utf8"))}
    names = [action.partition("@")[0] for action, _ in everywhere]
    assert sorted(names) == sorted(set(names))


def test_only_the_job_that_installs_nothing_may_write_a_release():
    """Catches a release job that runs what the package index delivers with the right to change the repository."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf8"))["jobs"]
    writing = {name: job for name, job in jobs.items() if "write" in job["permissions"].values()}
    assert set(writing) == {"publish"}
    assert not any("pip" in step.get("run", "") for step in writing["publish"]["steps"])
