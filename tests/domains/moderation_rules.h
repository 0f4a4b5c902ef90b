// The sentences that moderation's tests speak: one user's case from 2026-01-01T00:00:00Z on.
#pragma once

#include <gtest/gtest.h>

#include "tests/domains/edges.h"

namespace witan::domains::test {

class OneUser : public OneEntity {
 public:
  explicit OneUser(std::string_view policy = "{}") : OneEntity("moderation", policy) {}

  std::string label(Time t, const std::string& rest = {}, const std::string& entity = "p1",
                    const std::string& type = "Post", const std::string& name = "scam_link") {
    return propose(R"({"type":"ApplyLabel","entityType":")" + type + R"(","entity":")" + entity + R"(","label":")" +
                       name + R"(","reason":"because")" + rest + "}",
                   t);
  }
  std::string unlabel(Time t, const std::string& rest = {}, const std::string& entity = "p1") {
    return propose(R"({"type":"RemoveLabel","entityType":"Post","entity":")" + entity +
                       R"(","label":"scam_link","reason":"because")" + rest + "}",
                   t);
  }
  std::string notice(Time t, const std::string& n, const std::string& action,
                     const std::string& rest = R"("facts":"f","clause":"c","redress":"r")") {
    return propose(R"({"type":"DraftNotice","n":")" + n + R"(","action":")" + action + "\"," + rest + "}", t);
  }
  std::string take(Time t, const std::string& a, const std::string& kind, const std::string& policy,
                   const std::string& evidence = R"(["L1"])", std::string item = {}) {
    if (item.empty()) item = "item-of-" + a;
    return propose(R"({"type":"TakeAction","a":")" + a + R"(","kind":")" + kind + R"(","policy":")" + policy +
                       R"(","item":")" + item + R"(","evidence":)" + evidence + "}",
                   t);
  }
  std::string reverse(Time t, const std::string& a) {
    return propose(R"({"type":"ReverseAction","a":")" + a + "\"}", t);
  }
  std::string close(Time t) { return propose(R"({"type":"CloseCase"})", t); }
  std::string appeal(Time t, const std::string& p, const std::string& a) {
    return propose(R"({"type":"OpenAppeal","p":")" + p + R"(","a":")" + a + "\"}", t);
  }
  std::string decideAppeal(Time t, const std::string& p, const std::string& outcome,
                           const std::string& by = "human.reviewer") {
    return propose(R"({"type":"DecideAppeal","p":")" + p + R"(","outcome":")" + outcome + R"(","by":")" + by + "\"}",
                   t);
  }
  // An agent's proposal, and the person's signature under it.
  std::string settleAppeal(Time t, const std::string& p, const std::string& outcome) {
    if (const std::string asked = decideAppeal(t, p, outcome); asked != "escalated:UCM_HUMAN_APPEAL_DECISION")
      return asked;
    return decide(true, R"({"appeal.decidedBy":{")" + p + R"(":"human.lead"}})", t);
  }
  // Label L1 on day 0, and notices for actions A1 to A9 of that day.
  void prepare() {
    ASSERT_EQ(label(at(0)), "approved");
    for (int i = 1; i <= 9; ++i) ASSERT_EQ(notice(at(0), "N" + std::to_string(i), "A" + std::to_string(i)), "approved");
  }
};

class ModerationRules : public testing::Test, protected OneUser {};

}  // namespace witan::domains::test
