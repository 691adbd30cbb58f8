"""Finds the reasons for which the suite skips tests."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPPING = ("skip", "skipif", "importorskip", "xfail")


def skip_reasons(path: Path) -> list[str]:
    """The reason of every skip in a file; '?' where none can be read.

    Names of constants are looked up in the file and in those of the tests that it imports from.
    """
    tree = ast.parse(path.read_text(encoding="utf8"))
    constants = constants_of(tree)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
            file = ROOT / f"{node.module.replace('.', '/')}.py"
            constants |= constants_of(ast.parse(file.read_text(encoding="utf8"))) if file.exists() else {}
    return [
        reason(node, constants)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in SKIPPING
        and "pytest" in ast.unparse(node.func)
    ]


def constants_of(tree: ast.Module) -> dict[str, object]:
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def reason(call: ast.Call, constants: dict[str, object]) -> str:
    name = ast.unparse(call.func).rpartition(".")[2]
    if name == "importorskip":
        return f"needs {ast.literal_eval(call.args[0])}" if call.args else "?"
    positional = call.args[:1] if name == "skip" else []
    for value in [*(k.value for k in call.keywords if k.arg == "reason"), *positional]:
        if isinstance(value, ast.Constant):
            return str(value.value)
        if isinstance(value, ast.Name):
            return str(constants.get(value.id, "?"))
    return "?"
