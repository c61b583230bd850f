// A ThunderKittens program whose main runs a fixed size: its own check, run_benchmark, at ours.
#define main main_of_the_file
#include SOURCE
#undef main

int main() {
  return CALL;
}
