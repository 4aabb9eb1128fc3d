"""Plugins installed by pip, found through entry points in the group ``passdock.plugins``.

Plugins are only used on request: ``plugins()`` lists installed ones without importing them, and
``load_plugins("acme")`` adds the files of one vendor to the registry. An entry point names a directory of plugins::

    [project.entry-points."passdock.plugins"]
    acme = "acme_passdock"

names the directory ``plugins`` of the package ``acme_passdock``. ``acme = "acme_passdock:files"`` names the path that
is the value or the result of ``files``.
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
    """The plugins of an installed package.

    Attributes:
        name: The name for ``load_plugins``, which is that of the entry point.
        distribution: The name of the package in the package index, or None if unknown.
        version: The version of the package, or None.
        entry: The object reference of the entry point, ``"acme_passdock:files"``.
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
        """The directory of the plugin files. Accessing it imports the package.

        Raises:
            PluginError: The package can't be imported, or names no directory.
        """
        import importlib

        # Extras may follow, `acme_passdock:files [cuda]`, as in other entry points.
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
            raise self._failed(f"`{path!s}` is not a directory")
        return path

    def _named(self, module: Any, attribute: str, base: str | None) -> Any:
        found = module
        for part in attribute.split("."):
            if not hasattr(found, part):
                # A directory without Python files isn't an attribute of its package.
                adjacent = None if base is None else os.path.join(base, *attribute.split("."))
                if adjacent is not None and os.path.isdir(adjacent):
                    return adjacent
                raise self._failed(f"`{module.__name__}` has no `{attribute}`")
            found = getattr(found, part)
        # An imported directory is a (namespace) package.
        return _home(found) or found

    def _failed(self, why: str) -> PluginError:
        package = f" of {self.distribution} {self.version}" if self.distribution else ""
        message = f"cannot use plugins `{self.name}`{package}: {why} (entry point `{self.entry}`)"
        return PluginError(message, code="plugin", exit_status=3)

    def __repr__(self) -> str:
        package = f" of {self.distribution} {self.version}" if self.distribution else ""
        return f"<passdock.Vendor {self.name}{package}>"


def _home(module: Any) -> str | None:
    """Returns the directory of a package; None if the module isn't a package."""
    paths = list(getattr(module, "__path__", ()))
    return paths[0] if paths else None


def plugins() -> dict[str, Vendor]:
    """Returns the vendors of installed plugins by name, without importing or loading them.

    ::

        for name, vendor in passdock.plugins().items():
            print(name, vendor.distribution, vendor.version)

    Issues a ``PassWarning`` for a package with unreadable entry points, and for duplicate names. ``run(…,
    plugin_dirs=[passdock.plugins()["acme"].directory])`` uses plugins in a single run.
    """
    # Of two with the same name, the first one in the path counts, as for modules.
    found: dict[str, Vendor] = {}
    for point in _points():
        vendor = Vendor(point)
        first = found.setdefault(vendor.name, vendor)
        if first.distribution != vendor.distribution:
            _warn(f"two installed packages have plugins `{vendor.name}`: using {first!r}, ignoring {vendor!r}")
    return dict(sorted(found.items()))


def _points() -> Iterable[EntryPoint]:
    """Returns the entry points, skipping packages with unreadable ones."""
    from importlib.metadata import distributions, entry_points

    try:
        return entry_points(group=_GROUP)
    except Exception:
        points: list[EntryPoint] = []
        for each in distributions():
            try:
                points += each.entry_points.select(group=_GROUP)
            except Exception as error:
                _warn(f"could not read the entry points of package {each.name}: {error}")
        return points


def load_plugins(*names: str) -> list[str]:
    """Adds the plugins of installed vendors to the registry. A plugin is loaded when one of its passes is needed.

    Args:
        names: Names of vendors, as in ``plugins()``. Vendors that were already added are skipped.

    Returns:
        The directories of their files.

    Raises:
        UnknownNameError: No such vendor is installed; the message suggests the nearest one.
        PluginError: A vendor's package can't be imported, or names no directory, or a plugin file can't be used.
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
    # The name in the package index is often another one.
    near += [each.name for each in installed.values() if each.distribution in (name, name.replace("_", "-"))]
    if near:
        advice = f"did you mean `{near[0]}`?"
    elif installed:
        advice = f"the installed plugins are {', '.join(f'`{each}`' for each in installed)}"
    else:
        advice = "install its package with `pip install`"
    message = f"no plugins `{name}` are installed; {advice}"
    return UnknownNameError(message, code="plugin", exit_status=3, help=advice)
