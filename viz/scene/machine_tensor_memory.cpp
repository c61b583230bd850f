// TMEM of a block: 128 lanes of 512 columns, what is allocated, and what each column holds.
#include <fmt/format.h>

#include "viz/scene/machine_scene.h"

namespace tilescope {

double draw_tensor_memory(Scene& scene, const MachineShown& shown, const Box& room,
                          Scroll& scroll) {
  const sim::Machine& machine = shown.machine();
  Table table;
  table.name = "tensor memory";
  table.columns = {{"columns", Across::left, Family::mono},
                   {"allocated by", Across::left, Family::sans, 0, true}};
  for (const sim::Allocation& each : sim::columns_of(machine, shown.spot.block)) {
    TableRow row;
    row.command = fmt::format("look cell 0,{}", each.column);
    row.cells = {
        {fmt::format("{} to {}", each.column, each.column + each.columns - 1), Role::text, {}},
        {fmt::format("warp {}: {}", each.thread / 32,
                     instruction_text(machine.program().code[each.pc].text)),
         Role::quiet,
         {}}};
    table.rows.push_back(std::move(row));
  }
  table.when_empty = "The block has allocated no columns of TMEM.";
  return draw_table(scene, table, room, scroll);
}

}  // namespace tilescope
