"""The file that a process for a learner's code is started with: of `clearcheck` it knows two rooms, and no check.

It is run by its path, without the site module, so that no other folder comes in by itself. Its argument is JSON:
`folders`, from which modules may be imported, and `channel`, the descriptor of a socket over which `server` is asked
for processes, and `scratch` the folder for temporary files in a sandbox; without them, this process is the worker.
"""

import json
import site
import sys
import types
from pathlib import Path


def main():
    asked = json.loads(sys.argv[1])
    rooms = Path(__file__).resolve().parents[1]
    sys.argv[1:] = []
    sys.path[0] = ""  # the working folder, as a notebook has it: here it is the folder of this file
    sys.path += [str(rooms.parent), *asked["folders"]]
    site.setquit()
    package = types.ModuleType("clearcheck")
    package.__path__ = []
    sys.modules["clearcheck"] = package
    for name in ("notebooks", "worker"):
        room = types.ModuleType(f"clearcheck.{name}")
        room.__path__ = [str(rooms / name)]
        setattr(package, name, room)
        sys.modules[room.__name__] = room
    if "channel" in asked:
        from clearcheck.worker import server

        server.main(asked["channel"], asked["scratch"])
    else:
        from clearcheck.worker import child

        child.main(0, 1)


if __name__ == "__main__":
    main()
