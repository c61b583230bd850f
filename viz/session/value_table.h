// What a view shows as a table of values, for spreadsheets and programs.
//
//     layout       a row a cell: grid, slice, row, column, then all that the inspector says of it
//     matrices     a row an element: row, column, and its value in each matrix
//     difference   a row an element: row, column, got, want, their difference, whether it is wrong
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "viz/session/session.h"

namespace tilescope {

struct ValueTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each at most as long as `columns`
};

// Refused: an empty view, and more cells than a table is good for.
inline constexpr std::int64_t most_table_rows = std::int64_t{1} << 21;
Outcome<ValueTable> value_table(const Session& session);

// Of one view each: what is in its row (viz/session/views.h).
Outcome<ValueTable> cell_values(const Session& session);
Outcome<ValueTable> bank_values(const Session& session);
Outcome<ValueTable> sector_values(const Session& session);
Outcome<ValueTable> bit_values(const Session& session);
Outcome<ValueTable> matrix_values(const Session& session);
Outcome<ValueTable> event_values(const Session& session);
Outcome<ValueTable> difference_values(const Session& session);

// RFC 4180: a line each, fields with commas, quotes or line breaks in quotes.
std::string csv(const ValueTable& table);
// The same for reading: columns under each other, numbers right-aligned.
std::string aligned(const ValueTable& table);

}  // namespace tilescope
