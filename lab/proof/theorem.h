// A theorem of the decision logic: a claim about arbitrary states, and a twin that must not hold.
//
// The claim is built from the run-time source (agents/decision/), the twin from the same claim over a broken variant of
// it, so that a claim that says nothing, or whose assumptions contradict each other, is noticed. For tests and
// `witan conformance decision`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/proof/scene.h"

namespace witan::agents::proof {

// Asks Z3 whether a formula can be true. One context and solver a question, so that no answer depends on another.
// Deterministic for one version of Z3; a question that is not answered in time is an error, never a verdict.
inline constexpr unsigned kQueryMilliseconds = 10'000;

struct Answer {
  bool satisfiable = false;
  std::string model;  // if satisfiable: "name=value ..." of all constants, by name
};

// Errors: unavailable, with Z3's reason, if the time ran out or Z3 gave up.
Result<Answer> ask(const z3::expr& formula, unsigned milliseconds = kQueryMilliseconds);

enum class Expect {
  always,    // no values falsify the claim; some falsify the twin
  possible,  // some values fulfil the claim; none fulfil the twin
};

struct Theorem {
  std::string_view id;     // the seed's name where it has one
  std::string_view title;  // the statement
  z3::expr (*claim)(Scene&);
  std::string_view twinTitle;  // what is broken in the twin
  z3::expr (*twin)(Scene&);
  Expect expect = Expect::always;
};

// All of them, in the order of the seed: safety, termination, preservation, partition; then phases 2 to 5.
std::vector<Theorem> theorems();

// By topic, joined by theorems().
std::span<const Theorem> safetyTheorems();
std::span<const Theorem> terminationTheorems();
std::span<const Theorem> preservationTheorems();
std::span<const Theorem> knowledgeTheorems();
std::span<const Theorem> historyTheorems();
std::span<const Theorem> selectionTheorems();
std::span<const Theorem> adaptationTheorems();

struct Verdict {
  bool asItMustBe = false;
  std::string detail;  // the values that Z3 found, or that there are none, or why it gave no answer
};

Verdict prove(const Theorem& theorem, unsigned milliseconds = kQueryMilliseconds);
// Does the twin fail, as it must?
Verdict refuteTwin(const Theorem& theorem, unsigned milliseconds = kQueryMilliseconds);

}  // namespace witan::agents::proof
