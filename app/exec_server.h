// Where CUDA programs find their device: a socket in a folder of its own, and who answers there.
//
// Each process that comes gets a device of its own, as it would on a machine with one GPU;
// questions are answered one after the other. All that a program can say goes through ExecCalls.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "app/exec_calls.h"
#include "core/error.h"

namespace tilescope {

class ExecServer {
 public:
  // A socket at this path. `terminal` lives longer.
  static Outcome<std::unique_ptr<ExecServer>> open(const std::string& path, ExecOptions options,
                                                   Terminal& terminal);
  ~ExecServer();
  ExecServer(const ExecServer&) = delete;
  ExecServer& operator=(const ExecServer&) = delete;

  // Answers until this child has ended: its status, as waitpid() has it; or nothing where the user
  // interrupted.
  std::optional<int> serve(pid_t child);
  // One more process, over a socket that is connected already.
  void add(int socket);
  // What is there to be read, of all of them; waits so many milliseconds for it.
  void answer_some(int milliseconds);

  // Of each process that asked, in the order in which they came.
  const std::vector<std::unique_ptr<ExecCalls>>& programs() const { return programs_; }

 private:
  struct Connection {
    int socket = -1;
    ExecCalls* program = nullptr;
  };

  ExecServer(ExecOptions options, Terminal& terminal);
  // False: it has gone, or says what nobody understands.
  bool answer_one(Connection& connection);
  void accept();

  ExecOptions options_;
  Terminal& terminal_;
  int listening_ = -1;
  std::string path_;
  std::vector<Connection> connections_;
  std::vector<std::unique_ptr<ExecCalls>> programs_;
};

}  // namespace tilescope
