// What a program writes as an answer: it may name the question, as "question", and then must name the one that it is
// asked. So what comes late is not taken for an answer to the next question.
//
// Pure, any thread.
#pragma once

#include <string_view>

#include "base/json.h"

namespace witan::node {

inline constexpr const char* kQuestionMember = "question";

// Takes the name out of it. False: it is an answer to another question.
inline bool isAnswerTo(std::string_view question, json::value& answer) {
  json::object* members = answer.if_object();
  const json::value* named = members == nullptr ? nullptr : members->if_contains(kQuestionMember);
  if (named == nullptr) return true;
  const bool same = named->is_string() && named->get_string() == question;
  members->erase(kQuestionMember);
  return same;
}

}  // namespace witan::node
