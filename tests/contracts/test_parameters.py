"""Public names have docstrings, which list every parameter of functions and methods (numpydoc)."""

import inspect
import re

import pytest

import ebnc

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", re.MULTILINE)


def listed(item):
    """The names under ``Parameters`` in a docstring."""
    section = SECTION.search(inspect.getdoc(item) or "")
    entries = ENTRY.findall(section[1]) if section else []
    return {name.strip(" *") for names in entries for name in names.split(",")}


def taken(function):
    """The names that a function takes, without ``self`` and ``cls``."""
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def is_ours(item):
    return inspect.unwrap(item).__module__.startswith("ebnc")


def public_callables():
    """Every public function, constructor and method: its name, itself, and where it is described.

    A constructor is described in the docstring of its class. Methods that come from other packages,
    such as those of scikit-learn's mixins, are described there.
    """
    for name in ebnc.__all__:
        item = getattr(ebnc, name)
        if not inspect.isclass(item):
            yield name, item, item
            continue
        if inspect.isfunction(item.__init__) and is_ours(item.__init__):
            yield name, item.__init__, item
        for attribute, _ in inspect.getmembers(item):
            method = inspect.getattr_static(item, attribute)
            method = getattr(method, "__func__", method)
            if not attribute.startswith("_") and inspect.isfunction(method) and is_ours(method):
                yield f"{name}.{attribute}", method, method


CALLABLES = {name: rest for name, *rest in public_callables()}


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_of_a_public_name_is_listed(name):
    function, described = CALLABLES[name]
    assert taken(function) <= listed(described)


@pytest.mark.parametrize("name", ebnc.__all__)
def test_every_public_name_has_a_docstring(name):
    item = getattr(ebnc, name)
    members = inspect.getmembers(item) if inspect.isclass(item) else []
    public = [(x, member) for x, member in members if callable(member) and not x.startswith("_")]
    public += [(x, m) for x, m in members if isinstance(m, property) and not x.startswith("_")]
    assert inspect.getdoc(item)
    assert [x for x, member in public if not inspect.getdoc(member)] == []


def test_the_public_names_are_found():
    assert {"fit", "EBNC", "EBNCClassifier.fit", "Network.learn", "Domain.codes"} <= set(CALLABLES)
