"""The text of an SVG that a notebook shows as what it is."""


class Picture(str):
    """What draw() answers for svg: its text, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self):
        return str(self)

    def __repr__(self):
        return f"<Picture: {len(self)} characters of SVG>"
