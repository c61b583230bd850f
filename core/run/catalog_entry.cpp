#include "core/run/catalog_entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/numeric/random.h"
#include "core/run/manifest.h"

namespace tilescope {
namespace {

Error mismatch(std::string sentence) {
  return {ErrorKind::mismatch, std::move(sentence), ""};
}

// "A (a.npy)"
std::string label(const std::string& tensor, const Buffer& given) {
  return given.name.empty() || given.name == tensor ? tensor
                                                    : fmt::format("{} ({})", tensor, given.name);
}

template <class Named>
std::string names(const std::vector<Named>& list) {
  std::string out;
  for (const Named& item : list) {
    if (!out.empty()) out += ", ";
    out += item.name;
  }
  return out;
}

// "f16, bf16 or f32"
std::string listed(const std::vector<std::string>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += i + 1 == all.size() ? " or " : ", ";
    out += all[i];
  }
  return out;
}

// Of many the first, and where all are.
std::string listed_shortly(const std::vector<std::string>& all) {
  constexpr std::size_t many = 16;
  if (all.size() <= many) return listed(all);
  const std::vector<std::string> some(all.begin(), all.begin() + many / 2);
  return fmt::format("{} and more (`tilescope list kernels` with its name has all {})",
                     fmt::join(some, ", "), all.size());
}

// One request made to fit one entry, step by step; each step returns what is wrong.
class Fitting {
 public:
  Fitting(const CatalogEntry& entry, const Request& request) : entry_(entry), request_(request) {}

  Outcome<Fit> fit() {
    for (const auto step :
         {&Fitting::known_names, &Fitting::options_asked_for, &Fitting::options_of_inputs,
          &Fitting::options_left, &Fitting::sizes_asked_for, &Fitting::sizes_of_inputs,
          &Fitting::limits, &Fitting::types, &Fitting::memory}) {
      if (std::optional<Error> error = (this->*step)()) return *error;
    }
    return problem_;
  }

 private:
  // A size and how it came to be known: "A (a.npy) is (3, 4), so m = 3".
  struct Known {
    std::int64_t value;
    std::string because;
  };

  std::optional<Error> known_names() {
    for (const auto& [name, value] : request_.sizes) {
      if (!parameter(name)) {
        return Error{ErrorKind::unknown,
                     fmt::format("{} has no size {}; its sizes are {}.", entry_.name, name,
                                 names(entry_.sizes)),
                     ""};
      }
    }
    for (const auto& [name, value] : request_.choices) {
      if (option(name)) continue;
      return Error{ErrorKind::unknown,
                   fmt::format("{} has no option {}; its options are {}.", entry_.name, name,
                               entry_.options.empty() ? "none" : names(entry_.options)),
                   ""};
    }
    for (const auto& [name, given] : request_.inputs) {
      if (tensor(entry_.tensors, name)) continue;
      return Error{ErrorKind::unknown,
                   fmt::format("{} has no tensor {}; its tensors are {}.", entry_.name, name,
                               names(entry_.tensors)),
                   ""};
    }
    return std::nullopt;
  }

  std::optional<Error> options_asked_for() {
    for (const auto& [name, value] : request_.choices) {
      if (std::optional<Error> error = choose(*option(name), value)) return error;
    }
    return std::nullopt;
  }

  std::optional<Error> choose(const OptionParameter& option, const std::string& value) {
    const auto& all = option.values;
    if (!all.empty() && std::find(all.begin(), all.end(), value) == all.end()) {
      return Error{ErrorKind::usage,
                   fmt::format("{} was asked for --{} {}; it takes {}.", entry_.name, option.name,
                               value, listed_shortly(all)),
                   ""};
    }
    if (option.objection) {
      if (auto sentence = option.objection(value)) return Error{ErrorKind::usage, *sentence, ""};
    }
    problem_.choices[option.name] = value;
    return std::nullopt;
  }

