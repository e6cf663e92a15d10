"""A whole run at the smallest sizes."""

import json

import pytest

from grfpp_lab.benchmark import run

pytestmark = pytest.mark.usefixtures("quickly")


def test_rows_come_back_from_json():
    rows, document = run.run_set("smoke", threads=1)
    assert run.read_rows(json.loads(json.dumps(document))) == rows
