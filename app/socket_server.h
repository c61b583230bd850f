// Where CUDA programs ask: a socket in a folder of its own, and who answers there, question by
// question (Head of app/cuda/wire.h, operands; Head, results).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct SocketAnswer {
  std::uint32_t result = 0;
  std::string bytes;
  int file = -1;  // goes with it; who sends it does not close it
};

class SocketServer {
 public:
  using Answer = std::function<SocketAnswer(std::uint32_t what, std::string_view operands)>;
  // A process that has come: 0 where the system does not say which; "vectorAdd", as it calls it.
  struct Peer {
    pid_t process = 0;
    std::string name;
  };
  // Who answers it.
  using Join = std::function<Answer(Peer peer)>;

  // A socket at this path.
  static Outcome<std::unique_ptr<SocketServer>> open(const std::string& path, Join join);
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  // Answers until this child has ended: its status, as waitpid() has it; or nothing where the user
  // interrupted.
  std::optional<int> serve(pid_t child);
  // Afterwards, of processes that it left behind, which are this one's children now: answers them
  // until they have ended. True: they have; false: some go on that have asked nothing for so many
  // milliseconds, or the user interrupted.
  bool serve_others(int milliseconds);
  // One more process, over a socket that is connected already.
  void add(int socket);
  // What is there to be read, of all of them; waits so many milliseconds for it.
  void answer_some(int milliseconds);

 private:
  struct Connection {
    int socket = -1;
    Answer answer;
  };

  explicit SocketServer(Join join) : join_(std::move(join)) {}
  // False: it has gone, or says what nobody understands.
  static bool answer_one(Connection& connection);
  void accept();

  Join join_;
  int listening_ = -1;
  std::string path_;
  std::vector<Connection> connections_;
};

}  // namespace tilescope