  // A tensor's file says its type, --dtype that of the inputs of which nothing else says it.
  std::optional<Error> options_of_inputs() {
    for (const TensorSpec& spec : entry_.tensors) {
      if (spec.type_option.empty()) continue;
      const OptionParameter& types = *option(spec.type_option);
      const auto given = request_.inputs.find(spec.name);
      const auto said = problem_.choices.find(types.name);
      if (said != problem_.choices.end()) {
        if (given == request_.inputs.end() || given->second.dtype == stored_as(said->second)) {
          continue;
        }
        return mismatch(fmt::format("{} is {}, but --{} {} was asked for.",
                                    label(spec.name, given->second), name_of(given->second.dtype),
                                    types.name, said->second));
      }
      std::optional<DType> type;
      if (spec.role == TensorRole::input) type = request_.dtype;
      if (given != request_.inputs.end()) type = given->second.dtype;
      if (!type) continue;
      const auto found =
          std::find_if(types.values.begin(), types.values.end(),
                       [&](const std::string& value) { return stored_as(value) == type; });
      if (found == types.values.end()) {
        return mismatch(fmt::format(
            "{} {}, but {} takes {} of {}.",
            given == request_.inputs.end() ? "The type" : label(spec.name, given->second),
            given == request_.inputs.end() ? fmt::format("{} was asked for", name_of(*type))
                                           : fmt::format("is {}", name_of(*type)),
            entry_.name, spec.name, listed(types.values)));
      }
      problem_.choices[types.name] = *found;
    }
    return std::nullopt;
  }

  std::optional<Error> options_left() {
    problem_.choices = completed(entry_, std::move(problem_.choices));
    problem_.tensors = entry_.tensors_of ? entry_.tensors_of(problem_) : entry_.tensors;
    for (const auto& [name, given] : request_.inputs) {
      if (tensor(problem_.tensors, name)->role != TensorRole::output) continue;
      return mismatch(
          fmt::format("{} is given as an input of {}, but the kernel writes {}; leave "
                      "it out, or name the file to write with --out.",
                      label(name, given), entry_.name, name));
    }
    return std::nullopt;
  }

  std::optional<Error> sizes_asked_for() {
    for (const auto& [name, value] : request_.sizes) {
      known_[name] = {value, fmt::format("{} = {} was asked for", name, value)};
      if (parameter(name)->member == entry_.batch) batched_ = true;
    }
    return std::nullopt;
  }

  std::optional<Error> sizes_of_inputs() {
    for (const TensorSpec& spec : problem_.tensors) {
      const auto given = request_.inputs.find(spec.name);
      if (given == request_.inputs.end()) continue;
      if (std::optional<Error> error = sizes_of(spec, given->second)) return error;
    }
    for (const SizeParameter& size : entry_.sizes) {
      const auto known = known_.find(size.name);
      problem_.sizes.*size.member = known == known_.end() ? size.fallback : known->second.value;
    }
    if (entry_.tensors_of) problem_.tensors = entry_.tensors_of(problem_);
    for (TensorSpec& spec : problem_.tensors) {
      if (!batched_ && is_batch(spec)) {
        spec.shape.erase(spec.shape.begin());
        if (!spec.tile.empty()) spec.tile.erase(spec.tile.begin());
      }
    }
    return std::nullopt;
  }

  std::optional<Error> sizes_of(const TensorSpec& spec, const Buffer& given) {
    const std::string what =
        fmt::format("{} is {}", label(spec.name, given), shape_text(given.shape));
    const std::string rule =
        fmt::format("{} takes {} of shape {}", entry_.name, spec.name, shape_names(entry_, spec));
    std::vector<std::int64_t> shape = given.shape;
    if (is_batch(spec)) {
      if (shape.size() + 1 == spec.shape.size()) {
        shape.insert(shape.begin(), 1);
      } else if (shape.size() == spec.shape.size()) {
        batched_ = true;
      }
    }
    if (shape.size() != spec.shape.size()) return mismatch(fmt::format("{}, but {}.", rule, what));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::string& name = parameter(spec.shape[d])->name;
      const Known now{shape[d], fmt::format("{}, so {} = {}", what, name, shape[d])};
      const auto before = known_.try_emplace(name, now).first;
      if (before->second.value != now.value) {
        return mismatch(fmt::format("{}: {}, but {}.", rule, before->second.because, now.because));
      }
    }
    const std::size_t needed = static_cast<std::size_t>(given.elements()) * bytes_of(given.dtype);
    if (given.bytes.size() != needed) {
      return mismatch(fmt::format("{} of {} needs {} bytes, but it has {}.", what,
                                  name_of(given.dtype), needed, given.bytes.size()));
    }
    return std::nullopt;
  }

