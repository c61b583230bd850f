"""The recorder's own claims: a program of ours that asks the runtime for more than launches."""

from cpp import Program


def said(done):
    return done.returncode == 0 and "thread 0 says 42\nthread 1 says 42" in done.stdout


def cases():
    return [Program("CUDA runtime", "variables, graphs, pointers in memory, printf", None, "runtime.cu", "90a", good=said)]
