// The statements that count, in an order in which each follows its past, with what retirements need to know of them.
// For replication/membership.cpp only. Borrows nothing: it copies what it keeps.
//
// Rejecting the wrong ones is not its work: it gets statements that validateStatement accepts.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "replication/membership.h"

namespace witan::replication {

class StatementIndex {
 public:
  explicit StatementIndex(std::span<const Statement> statements);

  struct Entry {
    Statement statement;
    VectorClock seen;
    int issuer = -1;   // member: the device that states it, under its latest admission that it knew of; -1: none
    int subject = -1;  // member: whom it is about
  };
  struct About {
    Member member;
    std::vector<int> admits;  // entries, in their order
    std::vector<int> acks;
    bool proposed = false;
  };

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<About>& members() const { return members_; }  // by device, then admission
  std::size_t waiting() const { return waiting_; }
  const std::vector<Dot>& forked() const { return forked_; }

  // Whether a member has acked another, by itself, by what its sponsor had acked when it admitted it, or by having
  // acked the subject's sponsor without knowing the subject.
  bool hasAcked(int member, int subject) const { return hasAcked(member, subject, kAll, kNone); }

 private:
  static constexpr int kAll = -1;
  static constexpr int kNone = -1;

  void order(std::vector<Statement> statements);
  void nameMembers();
  bool precedes(int entry, int horizon) const;
  // Among the statements in the past of the entry `horizon`, counting only acks that do not know the entry `unknown`.
  bool hasAcked(int member, int subject, int horizon, int unknown) const;
  bool findAck(int member, int subject, int horizon, int unknown) const;

  std::vector<Entry> entries_;
  std::vector<About> members_;
  std::size_t waiting_ = 0;
  std::vector<Dot> forked_;
  mutable std::map<std::tuple<int, int, int, int>, bool> memo_;
};

}  // namespace witan::replication
