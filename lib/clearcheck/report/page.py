"""The summary of a course on one page: self-contained HTML for the screen and for one sheet of A4."""

from html import escape

from clearcheck.learner.progress_file import in_words
from clearcheck.report.course import Course, CourseRow
from clearcheck.report.document import document, html_table, row, total

OWN_RECORD = (
    "This is the learner’s own record, made by a program on the learner’s own computer. It is no attestation: "
    "nobody has checked who wrote the answers."
)


def summary_html(course: Course, name: str = "") -> str:
    """The whole HTML document; it loads nothing and runs no script."""
    heading = escape(name.strip() or "Exercises of the course")
    of = '<p class="of">Summary of exercises</p>' if name.strip() else ""
    title = f"{name.strip()}: summary of exercises" if name.strip() else "Summary of exercises"
    return document(
        title,
        f"""{of}
<h1>{heading}</h1>
{total(course.points, course.max_points)}
{_table(course)}
<p class="own">{escape(OWN_RECORD)}</p>
{_details(course)}""",
    )


def _table(course: Course) -> str:
    asked = sum(len(graded.exercise.questions) for graded in course.rows)
    passed = sum(graded.n_passed for graded in course.rows)
    together = row("Together", f"{passed} of {asked}", f"{course.points} of {course.max_points}")
    head = ("Exercise", "Passed", "Points")
    return html_table("What was graded: questions passed and points", head, map(_row, course.rows), together)


def _row(graded: CourseRow) -> str:
    number = graded.exercise.slug.partition("-")[0]
    title = f"{number} {graded.exercise.title}" if number.isdecimal() else graded.exercise.title
    passed = f"{graded.n_passed} of {len(graded.exercise.questions)}" if graded.grade else "not graded"
    return row(title, passed, f"{graded.points} of {graded.exercise.points}")


def _details(course: Course) -> str:
    facts = {
        "Graded on": in_words(course.when),
        "Course": course.version,
        "Seed of the inputs": str(course.seed),
        "To repeat it": f"python -m clearcheck report --seed {course.seed}",
    }
    return f"<dl>{''.join(f'<dt>{key}</dt><dd>{escape(value)}</dd>' for key, value in facts.items())}</dl>"
