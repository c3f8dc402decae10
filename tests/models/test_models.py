"""Models by name."""

import pytest

from eyechart.errors import UsageError
from eyechart.models import open_model, split_spec


@pytest.mark.parametrize("spec", ["openai", "openai/", "/gpt-4o", ""])
def test_a_spec_without_provider_or_name_is_refused(spec):
    with pytest.raises(UsageError, match="is no provider/name"):
        split_spec(spec)


def test_an_unknown_provider_names_the_nearest():
    with pytest.raises(UsageError, match="no model named 'openia'") as caught:
        open_model("openia/gpt-4o")
    assert caught.value.hint == "did you mean openai?"
