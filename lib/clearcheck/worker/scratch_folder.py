"""Remove a folder that a learner's code has written in, whatever rights it has left there."""

import contextlib
import os
import shutil
import stat


def remove_tree(folder: str):
    """Remove a folder as far as the system lets this user; what is behind a link is left alone."""
    _open_to_owner(folder)
    for below, names, _ in os.walk(folder):  # from above, so that each is opened before it is looked into
        for name in names:
            _open_to_owner(os.path.join(below, name))
    shutil.rmtree(folder, ignore_errors=True)


def _open_to_owner(folder: str):
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.lstat(folder).st_mode):
            os.chmod(folder, stat.S_IRWXU)
