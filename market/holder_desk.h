// The holder's desk: what the parties may ask of an escrow, and what the holder does of its own accord.
//
// It decides nothing: each act goes to the domain `escrow`, which judges it. An escrow begins with a contract of two
// organisations whose roots it trusts, under keys that these have granted; its entity is the contract's digest. It
// refuses what is not of a party or not an act of its role before that costs an entry. It settles each call when its
// time has come, so nobody depends on the other side acting, and asks for a ruling on a dispute. A pending ruling
// freezes the entity, and time runs on: so it asks when no other call of the contract can lose its time to deliver or
// to dispute by it, and reserves no new one before. No rows: the ledger is its memory; after a restart the host tells
// it of open calls (watch). See market/letters.h.
#pragma once

#include <functional>
#include <optional>

#include "domains/escrow/escrow.h"
#include "kernel/partition.h"
#include "market/letters.h"

namespace witan::market {

class HolderDesk {
 public:
  // What the ledger says of an entity; none: there is none.
  using Look = std::function<const kernel::EntityState*(const std::string& entity)>;
  HolderDesk(std::string org, Look look, Roots roots = {})
      : org_(std::move(org)), look_(std::move(look)), roots_(std::move(roots)) {}
  void trust(Roots roots) { roots_ = std::move(roots); }

  // An entity with calls that may be open, or on which an arbiter has ruled.
  void watch(const std::string& entity, Moment now);
  Out onLetter(Letter letter, Moment now);
  // The arbiter has sent back what was asked, or its time is up: the dispute stays, and is put before it again later.
  void unruled(const std::string& entity, Moment now);
  // What became of an act, and when it is durable.
  Out decided(const EscrowAct& act, const kernel::Decision& decision, Moment now);
  Out tick(Moment now);

 private:
  // What it does itself of a call: "Settle" or "RequestRuling".
  struct Due {
    std::string type;
    std::uint64_t attempt = 0;
    Moment at;
    std::string buyer;
    std::optional<Moment> until;  // for delivery or dispute
    bool asked = false;           // the arbiter was
    std::string statement;        // the envelope that was delivered, while this process lives
  };
  using CallKey = std::pair<std::string, std::string>;  // entity, call
  void onOpen(const Letter& letter, Moment now, Out& out) const;
  std::string whyNot(const Opened<Contract>& contract, const Letter& letter, Moment now) const;
  json::object onView(const Letter& letter, Moment now) const;
  json::object callOf(const std::string& entity, const domains::escrow::CallStanding& call, Moment now) const;
  json::object callsOf(const std::string& party, const json::value& named, Moment now) const;
  void plan(const std::string& entity, const domains::escrow::EscrowStanding& escrow, Moment now);
  bool hasDispute(const std::string& entity, Moment now) const;
  bool mayFreeze(const std::string& entity, Moment now) const;
  std::size_t openCallsOf(const std::string& buyer) const;
  void onAct(const Letter& letter, Moment now, Out& out) const;

  std::string org_;
  Look look_;
  Roots roots_;
  std::map<CallKey, Due> due_;
  Allowance acts_, views_;  // looking does not use up what acting needs
};

}  // namespace witan::market
