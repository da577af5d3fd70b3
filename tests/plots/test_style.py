"""Colours that stay with their policy, SVG for pages."""

from __future__ import annotations

import re

import matplotlib

from paretozoom import ContextualZooming
from paretozoom.plots import regret, style


def test_well_known_policies_keep_their_colour_in_any_company() -> None:
    assert style.colours(["PCZ"])["PCZ"] == style.colours(["a", "b", "pcz", "PCZ"])["pcz"]
    label = "Contextual Zooming"
    assert style.colours([label])[label] == (ContextualZooming.summary.colour, "solid")


def test_twenty_policies_look_different() -> None:
    looks = style.colours(["PCZ", "pcz", *(f"policy {k}" for k in range(18))])
    assert len(set(looks.values())) == 20


def test_settings_are_as_before_after_drawing() -> None:
    before = dict(matplotlib.rcParams)
    style.svg_text(regret.figure(regret.info([1], {"PCZ": [[0.5]]})))
    assert dict(matplotlib.rcParams) == before


def test_an_element_for_a_page_names_no_address_and_its_ids_are_its_own() -> None:
    figure = regret.figure(regret.info([1, 2], {"<script>": [[0.5, 1.0], [0.2, 0.3]]}))
    text = style.svg_element(style.svg_text(figure), "f7-")
    assert text.startswith("<svg")
    assert "http" not in text
    assert "<!--" not in text
    assert "<script>" not in text
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("f7-") for name in ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', text)) <= set(ids)
