// The buyer's desk: calls from the reservation to the end, each a saga whose compensation is Reclaim or Dispute.
//
//   reserve -> order -> await -> compare -> [review] -> accept -> ended
//                 \        \-> dispute (evidence fails a check, or a person says so in review) -> ended
//                  \-> reclaim (declined, or deliverBy has passed) -> ended
//
// No order is sent before the money is held. Evidence is verified in full before it is accepted, with its output, and
// must be what the holder has (compare): a seller may have signed a second statement, and Accept pays what was
// delivered. From the order on the holder is asked again and again: what was delivered there and is not here by half of
// the window is disputed, since a seller that shows its evidence to the holder alone is paid after the window. One
// question names many calls, and only so many calls are open that all of them could be disputed in half of their
// window at the rate that a holder hears. Between
// dispute and reclaim it goes back and forth until the holder takes one of them: which is lawful depends on what has
// reached it, and a dispute that came before the delivery is repeated when the holder is seen to have that. The host
// restores rows, then calls tick() at least each second. See market/letters.h.
#pragma once

#include "market/letters.h"

namespace witan::market {

WITAN_ENUM(BuyerStep, reserve, order, await, accept, dispute, reclaim, ended, review, compare)

struct BuyerCall {
  std::string contract, call;
  std::string order;  // envelope
  std::vector<std::string> disclosures;
  BuyerStep step = BuyerStep::reserve;
  std::uint64_t attempt = 0;  // of all its steps: no id is used for two acts
  std::string end;            // "accepted", "refunded", "disputed", "settled", "refused"
  std::string reason;         // what failed: a rule, an EB id, what the seller said
  LongText bundle;            // the evidence, once it came and verified
  std::optional<Moment> failedAt, endedAt;
  bool review = false;                // a person accepts or disputes what has come
  std::optional<Moment> reviewUntil;  // without a word it is accepted then
  Omittable<bool> declined;           // by the seller, to the buyer or on record
  Omittable<bool> holderSays;         // that it was declined: the seller has not said so
  WITAN_MEMBERS(BuyerCall, contract, call, order, disclosures, step, attempt, end, reason, bundle, failedAt, endedAt,
                review, reviewUntil, declined, holderSays)
};

struct BuyerContract {
  std::string envelope;
  Omittable<std::string> entity;  // in older rows; not read
  WITAN_MEMBERS(BuyerContract, envelope, entity)
};

struct OrderWish {
  std::string contract, call;
  Natural amount = 0;
  std::vector<std::string> disclosures;
  Words locales;
  Budget budget;
  bool review = false;
};

class BuyerDesk {
 public:
  BuyerDesk(std::string org, SigningKey key, Roots roots)
      : org_(std::move(org)), key_(std::move(key)), roots_(std::move(roots)) {}

  void trust(Roots roots) { roots_ = std::move(roots); }
  // Errors: it is no row of this desk.
  Status restore(const Row& row);
  // Errors: not signed by both, or another buyer's; times for which nobody should hold money.
  Result<Out> addContract(const std::string& envelope);
  // Begins a call. The same wish again is a repetition. Errors: no such contract; wider than it; another order has this
  // call; unavailable, there are too many open calls to dispute all of them in time.
  Result<Out> order(const OrderWish& wish, Moment now);
  Out onLetter(Letter letter, Moment now);
  Out tick(Moment now);
  // A partner has come back: what waits for it is tried at once.
  void hurry(const std::string& org);
  // What a person says: accept, dispute or reclaim. Said again it changes nothing. Errors: no such call; not at a step
  // at which that can be said.
  Result<Out> decide(const std::string& contract, const std::string& call, BuyerStep step, const std::string& reason,
                     Moment now);

  // Whether evidence of this seller may come.
  bool awaits(const std::string& seller) const;
  const BuyerCall* find(const std::string& contract, const std::string& call) const;
  // Null: there is none.
  const Contract* contract(const std::string& digest) const;
  std::vector<const BuyerCall*> calls() const;
  std::vector<std::string> contracts() const;  // digests

 private:
  struct Live {
    BuyerCall call;
    Order order;
    Retry retry, watching;
    bool alarmed = false, accused = false;
    bool over = false;   // the holder says that it is settled: the next look at it says for whom
    bool waits = false;  // what it would dispute is not delivered yet: the next look at the holder says when
  };
  const Contract& contractOf(const Live& live) const { return contracts_.at(live.call.contract).document; }
  void enter(Live& live, BuyerStep step, Moment now, Out& out);
  void again(Live& live, Moment now, Out& out);
  void another(Live& live, Moment now, Out& out);
  void fail(Live& live, const std::string& reason, BuyerStep next, Moment now, Out& out);
  void end(Live& live, const std::string& how, Moment now, Out& out);
  void send(Live& live, Moment now, Out& out);
  void answered(Live& live, const json::object& body, Moment now, Out& out);
  void compared(Live& live, const json::object& body, Moment now, Out& out);
  void actAnswered(Live& live, const std::string& outcome, const std::string& rule, Moment now, Out& out);
  void onEvidence(const Letter& letter, Moment now, Out& out);
  Verification verified(const std::string& bundle, const Opened<Order>& order, const Live& live) const;
  bool hasPlaceFor(const Contract& contract) const;
  bool isWatched(const Live& live) const;
  std::int64_t retrySeconds(const Live& live) const;
  void watch(Moment now, Out& out);
  void onViews(const Letter& letter, Moment now, Out& out);
  void watched(Live& live, const json::object& body, Moment now, Out& out);
  void decline(Live& live, const std::string& reason, Moment now, Out& out);
  void accuse(const Live& live, const char* kind, std::string what, const json::object& body, Out& out) const;
  void accuseOfBoth(const Live& live, const json::object& body, Out& out) const;
  void move(Live& live, Moment now, Out& out);
  void alarm(Live& live, Moment now, Out& out);
  Letter letterOf(const Live& live) const;

  std::string org_;
  SigningKey key_;
  Roots roots_;
  std::map<std::string, Opened<Contract>> contracts_;  // by digest
  std::map<std::string, Live> calls_;                  // by external id
  Allowance allowance_;
  Pacing pacing_;
};

}  // namespace witan::market