  std::optional<Error> limits() {
    for (const SizeParameter& size : entry_.sizes) {
      const std::int64_t value = problem_.sizes.*size.member;
      if (value >= size.least && value <= size.most) continue;
      // A default lies within its own limits, so somebody said this.
      return mismatch(fmt::format("{}, but {} takes {} from {} to {}.", known_[size.name].because,
                                  entry_.name, size.name, size.least, size.most));
    }
    if (std::optional<std::string> sentence = entry_.objection(problem_)) {
      return mismatch(*sentence);
    }
    return std::nullopt;
  }

  std::optional<Error> types() {
    if (entry_.variant_of) return problem_.variant = entry_.variant_of(problem_), std::nullopt;
    for (const Variant& variant : entry_.variants) {
      if (suits(variant)) return problem_.variant = variant, std::nullopt;
    }
    std::string asked, offered;
    const auto add = [](std::string& list, std::string_view separator, const std::string& item) {
      if (!list.empty()) list += separator;
      list += item;
    };
    if (request_.dtype) add(asked, ", ", fmt::format("{} was asked for", name_of(*request_.dtype)));
    for (const auto& [name, given] : request_.inputs) {
      add(asked, ", ", fmt::format("{} is {}", label(name, given), name_of(given.dtype)));
    }
    for (const Variant& variant : entry_.variants) {
      if (!chosen(variant)) continue;
      std::string one;
      for (std::size_t t = 0; t < entry_.tensors.size(); ++t) {
        add(one, " ", fmt::format("{}:{}", entry_.tensors[t].name, name_of(variant.dtypes[t])));
      }
      add(offered, " or ", one);
    }
    return mismatch(fmt::format("{}, but {} computes {}.", asked, entry_.name, offered));
  }

  bool chosen(const Variant& variant) const {
    for (const auto& [option, value] : variant.only_for) {
      const auto said = problem_.choices.find(option);
      if (said == problem_.choices.end() || said->second != value) return false;
    }
    return true;
  }

  bool suits(const Variant& variant) const {
    if (!chosen(variant)) return false;
    if (request_.dtype && *request_.dtype != variant.dtypes[0]) return false;
    for (std::size_t t = 0; t < entry_.tensors.size(); ++t) {
      const auto given = request_.inputs.find(entry_.tensors[t].name);
      if (given != request_.inputs.end() && given->second.dtype != variant.dtypes[t]) return false;
    }
    return true;
  }

  std::optional<Error> memory() {
    double bytes = 0;  // an estimate: the product may be beyond 64 bits
    for (std::size_t t = 0; t < problem_.tensors.size(); ++t) {
      double one = static_cast<double>(bytes_of(problem_.variant.dtypes[t]));
      for (const std::int64_t extent : shape_of(problem_.tensors[t], problem_.sizes)) {
        one *= static_cast<double>(extent);
      }
      bytes += one;
    }
    if (bytes <= static_cast<double>(largest_job_bytes)) return std::nullopt;
    std::string sizes;
    for (const SizeParameter& size : entry_.sizes) {
      sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", size.name,
                           problem_.sizes.*size.member);
    }
    return mismatch(fmt::format("{} with {} needs {:.3g} GiB for its tensors; up to {} GiB work.",
                                entry_.name, sizes, bytes / (1 << 30), largest_job_bytes >> 30));
  }

  const SizeParameter* parameter(std::string_view name) const {
    for (const SizeParameter& size : entry_.sizes) {
      if (size.name == name) return &size;
    }
    return nullptr;
  }
  const SizeParameter* parameter(std::int64_t Sizes::*member) const {
    for (const SizeParameter& size : entry_.sizes) {
      if (size.member == member) return &size;
    }
    return nullptr;
  }
  static const TensorSpec* tensor(const std::vector<TensorSpec>& all, std::string_view name) {
    for (const TensorSpec& spec : all) {
      if (spec.name == name) return &spec;
    }
    return nullptr;
  }
  const OptionParameter* option(std::string_view name) const {
    for (const OptionParameter& each : entry_.options) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  // Whether its first extent is the one that may be left out.
  bool is_batch(const TensorSpec& spec) const {
    return entry_.batch && !spec.shape.empty() && spec.shape.front() == entry_.batch;
  }

  const CatalogEntry& entry_;
  const Request& request_;
  std::map<std::string, Known> known_;
  bool batched_ = false;  // somebody names the extent that may be left out
  Fit problem_;
};

}  // namespace

