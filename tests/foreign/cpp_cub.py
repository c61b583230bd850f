"""CUB's and Thrust's device algorithms, as the toolkit has them."""

from cpp import Program

GROUPS = {1: ["device_reduce", "device_min_float", "device_scan", "device_select", "device_unique", "device_partition",
              "device_histogram", "run_length_encode", "segmented_reduce"],
          2: ["radix_sort_keys", "radix_sort_pairs", "merge_sort"],
          3: ["thrust_transform", "thrust_sort_by_key", "thrust_reduce_by_key", "thrust_set_union"]}


def cases():
    return [Program("CUB and Thrust", name, None, "cub.cu", "90", ["--extended-lambda"], [name], program=f"cub_{group}",
                    head=f"#define GROUP {group}\n#define EACH(x) {' '.join(f'x({one})' for one in names)}\n")
            for group, names in GROUPS.items() for name in names]
