"""Plugins that were installed by pip: of the packages with an entry point in the group ``passdock.plugins``.

Nothing of them is used before it is asked for: what is installed is listed without an import, and
``load_plugins("acme")`` adds the files of one vendor to the registry. An entry point names a directory of plugins::

    [project.entry-points."passdock.plugins"]
    acme = "acme_passdock"

names the directory ``plugins`` of the package ``acme_passdock``; ``acme = "acme_passdock:files"`` names what ``files``
there is or answers: a path.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _passdock
from .errors import PluginError, UnknownNameError
from .pipeline import _warn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

__all__ = ["Vendor", "load_plugins", "plugins"]

_GROUP = "passdock.plugins"
_DIRECTORY = "plugins"


class Vendor:
    """An installed package's plugins.

    Attributes:
        name: the name to load them by, that of the entry point.
        distribution: the name of the package at the index, or None if it doesn't say.
        version: its version, or None.
        entry: what the entry point names, ``"acme_passdock:files"``.
    """

    def __init__(self, point: EntryPoint) -> None:
        about = point.dist
        self._point = point
        self.name = point.name
        self.distribution: str | None = None if about is None else about.name
        self.version: str | None = None if about is None else about.version
        self.entry = point.value

    @property
    def directory(self) -> str:
        """The directory of the plugins' files; the package is imported for it.

        Raises:
            PluginError: the package can't be imported, or names no directory.
        """
        import importlib

        # Extras may stand behind, `acme_passdock:files [cuda]`, as of other entry points.
        module_name, _, attribute = self._point.value.partition("[")[0].partition(":")
        try:
            found: Any = importlib.import_module(module_name.strip())
            base = _home(found)
            if attribute.strip():
                found = self._named(found, attribute.strip(), base)
            elif base is not None:
                found = os.path.join(base, _DIRECTORY)
            if callable(found):
                found = found()
            path = os.fspath(found)
        except PluginError:
            raise
        except (Exception, SystemExit) as error:
            raise self._failed(f"{type(error).__name__}: {error}") from error
        if not isinstance(path, str) or not os.path.isdir(path):
            raise self._failed(f"there is no directory `{path!s}`")
        return path

    def _named(self, module: Any, attribute: str, base: str | None) -> Any:
        found = module
        for part in attribute.split("."):
            if not hasattr(found, part):
                # A directory without Python files is no attribute of its package.
                beside = None if base is None else os.path.join(base, *attribute.split("."))
                if beside is not None and os.path.isdir(beside):
                    return beside
                raise self._failed(f"`{module.__name__}` has no `{attribute}`")
            found = getattr(found, part)
        # Such a directory that was imported is a package.
        return _home(found) or found

    def _failed(self, why: str) -> PluginError:
        package = f" of {self.distribution} {self.version}" if self.distribution else ""
        message = f"The plugins `{self.name}`{package} can't be used: {why}. The entry point is `{self.entry}`."
        return PluginError(message, code="plugin", exit_status=3)

    def __repr__(self) -> str:
        package = f" of {self.distribution} {self.version}" if self.distribution else ""
        return f"<passdock.Vendor {self.name}{package}>"


def _home(module: Any) -> str | None:
    """The directory of a package, or None if it is none."""
    paths = list(getattr(module, "__path__", ()))
    return paths[0] if paths else None


def plugins() -> dict[str, Vendor]:
    """The vendors whose plugins are installed, by name. Nothing of them is imported or loaded.

    ::

        for name, vendor in passdock.plugins().items():
            print(name, vendor.distribution, vendor.version)

    A package whose entry points can't be read, and the second one with a name, are warned of (``PassWarning``).

    ``run(…, plugin_dirs=[passdock.plugins()["acme"].directory])`` uses plugins in one run alone.
    """
    # Of two with a name the first one in the path counts, as of modules.
    found: dict[str, Vendor] = {}
    for point in _points():
        vendor = Vendor(point)
        first = found.setdefault(vendor.name, vendor)
        if first.distribution != vendor.distribution:
            _warn(f"Two installed packages have plugins `{vendor.name}`: {first!r} counts, and {vendor!r} doesn't.")
    return dict(sorted(found.items()))


def _points() -> Iterable[EntryPoint]:
    """The entry points, without those of packages whose own can't be read."""
    from importlib.metadata import distributions, entry_points

    try:
        return entry_points(group=_GROUP)
    except Exception:
        points: list[EntryPoint] = []
        for each in distributions():
            try:
                points += each.entry_points.select(group=_GROUP)
            except Exception as error:
                _warn(f"The entry points of the installed package {each.name} can't be read: {error}")
        return points


def load_plugins(*names: str) -> list[str]:
    """Adds the plugins of installed vendors to the registry, by name; each is loaded when a pass of it is needed.

    Args:
        names: names of vendors, as of ``plugins()``. One that was added already is added once.

    Returns:
        The directories of their files.

    Raises:
        UnknownNameError: no such vendor is installed; the message names the nearest.
        PluginError: a vendor's package can't be imported, or names no directory, or a file there can't be used.
    """
    installed = plugins()
    directories = []
    for name in names:
        vendor = installed.get(name)
        if vendor is None:
            raise _unknown(name, installed)
        directory = vendor.directory
        _passdock.load_dir(directory)
        directories.append(directory)
    return directories


def _unknown(name: str, installed: dict[str, Vendor]) -> UnknownNameError:
    import difflib

    near = difflib.get_close_matches(name, installed, n=1)
    # It is called otherwise by the index often.
    near += [each.name for each in installed.values() if each.distribution in (name, name.replace("_", "-"))]
    if near:
        advice = f"Did you mean `{near[0]}`?"
    elif installed:
        advice = f"Installed are {', '.join(f'`{each}`' for each in installed)}."
    else:
        advice = "None is: `pip install` its package in this environment."
    message = f"No plugins `{name}` are installed. {advice}"
    return UnknownNameError(message, code="plugin", exit_status=3, help=advice)
