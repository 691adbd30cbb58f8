"""What an author writes of an exercise: its questions, and which of them carry the chapter."""

from dataclasses import dataclass, field

from clearcheck.grading.question import SLUG, Question, check_distinct


@dataclass(frozen=True)
class Exercise:
    """The questions that belong to one chapter.

    `core` has the ids of those to do where time is short, and `brings` maps functions of earlier exercises to their
    slugs.
    """

    slug: str
    title: str
    chapter: str
    questions: tuple[Question, ...]
    core: tuple[str, ...] = ()
    brings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if not SLUG.fullmatch(self.slug):
            raise ValueError(f"Exercise: slug={self.slug!r} must be lower-case words joined by hyphens.")
        check_distinct(f'Exercise "{self.slug}"', "question ids", [q.id for q in self.questions])
        check_distinct(f'Exercise "{self.slug}"', "function names", [q.name for q in self.questions])
        ids = {question.id for question in self.questions}
        if unknown := [id for id in self.core if id not in ids]:
            raise ValueError(f'Exercise "{self.slug}": core names {unknown}, no questions of it; it has {sorted(ids)}.')
        below = {id for question in self.questions if question.id in self.core for id in question.leans_on}
        if left_out := sorted(below - {*self.core}):
            raise ValueError(f'Exercise "{self.slug}": core={self.core} lean on {left_out}: name them, too.')

    @property
    def core_minutes(self) -> int:
        return sum(self.question(id).minutes for id in self.core)

    @property
    def points(self) -> int:
        return sum(question.points for question in self.questions)

    def question(self, id: str) -> Question:
        """The question of this id. Raises: KeyError with the known ids."""
        for question in self.questions:
            if question.id == id:
                return question
        known = ", ".join(f'"{question.id}"' for question in self.questions)
        raise KeyError(f'{self.slug} has no question "{id}": choose one of {known}.')
