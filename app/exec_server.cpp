#include "app/exec_server.h"

namespace tilescope {

Outcome<std::unique_ptr<ExecServer>> ExecServer::open(const std::string& path, ExecOptions options,
                                                      Terminal& terminal) {
  std::unique_ptr<ExecServer> out(new ExecServer(std::move(options), terminal));
  Outcome<std::unique_ptr<SocketServer>> server = SocketServer::open(
      path, [own = out.get()](std::string name) { return own->join(std::move(name)); });
  if (!server) return server.error();
  out->server_ = std::move(*server);
  return out;
}

SocketServer::Answer ExecServer::join(std::string name) {
  programs_.push_back(std::make_unique<ExecCalls>(options_, std::move(name), terminal_));
  return [program = programs_.back().get()](std::uint32_t what, std::string_view operands) {
    CallAnswer answer = program->answer(static_cast<wire::Call>(what), operands);
    return SocketAnswer{static_cast<std::uint32_t>(answer.result), std::move(answer.out.bytes),
                        answer.file};
  };
}

}  // namespace tilescope