Outcome<Fit> fit(const CatalogEntry& entry, const Request& request) {
  return Fitting(entry, request).fit();
}

Outcome<Job> make_job(const CatalogEntry& entry, Request request, std::string ptx) {
  const Outcome<Fit> problem = fit(entry, request);
  if (!problem) return problem.error();
  return make_job(entry, *problem, std::move(request), std::move(ptx));
}

Job make_job(const CatalogEntry& entry, const Fit& fit, Request request, std::string ptx) {
  Job job;
  job.program = {entry.name, std::move(ptx)};
  job.launch = entry.launch(fit, request.processors);
  job.launch.entry = fit.variant.entry;
  Manifest manifest = manifest_in(job.program.ptx, fit.variant.entry);
  job.launch.dynamic_shared = manifest.shared.value_or(0);
  job.barriers = std::move(manifest.barriers);
  job.arguments = entry.arguments(fit);
  for (std::size_t t = 0; t < fit.tensors.size(); ++t) {
    const TensorSpec& spec = fit.tensors[t];
    Buffer buffer{spec.name, fit.variant.dtypes[t], shape_of(spec, fit.sizes), {}, false};
    buffer.tile = spec.tile;
    const auto count = static_cast<std::size_t>(buffer.elements());
    const auto given = request.inputs.find(spec.name);
    if (given != request.inputs.end()) {
      buffer.bytes = std::move(given->second.bytes);
    } else if (spec.role != TensorRole::output) {
      buffer.bytes = random_elements(buffer.dtype, request.seed, t, count);
    } else {
      buffer.bytes.resize(count * bytes_of(buffer.dtype));
      buffer.undefined = true;
    }
    job.buffers.push_back(std::move(buffer));
  }
  return job;
}

Choices completed(const CatalogEntry& entry, Choices said) {
  if (entry.usual) entry.usual(said);
  for (const OptionParameter& each : entry.options) said.try_emplace(each.name, each.fallback);
  return said;
}

std::string shortest_words(const CatalogEntry& entry, const Choices& choices) {
  const Choices all = completed(entry, choices);
  Choices said = all;
  // What follows from others is left out before them: from the last option to the first.
  for (auto each = entry.options.rbegin(); each != entry.options.rend(); ++each) {
    Choices fewer = said;
    fewer.erase(each->name);
    if (completed(entry, fewer) == all) said = std::move(fewer);
  }
  std::string out;
  for (const OptionParameter& each : entry.options) {
    const auto found = said.find(each.name);
    if (found == said.end()) continue;
    out += fmt::format("{}--{} {}", out.empty() ? "" : " ", each.name, found->second);
  }
  return out;
}

std::optional<DType> stored_as(std::string_view type) {
  return type == "tf32" ? DType::f32 : dtype_named(type);
}

std::vector<std::int64_t> shape_of(const TensorSpec& tensor, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const auto member : tensor.shape) shape.push_back(sizes.*member);
  return shape;
}

std::string shape_names(const CatalogEntry& entry, const TensorSpec& tensor) {
  std::string out = "(";
  for (const auto member : tensor.shape) {
    if (out.size() > 1) out += ", ";
    for (const SizeParameter& size : entry.sizes) {
      if (size.member == member) out += size.name;
    }
  }
  return out + ")";
}

}  // namespace tilescope
