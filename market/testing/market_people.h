// The people of a buyer, each of whom looks at what comes of one call and accepts or disputes it, while there is time
// or when it is over; or disputes before it comes. What somebody has said stands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/seams.h"
#include "market/buyer_desk.h"

namespace witan::market {

class MarketPeople {
 public:
  MarketPeople(std::uint64_t seed, std::uint64_t windowSeconds) : random_(seed), window_(windowSeconds) {}

  // Of half of the calls.
  void mayLookAt(const std::string& call);
  bool lookAt(const std::string& call) const { return persons_.contains(call); }
  struct Word {
    std::string call;
    BuyerStep says = BuyerStep::accept;
  };
  // What is to be said by now; again until it was heard.
  std::vector<Word> say(const BuyerDesk& desk, const std::string& contract, std::int64_t ms);
  void heard(const std::string& call);
  // A letter of their desk.
  void see(const Letter& letter);
  // Empty: none was heard before the desk has accepted.
  std::string wordOf(const std::string& call) const;

 private:
  struct Person {
    BuyerStep says = BuyerStep::accept;
    bool isImpatient = false;
    std::int64_t waits = 0, seenAt = -1;  // milliseconds
    bool isHeard = false, counts = false, isAccepted = false;
  };
  SeededRandom random_;
  std::uint64_t window_;
  std::map<std::string, Person> persons_;
};

}  // namespace witan::market
