// A project of the domain verification with one finding, F1, that wants nothing but its verdict: for tests of what
// stands behind one.
#pragma once

namespace witan::test {

inline constexpr const char* kReproducedFinding = R"({"finding.phase":{"F1":"REPRODUCED"},
  "phase.log":{"F1":[["SUBMITTED","2026-01-01T00:00:00Z"],["TRIAGED","2026-01-01T00:00:00Z"],["REPRODUCED","2026-01-01T00:00:00Z"]]},
  "repro.log":[{"f":"F1","env":"asan","seed":1,"ok":true,"trace":"t1","at":"2026-01-01T00:00:00Z"},
               {"f":"F1","env":"asan","seed":2,"ok":true,"trace":"t2","at":"2026-01-01T00:00:00Z"}],
  "sev.vector":{"F1":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"},"sev.score":{"F1":9.8},"sev.band":{"F1":"CRITICAL"},
  "static.cwe":{"F1":"CWE-787"},"static.location":{"F1":"a.c:1"},"triage.component":{"F1":"parser"}})";

}  // namespace witan::test
