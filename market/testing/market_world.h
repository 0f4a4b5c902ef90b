// Three organisations under simulated time: a clinic that orders, a laboratory that runs and a notary that holds the
// money, each with a durable store and a desk (market/), letters between them that are late, doubled or lost. Any of
// them may die before or after any write, also by a loss of power, which takes rows away that were not firm yet; be
// silent or have a wrong clock, and one may lie. Deterministic by its
// options and by what is asked of it.
//
// For conformance rows, tests and the simulator: liveMarket() lives a whole life; MarketWorld is driven step by step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "market/letters.h"

namespace witan::market {

enum class SellerHabit { honest, silent, failing, overcharging, forging, hiding };  // hiding: from its buyer

inline constexpr int kBuyer = 0, kSeller = 1, kHolder = 2;
inline constexpr const char* kParties[] = {"clinic", "lab", "notary"};

// What a party that lies does once. The buyer: an old order again; an order beyond the contract; a second order of a
// call; a second text of the contract; an order for which no money is held; and with money held for them, so that work
// would be done that is never paid: an order whose call no id can name, one of a contract that is said to be another's
// escrow, one that leaves when its time is nearly over, one with a dispute of another call that freezes the escrow, one
// that is issued in the future, one whose disclosures are none, one that allows a run nothing, and one in an envelope
// that is filled up to its limit; a contract with as many signatures as an envelope may have. The seller, with its
// next delivery: evidence of a stranger's key, of another call, too late, under a second statement that charges more, a
// bundle for the buyer that was altered, none at all, one without its output; and it declines at length what it
// delivers behind its buyer's back. The holder, to who asks about the next call: that less money is held, or for
// another order, or that it is days later; that the statement of another call was delivered; that the evidence fails a
// check; that the seller has declined.
WITAN_ENUM(MarketLie, orderAgain, widerOrder, secondOrder, secondContract, unpaidOrder, manySignatures, longName,
           foreignEscrow, lateOrder, frozenCall, futureOrder, oddDisclosures, emptyBudget, fullEnvelope, forgedEvidence,
           otherEvidence, lateEvidence, secondStatement, alteredBundle, withheldBundle, withheldOutput, longDecline,
           smallerHold, otherHold, otherTime, otherStatement, refusedDelivery, falseDecline)
inline constexpr MarketLie kLastLie = MarketLie::falseDecline;
inline constexpr MarketLie kFirstSellerLie = MarketLie::forgedEvidence;
inline constexpr MarketLie kFirstHolderLie = MarketLie::smallerHold;

struct WorldOptions {
  std::uint64_t seed = 1;
  int calls = 3;
  int lossPercent = 5, doublePercent = 5;
  SellerHabit seller = SellerHabit::honest;
  bool passiveBuyer = false;                 // compensates nothing
  int holderSilentFor = 0;                   // seconds from the first order on
  int arbiterSeconds = 5;                    // that the arbiter takes
  std::int64_t clockOff[3] = {0, 0, 0};      // seconds: buyer, seller, holder
  std::optional<std::pair<int, int>> death;  // party; boundary: 2n before its n-th write, 2n + 1 after it
  std::optional<bool> losesPower;            // by a death; none: as the seed draws it
  int seconds = 600;                         // how long it lasts
  int window = 0;                            // seconds; 0: as the seed has it
  bool people = false;                       // look at half of what comes; an arbiter gives parts
};

struct ToldIncident : MarketIncident {
  int by = 0;  // the party that tells it
};

// A Deliver in the holder's ledger.
struct DeliveryEntry {
  std::string call, evidence;  // envelope
  std::string refusedBy;       // the invariant; empty: approved
};

// A bundle that has reached the buyer.
struct ShownBundle {
  std::string call, evidence;  // digest of its statement
};

struct CallResult {
  bool wished = false;                 // by the buyer's desk; else a lie
  std::string state, order, evidence;  // as the holder has them; evidence: digest
  std::int64_t charge = 0, share = 0;
  int settlements = 0;  // entries of the ledger that settle it
  std::string buyerEnd, bundle;
  std::string word;                    // of a person of the buyer: "accept", "dispute"
  std::optional<std::int64_t> ruling;  // of the arbiter, for the seller
  bool disputedInTime = false;         // what the buyer has said reached the holder in the window of the delivery
  std::string settledBy;               // type of the entry
};

struct WorldResult {
  json::object view;                        // of the escrow, at the end
  std::map<std::string, CallResult> calls;  // that the buyer has asked for
  std::map<std::string, int> runs;          // by external id
  std::vector<DeliveryEntry> deliveries;
  std::vector<ShownBundle> shown;
  std::vector<std::string> lateRuns;      // calls whose run began when it could hardly be delivered any more
  std::vector<std::string> frozen;        // calls of which an act in its time met a ruling that waits
  bool silences = false;                  // a party heard nothing for some time
  std::vector<std::string> unreadable;    // rows that a desk has written and none could read
  std::vector<std::string> keptInputs;    // calls that the seller declined unread, and keeps what they disclose
  std::map<MarketLie, int> lies;          // that reached a party which was awake and did not say "busy"
  std::vector<std::string> liedAbout;     // calls whose delivery was a lie
  std::vector<std::string> unheld;        // of which the holder has never said what would let the seller run them
  std::vector<std::int64_t> compensated;  // seconds from a failure to the refund
  std::vector<ToldIncident> incidents;
  int writes[3] = {0, 0, 0};
  Roots roots;
};

class MarketWorld {
 public:
  explicit MarketWorld(const WorldOptions& options);
  ~MarketWorld();

  std::int64_t nextAt() const;  // milliseconds from the beginning; there is always something next
  // Everything that is due by then.
  void runUntil(std::int64_t ms);
  // The buyer wishes for one more call.
  void order();
  // Before or after one of its next writes.
  void die(int party, int writes, bool after);
  // It hears nothing and does nothing for so long.
  void silence(int party, std::int64_t ms);
  void setClock(int party, std::int64_t secondsOff);
  void lie(MarketLie lie);
  // The first call that is not settled, with how it stands; empty: all are.
  std::string unsettled() const;
  WorldResult result() const;

 private:
  class World;
  std::unique_ptr<World> world_;
};

WorldResult liveMarket(const WorldOptions& options);

// What no history of honest or lying parties may show: money from nowhere, a call that is not settled, two settlements
// or two runs of one, a payment for what was not delivered under the seller's key or is not what the buyer accepted,
// a disputed call that is paid otherwise than the arbiter has ruled, or
// without a ruling while the buyer, or the person who has disputed it, does not accept; money without work (a buyer
// that was there has no evidence of what it paid for), work without money (an honest seller showed what no delivery on
// record stands for, or began too late what it sold; a ruling lets the time of another call pass), an honest party
// accused, a row that a start could not read. `liar`: the party that lied, or -1; its lies must have left proof.
Status judgeWorld(const WorldResult& result, int liar = -1);

}  // namespace witan::market
