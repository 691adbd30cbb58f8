"""Write the pages that are made from others: the source map, the solutions and the library reference."""

import sys

from tools.pages import library_reference, solutions, source_map


def main() -> int:
    """0, or 1 and a sentence for what is wrong, such as a link to a section that is gone."""
    problems = write_pages()
    print("\n".join(problems) or "The source map, the solutions and the library reference are up to date.")
    return int(bool(problems))


def write_pages() -> list[str]:
    try:
        source_map.main()
        solutions.main()
        library_reference.main()
    except ValueError as error:
        return [str(error)]
    return []


if __name__ == "__main__":
    sys.exit(main())
