"""What counts as the same call, and as the same schema."""

from pydantic import BaseModel

from approvals_app.digests import same_call_digest, schema_digest


class One(BaseModel):
    path: str


class Other(BaseModel):
    path: str
    deep: bool = False


def test_key_order_and_number_spelling_do_not_make_another_call_but_values_and_tools_do():
    call = same_call_digest(tool="a", arguments={"x": 1, "y": {"p": 1, "q": 2}})
    assert call == same_call_digest(tool="a", arguments={"y": {"q": 2, "p": 1.0}, "x": 1})
    assert call != same_call_digest(tool="b", arguments={"x": 1, "y": {"p": 1, "q": 2}})
    assert call != same_call_digest(tool="a", arguments={"x": True, "y": {"p": 1, "q": 2}})


def test_another_field_is_another_schema():
    assert schema_digest(One) != schema_digest(Other)
