// The objects that a graph, or what executes one, keeps alive: copies keep them as well.
#pragma once

#include <cstdint>
#include <map>

#include "app/cuda/api.h"

using CUuserObject = struct CUuserObject_st*;

namespace tilescope::standin {

class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other);
  UserObjects& operator=(UserObjects other);
  ~UserObjects();

  void add(CUuserObject object, std::uint64_t count);  // which are counted already
  bool remove(CUuserObject object, std::uint64_t count);
  static void release(CUuserObject object, std::uint64_t count);

 private:
  std::map<CUuserObject, std::uint64_t> all_;
};

}  // namespace tilescope::standin
