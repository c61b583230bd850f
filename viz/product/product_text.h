// A product as text for the terminal, and as data.
#pragma once

#include <string>

#include "viz/product/product_scene.h"

namespace tilescope {

// All of it: what it is, bits, bytes, where D is, the k-steps, and the element term by term.
std::string product_text(const ProductShown& shown);
// The same as data; `every`: with the terms of every product of the sum, else of this one.
Json product_json(const ProductShown& shown, bool every);

}  // namespace tilescope
