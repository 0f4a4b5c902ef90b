// Records of a run's transcript: digests only, complete (M-01). Read and judged by transcriptProblem
// (kernel/market/evidence.h); made by who runs a call. Values.
#pragma once

#include "kernel/market/documents.h"

namespace witan::market {

WITAN_ENUM(RecordKind, begin, look, model, act, outcome, end)
WITAN_ENUM(ActResult, applied, denied, failed)

// A record has exactly the members of its kind.
struct Record {
  Natural n = 0;
  RecordKind kind = RecordKind::begin;
  Word policyEpoch;
  Omittable<Hex> input;
  Omittable<Word> span, tool;
  Omittable<Model> model;
  Omittable<Hex> output;
  Omittable<Natural> tokens;
  Omittable<Words> locales;
  Omittable<ActResult> result;
  WITAN_MEMBERS(Record, n, kind, policyEpoch, input, span, tool, model, output, tokens, locales, result)
};

}  // namespace witan::market
