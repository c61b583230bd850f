"""Pictures: those of `tilescope draw`."""

import html.parser
import re
import urllib.parse
import xml.etree.ElementTree as xml

import pytest
import tilescope as ts

L = ts.Layout((9, (4, 8)), (59, (13, 1)))
DIVISION = "zipped_divide((8,8):(8,1), <4,4>)"


def test_values_draw_themselves():
    for value in (L, ts.eval("SM80_16x8x16_F32F16F16F32_TN"), ts.eval("smem<f16> o (8,64):(64,1)"), L(3, ts._),
                  ts.make_layout_tv(ts.Layout((4, 8), (8, 1)), ts.Layout((2, 2), (2, 1)))):
        root = xml.fromstring(value._repr_svg_())
        assert root.tag.endswith("svg") and value.draw() == value._repr_svg_()
    assert f">{max(L)}<" in L._repr_svg_()


def test_a_notebook_shows_what_is_drawn():
    drawn = ts.draw(DIVISION, colour="tile")
    assert type(drawn._repr_svg_()) is str and drawn._repr_svg_() == drawn and drawn.startswith("<svg")
    assert len(repr(drawn)) < 50 and not hasattr(ts.draw(DIVISION, format="txt"), "_repr_svg_")


def test_what_cannot_be_drawn_has_no_picture():
    assert ts.injective(L)._repr_svg_() is None


def test_expressions_show_more_than_their_value():
    assert ts.draw(DIVISION) != ts.eval(DIVISION).draw()
    assert ts.draw(L) == L.draw()
    assert ts.draw("preset 9x32").startswith("<svg")


def test_colour_size_theme_and_format():
    assert ts.draw(DIVISION, colour="tile") != ts.draw(DIVISION, colour="bank")
    root = xml.fromstring(ts.draw(DIVISION, size=(700, 500)))
    assert (root.get("width"), root.get("height")) == ("700", "500")
    assert ts.draw(DIVISION, size="700x500") == ts.draw(DIVISION, size=(700, 500))
    assert ts.draw(DIVISION, theme="dark") != ts.draw(DIVISION)
    assert ts.draw(DIVISION, format="png")[:4] == b"\x89PNG" and ts.draw(DIVISION, format="pdf")[:4] == b"%PDF"
    assert "tikz" in ts.draw(DIVISION, format="tex") and "4" in ts.draw(DIVISION, format="txt")


def test_files(tmp_path):
    assert L.draw(file=tmp_path / "a.png") is None
    assert (tmp_path / "a.png").read_bytes() == L.draw(format="png")
    assert L.draw(colour="offset", file=str(tmp_path / "b.svg")) is None
    assert (tmp_path / "b.svg").read_text() == L.draw(colour="offset")


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: L.draw(colour="beauty"), "beauty"),
        (lambda: L.draw(colour=3), "a name is needed"),
        (lambda: L.draw(size=(2, 2)), "--size 2x2: WIDTHxHEIGHT in pixels"),
        (lambda: L.draw(size=(64, 64)), "leaves no room for the cells"),
        (lambda: L.draw(size=7), "a width and a height"),
        (lambda: L.draw(format="gif"), "there are .svg, .png"),
        (lambda: L.draw(theme="pink"), "there are light and dark"),
        (lambda: L.draw(file="/nowhere/at/all.svg"), "/nowhere/at/all.svg"),
        (lambda: L.draw(file=3), "is no path"),
        (lambda: ts.draw("zipped_divide(("), "Expected"),
        (lambda: ts.draw(object()), "none of the language's values"),
    ],
)
def test_pictures_that_cannot_be(call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call()


def test_explanations():
    told = ts.explain("composition((6,2):(8,2), (4,3):(3,1))")
    assert told.value == ts.Layout(((2, 2), 3), ((24, 2), 8))
    assert [s["operation"] for s in told.steps][:2] == ["composition", "left side"]
    assert any(isinstance(s["layout"], ts.Layout) for s in told.steps)
    assert str(told).endswith(str(told.value))
    refused = ts.explain("composition((6,2):(8,2), (4,3):(3,2))")
    assert "refused: composition: " in str(refused) and refused.steps
    with pytest.raises(ts.Error, match="composition: "):
        refused.value
    with pytest.raises(ts.Error, match="Expected"):
        ts.explain("((")


def test_explanations_in_a_notebook():
    class Page(html.parser.HTMLParser):
        images, summaries, depth, deepest = [], [], 0, 0

        def handle_starttag(self, tag, attributes):
            if tag == "details":
                self.depth += 1
                self.deepest = max(self.deepest, self.depth)
            if tag == "img":
                self.images.append(urllib.parse.unquote(dict(attributes)["src"].partition(",")[2]))

        def handle_endtag(self, tag):
            self.depth -= tag == "details"

    told = ts.explain(DIVISION)
    page = Page()
    page.feed(told._repr_html_())
    assert page.depth == 0 and page.deepest == 1 + max(step["level"] for step in told.steps)
    assert page.images[0] == ts.draw(DIVISION)
    drawn = [s["layout"] for s in told.steps if s["level"] and s["layout"] is not None and len(s["layout"]) > 1]
    assert page.images[1:] == [layout.draw() for layout in drawn] and len(drawn) > 4
    refused = ts.explain("composition((6,2):(8,2), (4,3):(3,2))")
    assert "refused: composition: " in refused._repr_html_()


def test_pictures_on_one_page_leave_each_other_alone():
    """Notebooks put pictures into one page, where a name means the first that has it."""
    defined, used = {}, 0
    for layout in (ts.Layout((2, 2)), ts.Layout((16, 16)), ts.Layout((4, 8), (8, 1))):
        for name, shape in re.findall(r'<clipPath id="(.*?)">(.*?)</clipPath>', layout._repr_svg_()):
            assert defined.setdefault(name, shape) == shape
            used += 1
    assert used > 3
