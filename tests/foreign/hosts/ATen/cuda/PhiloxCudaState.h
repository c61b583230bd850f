// In place of PyTorch's header: FlashAttention 2 includes it for dropout, which is compiled out.
#pragma once
