#include "app/exec_server.h"

#include <fmt/format.h>

#include <filesystem>

namespace tilescope {

Outcome<std::unique_ptr<ExecServer>> ExecServer::open(const std::string& path, ExecOptions options,
                                                      Terminal& terminal) {
  std::unique_ptr<ExecServer> out(new ExecServer(std::move(options), terminal));
  Outcome<std::unique_ptr<SocketServer>> server = SocketServer::open(
      path, [own = out.get()](SocketServer::Peer peer) { return own->join(std::move(peer)); });
  if (!server) return server.error();
  out->server_ = std::move(*server);
  return out;
}

ExecOptions ExecServer::next_options() const {
  ExecOptions out = options_;
  const std::size_t number = programs_.size() + 1;
  if (number == 1) return out;
  for (std::string* const path : {&out.capture, &out.failing, &out.profile.record}) {
    if (path->empty()) continue;
    const std::filesystem::path whole(*path);
    const std::string own = fmt::format("process{}", number);
    *path = whole.extension() == ".tsr"
                ? (whole.parent_path() / whole.stem()).string() + "." + own + ".tsr"
                : (whole / own).string();
  }
  std::error_code ignored;  // who writes there says it
  const std::filesystem::path records(out.profile.record);
  if (!records.empty() && records.extension() != ".tsr") {
    std::filesystem::create_directories(records, ignored);
  }
  return out;
}

SocketServer::Answer ExecServer::join(SocketServer::Peer peer) {
  ExecOptions options = next_options();
  options.process = peer.process;
  programs_.push_back(std::make_unique<ExecCalls>(options, std::move(peer.name), terminal_));
  return [program = programs_.back().get()](std::uint32_t what, std::string_view operands) {
    CallAnswer answer = program->answer(static_cast<wire::Call>(what), operands);
    return SocketAnswer{static_cast<std::uint32_t>(answer.result), std::move(answer.out.bytes),
                        answer.file};
  };
}

}  // namespace tilescope
