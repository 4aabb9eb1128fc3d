"""Plugins installed by pip: listed, found by name, and used only on request."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import passdock
from passdock import PassWarning, PluginError, UnknownNameError
from passdock.plugins import Vendor

PACKAGE = Path(passdock.__file__).parent
VENDOR = Path(__file__).parents[2] / "examples" / "python-vendor"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a directory of installed packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site: Path, entries: str, module: str, code: str = "") -> Path:
    """Installs a package with a module of the given code; returns the module's directory."""
    about = site / f"{module}-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(f"[passdock.plugins]\n{entries}\n")
    home = site / module
    home.mkdir()
    (home / "__init__.py").write_text(code)
    return home


def test_installed_vendors_are_listed_without_import(site: Path) -> None:
    install(site, "acme = acme_passdock:files", "acme_passdock", "raise SystemExit('imported')")
    listed = passdock.plugins()
    assert "acme_passdock" not in sys.modules
    acme = listed["acme"]
    assert (acme.name, acme.distribution, acme.version, acme.entry) == (
        "acme",
        "acme-passdock",
        "1.2",
        "acme_passdock:files",
    )
    assert repr(acme) == "<passdock.Vendor acme of acme-passdock 1.2>"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("{}", ""),
        ("{}:here", "import pathlib\nhere = pathlib.Path(__file__).parent / 'plugins'"),
        ("{}:here", "import os\ndef here():\n    return os.path.join(os.path.dirname(__file__), 'plugins')"),
        ("{}:plugins", ""),
        ("{}:plugins", "from . import plugins"),
        ("{}.inner:here", ""),
        ("{} [cuda]", ""),
        ("{}.inner:here [cuda, more]", ""),
    ],
    ids=["package", "path", "callable", "directory", "namespace", "submodule", "extra", "extras"],
)
def test_entry_point_names_a_directory(site: Path, entry: str, code: str, request: pytest.FixtureRequest) -> None:
    # Each case has its own module, as a module is imported once.
    module = f"vendor_{request.node.callspec.id}"
    home = install(site, f"acme = {entry.format(module)}", module, code)
    (home / "plugins").mkdir()
    (home / "inner.py").write_text("import os\nhere = os.path.join(os.path.dirname(__file__), 'plugins')")
    directory = passdock.plugins()["acme"].directory
    assert directory == str(home / "plugins")
    assert passdock.load_plugins("acme") == [directory]


def message_of(vendor: Vendor) -> str:
    with pytest.raises(PluginError) as caught:
        _ = vendor.directory
    assert caught.value.exit_status == 3
    return str(caught.value)


def test_broken_vendor_error_has_the_cause(site: Path) -> None:
    install(site, "raises = raises_passdock", "raises_passdock", "raise ValueError('no license')")
    install(site, "lacks = lacks_passdock:nothing", "lacks_passdock")
    install(site, "exits = exits_passdock", "exits_passdock", "raise SystemExit(3)")
    home = install(site, "empty = empty_passdock", "empty_passdock")
    listed = passdock.plugins()
    assert message_of(listed["raises"]) == (
        "cannot use plugins `raises` of raises-passdock 1.2: ValueError: no license (entry point `raises_passdock`)"
    )
    assert ": SystemExit: 3 " in message_of(listed["exits"])
    assert "`lacks_passdock` has no `nothing`" in message_of(listed["lacks"])
    assert f"`{home / 'plugins'}` is not a directory" in message_of(listed["empty"])
    # If one import fails, other vendors are still listed and loaded.
    (home / "plugins").mkdir()
    assert passdock.load_plugins("empty") == [str(home / "plugins")]


def test_broken_package_does_not_hide_others(site: Path) -> None:
    install(site, "whole = whole_passdock", "whole_passdock")
    install(site, "just a line", "torn_passdock")
    with pytest.warns(PassWarning, match="could not read the entry points of package torn-passdock: "):
        assert "whole" in passdock.plugins()


def test_duplicate_vendor_name_warns(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    install(site, "twice = second_passdock", "second_passdock")
    first = tmp_path_factory.mktemp("first")
    install(first, "twice = first_passdock", "first_passdock")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(first))
        message = "twice of first-passdock 1.2>, ignoring <passdock.Vendor twice of second-passdock 1.2>"
        with pytest.warns(PassWarning, match=message):
            assert passdock.plugins()["twice"].distribution == "first-passdock"


def test_unknown_name_error_has_a_suggestion(site: Path) -> None:
    install(site, "acme = acme_far", "acme_far")
    with pytest.raises(UnknownNameError, match=r"^no plugins `acne` are installed; did you mean `acme`\?$"):
        passdock.load_plugins("acne")
    # The name in the package index.
    with pytest.raises(UnknownNameError, match="did you mean `acme`"):
        passdock.load_plugins("acme-far")
    with pytest.raises(UnknownNameError, match="the installed plugins are .*`acme`"):
        passdock.load_plugins("zzz")


USES = """
    import sys
    import passdock

    print(passdock.plugins())
    assert "hello_passdock" not in sys.modules
    mod = passdock.Module.from_text('''
    module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        %a = onnx.Relu(%x) : f32[2]
        %y = onnx.Relu(%a) : f32[2]
        return %y
      }
    }
    ''')
    try:
        passdock.get_pass("hello.transform.FuseDoubleRelu")
    except passdock.UnknownNameError:
        print("not yet")
    passdock.load_plugins("hello")
    assert passdock.load_plugins("hello") == [passdock.plugins()["hello"].directory]
    print(passdock.get_pass("hello.transform.FuseDoubleRelu")(mod))

    # Processes that run models get it, too.
    mod.write("m.onnx")
    for verify in ("changed", "all"):
        (result,) = passdock.batch("m.onnx", None, "out", passes=["hello.transform.FuseDoubleRelu"], verify=verify)
        assert result.ok and result.ops_after == 1 and not result.up_to_date, result
"""


@pytest.mark.skipif(not VENDOR.is_dir(), reason="the example is in the checkout, which isn't here")
@pytest.mark.skipif(shutil.which("cargo") is None, reason="the plugin is built by cargo, which isn't here")
def test_example_vendor_is_built_installed_and_used(tmp_path: Path) -> None:
    environment = dict(os.environ)
    environment.setdefault("CARGO_TARGET_DIR", str(VENDOR.parents[1] / "target" / "python-vendor"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # The build requirements come from the index, unless they are installed.
    here = ["--no-build-isolation"] if find_spec("hatchling") else []
    wheels = tmp_path / "wheels"
    build = [*pip, "wheel", "--no-deps", *here, "-w", str(wheels), str(VENDOR)]
    subprocess.run(build, env=environment, check=True)
    (wheel,) = wheels.iterdir()
    assert wheel.name.startswith("hello_passdock-0.1.0-py3-none-")
    assert not wheel.name.endswith("-any.whl")

    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)], check=True)
    # The tested passdock itself.
    (packages,) = (tmp_path / "venv" / "lib").glob("python3*/site-packages")
    (packages / "passdock.pth").write_text(f"{PACKAGE.parent}\n")
    environment.pop("PYTHONPATH", None)
    command = [str(python), "-c", textwrap.dedent(USES)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    listed, before, *module = ran.stdout.splitlines()
    assert listed == "{'hello': <passdock.Vendor hello of hello-passdock 0.1.0>}"
    assert before == "not yet"
    assert sum("onnx.Relu" in line for line in module) == 1
