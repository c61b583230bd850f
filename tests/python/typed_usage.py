"""What type checkers are given (test_stubs.py): each line says what it is."""

from typing import Any

import tilescope as ts

layout: ts.Layout = ts.Layout((9, (4, 8)), (59, (13, 1)))
tiles: ts.Layout = ts.zipped_divide(layout, (ts.Layout(3, 3), 4))
offset: Any = layout(4, 5)
count: int = len(layout) + ts.rank(layout)
modes: ts.Layout = ts.get(layout, 0)
inverse: ts.Layout = ts.right_inverse((4, 8))
tensor: ts.Tensor = ts.Tensor([1.0], layout)
part: ts.Tensor = ts.local_tile(tensor, (2, 4), (1, 1))
piece: ts.Tensor = ts.partition_A("SM80_16x8x16_F32F16F16F32_TN", 3, ts.zipped_divide(tensor, 4))
cut: ts.Slice = ts.local_tile(layout, (3, 4), (0, 0))
begin: ts.Layout = cut.layout
array: Any = part.numpy(copy=False)
mma: ts.TiledMMA = ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2))
name: str = mma.atom.name
fragment: ts.Layout = ts.fragment_A(mma, 3, layout)
verdict: ts.Verdict = ts.injective(layout)
conflicts: int | str = ts.bank_conflicts(layout, 4)["wavefronts"]
swizzled: ts.Layout = ts.composition(ts.Swizzle(3, 4, 3), ts.Layout((8, 64), (64, 1)))
both: ts.Swizzle = ts.composition(ts.Swizzle(1, 0, 3), ts.Swizzle(1, 1, 3))
owners: list[Any] = ts.owners("S[(32,16):(1@TLane,1@TCol)]", (3, 4))
tile: ts.TileLayout = ts.to_tirx(layout)
picture: str | bytes | None = layout.draw(colour="tile")
steps: list[dict[str, Any]] = ts.explain("coalesce((2,4):(1,2))").steps

# What is wrong is said: with --warn-unused-ignores an unneeded "type: ignore" is an error.
wrong: int = ts.zipped_divide(layout, 4)  # type: ignore
ts.rank()  # type: ignore
layout.nothing  # type: ignore
