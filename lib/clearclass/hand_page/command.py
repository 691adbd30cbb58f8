"""The command `python -m clearclass hand RESULTS`: serve the pages until Ctrl-C."""

import sys
from pathlib import Path

from clearcheck.command_line import fail
from clearcheck.files import hold_lock, remove_parts
from clearcheck.notebooks.escaping import one_line

LOCK = ".hand.lock"


def add_hand(commands):
    what = "serve a page on this machine, on which you give points and remarks by hand"
    by_hand = commands.add_parser("hand", help=what)
    by_hand.add_argument("results", type=Path, metavar="RESULTS", help="the folder that --results named")
    rubric = "what is graded by hand, in TOML (default: rubric.toml in RESULTS)"
    by_hand.add_argument("--rubric", type=Path, metavar="FILE", help=rubric)
    by_hand.set_defaults(command=serve_hand)


def serve_hand(options) -> int:
    """Serve until the program is stopped, and say how far the grading is."""
    from clearclass.hand import KEPT, HandProblem
    from clearclass.hand_page.given import GivenPoints
    from clearclass.hand_page.pages import sheets_of
    from clearclass.hand_page.rubric import NAME, read_rubric
    from clearclass.hand_page.server import HandServer
    from clearclass.hand_page.works import read_works

    folder = one_line(str(options.results))
    try:
        questions = read_rubric(options.rubric or options.results / NAME)
        works = read_works(options.results)
        sheets = sheets_of(works, questions)
        if not sheets:
            raise HandProblem("No submission is for an exercise that the rubric names: look at its lines exercise = …")
        with (
            hold_lock(options.results / LOCK, 0),
            HandServer(sheets, GivenPoints(options.results / KEPT, works)) as server,
        ):
            remove_parts(options.results / KEPT)
            server.points()
            print(f"Grading by hand is at {server.address} (Ctrl-C ends it)", flush=True)
            serve_until_stopped(server)
            done = sum(bool(given.points) for given in server.points().values())
    except HandProblem as problem:
        return fail(one_line(str(problem)))
    except TimeoutError:
        return fail(f"Another program serves {folder} by hand: use its page, or end it by Ctrl-C.")
    except OSError as error:
        return fail(f"{one_line(str(error.filename or folder))} cannot be used ({error.strerror or error}).")
    print(f"\n{done} of {len(sheets)} have points, kept in {folder}/{KEPT}. Grade the class again to put them in.")
    return 0


def serve_until_stopped(server):
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.stdout.flush()
