// The buyer's side of contracts: a proposal is repeated until the seller has answered, and what both have signed until
// the holder has opened an escrow for it.
//
//   propose -> open -> agreed
//        \-> declined (by the seller)   open -> refused (by the holder) -> open, when it is proposed again
//
// One id is one text: a proposal that was signed once is never signed anew. See market/letters.h.
#pragma once

#include "market/letters.h"

namespace witan::market {

WITAN_ENUM(ProposalStep, propose, open, agreed, declined, refused)

struct Proposal {
  std::string envelope;  // signed by the buyer, from `open` on by both
  json::value grants;    // of both
  ProposalStep step = ProposalStep::propose;
  std::uint64_t attempt = 0;
  std::string reason;
  json::value offer;  // a quote that the seller has not kept; or null
  static constexpr std::size_t required = 5;
  WITAN_MEMBERS(Proposal, envelope, grants, step, attempt, reason, offer)
};

class ContractDesk {
 public:
  // `grants`: its own.
  ContractDesk(std::string org, SigningKey key, json::array grants)
      : org_(std::move(org)), key_(std::move(key)), grants_(std::move(grants)) {}

  struct Known {
    Opened<Contract> opened;
    Proposal proposal;
    Retry retry;
  };

  // Errors: it is no row of this desk.
  Status restore(const Row& row);
  // Signs and begins. The same id again goes on with the text that was signed, whatever else is asked for. `quote`: the
  // envelope of the offer if it is one. Errors: not this buyer's.
  Result<Out> propose(const Contract& contract, const json::array& sellersGrants, Moment now,
                      json::value quote = nullptr);
  Out onLetter(Letter letter, Moment now);
  Out tick(Moment now);
  void hurry();

  // Null: there is none.
  const Known* find(std::string_view id) const;
  const std::map<std::string, Known>& all() const { return proposals_; }  // by digest

 private:
  void enter(Known& known, ProposalStep step, const std::string& reason, Moment now, Out& out);
  void send(Known& known, Moment now, Out& out);
  Letter letterOf(const Known& known) const;
  void answered(Known& known, const json::object& body, Moment now, Out& out);

  std::string org_;
  SigningKey key_;
  json::array grants_;
  std::map<std::string, Known> proposals_;
};

}  // namespace witan::market
