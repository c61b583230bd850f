// Where CUDA programs find their device: a socket, and who answers there.
//
// Each process that comes gets a device of its own, as it would on a machine with one GPU;
// questions are answered one after the other. All that a program can say goes through ExecCalls.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "app/exec_calls.h"
#include "app/socket_server.h"
#include "core/error.h"

namespace tilescope {

class ExecServer {
 public:
  // A socket at this path. `terminal` lives longer.
  static Outcome<std::unique_ptr<ExecServer>> open(const std::string& path, ExecOptions options,
                                                   Terminal& terminal);

  // As SocketServer has them.
  std::optional<int> serve(pid_t child) { return server_->serve(child); }
  bool serve_others(int milliseconds) { return server_->serve_others(milliseconds); }
  void add(int socket) { server_->add(socket); }
  void answer_some(int milliseconds) { server_->answer_some(milliseconds); }

  // Of each process that asked, in the order in which they came.
  const std::vector<std::unique_ptr<ExecCalls>>& programs() const { return programs_; }

 private:
  ExecServer(ExecOptions options, Terminal& terminal)
      : options_(std::move(options)), terminal_(terminal) {}
  SocketServer::Answer join(SocketServer::Peer peer);
  // The options of the next process: what it writes is beside that of the others.
  ExecOptions next_options() const;

  ExecOptions options_;
  Terminal& terminal_;
  std::vector<std::unique_ptr<ExecCalls>> programs_;
  std::unique_ptr<SocketServer> server_;
};

}  // namespace tilescope
