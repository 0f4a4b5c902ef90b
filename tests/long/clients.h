// Clients: people and programs that use a LongCluster at a steady, modest rate, each at one node until that does not
// answer. Every act has an operation id and is tried until somebody answers for good, also after the trouble is over.
// Some acts are repeated at another node afterwards, and must be told to be repetitions.
//
//   spenders   of shared budgets, until the cap turns them away
//   clinics    a patient each, one after the other: orders, a positive result that a counselor decides on
//   pokers     (the spenders, now and then) at the clinics' patients, who may be frozen: they give up after a while
//
// The cluster's directories and the book outlive them.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/seams.h"
#include "cli/client/control_client.h"
#include "kernel/domain_module.h"
#include "tests/long/book.h"

namespace witan::node::test {

// How a client reaches the nodes.
using Doors = std::vector<ControlClient>;

class Clients {
 public:
  Clients(Doors doors, Book& book, std::uint64_t seed, std::size_t spenders, std::size_t clinics,
          std::chrono::milliseconds pause);
  ~Clients();
  // No new acts; what is begun is brought to its end. Whether everything was answered within so long.
  bool finish(std::chrono::seconds patience);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Patience { untilAnswered, aWhile };

  class Client;
  void spend(Client& client);
  void attend(Client& client);
  void poke(Client& client);
  std::string lately(const std::string& what);
  void setLately(const std::string& what, const std::string& entity);
  // Whether a client begins another act, after a pause.
  bool goesOn();

  const Doors doors_;
  Book& book_;
  const std::chrono::milliseconds pause_;
  std::unique_ptr<kernel::DomainModule> budget_, udt_;
  std::atomic<bool> stopped_{false}, givenUp_{false};
  std::atomic<std::size_t> unanswered_{0};
  std::mutex mutex_;
  std::map<std::string, std::string> lately_;  // entities that are used now, by what they are
  std::vector<std::thread> threads_;
};

}  // namespace witan::node::test
