"""The mutations fit the sources as they are; whether tests catch them is tried by hand."""

import ast
from pathlib import Path

import pytest

from tests import mutations
from tests.mutations import MUTATIONS, ROOT, TESTS, mutated

EDITS = {name: edit for name, *edit in MUTATIONS}
for how, edits in mutations.EDITS.items():
    EDITS |= {f"{how}: {number}": edit for number, edit in enumerate(edits)}


@pytest.mark.parametrize("name", list(EDITS))
def test_a_mutated_file_is_another_program(name):
    file, *edit = EDITS[name]
    path = ROOT / file
    before, after = ast.parse(path.read_text()), ast.parse(mutated(path, *edit))
    assert ast.dump(before) != ast.dump(after)


def test_no_two_mutations_are_the_same():
    names, edits = [m[0] for m in MUTATIONS], [m[1:] for m in MUTATIONS]
    assert len(set(names)) == len(set(edits)) == len(MUTATIONS) >= 88


def test_every_mutation_is_tried_on_tests_that_exist():
    assert {mutations.tests_of(mutation) for mutation in MUTATIONS} == set(TESTS.values())
    for _, tests in TESTS.values():
        assert tests
        for test in tests:
            file, _, function = test.partition("::")
            source = Path(ROOT, "tests", file).read_text()
            assert f"def {function.partition('[')[0] or 'test_'}" in source
