"""Tensors of torch's, where torch is there: nothing here imports it."""

import sys


def is_tensor(value):
    """A tensor of torch's, of a class that is derived from it too (a parameter of a module)."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
