// Scenarios shipped with the domain: `witan domain test verification` runs them.
#include "domains/verification/verification.h"

namespace witan::domains::verification {

const std::string_view Verification::scenarios =
    R"jsonl({"at":"2026-03-01T08:00:00Z","entity":"A","init":{},"title":"A from a finding to a signed verdict","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"A","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"A","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"A","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"A","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-04T09:00:00Z","entity":"A","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":6.5,"b":"MEDIUM"},"expect":"approved"}
{"at":"2026-03-05T09:00:00Z","entity":"A","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"escalated:VERIF_HUMAN_VERDICT"}
{"at":"2026-03-06T09:00:00Z","entity":"A","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F2","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"frozen"}
{"at":"2026-03-07T09:00:00Z","entity":"A","counselor":"human.verifier","decision":"commit","base":"candidate","edit":{"verdict.by":{"F1":"human.verifier"}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-08T09:00:00Z","entity":"A","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F2","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-09T09:00:00Z","entity":"A","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"REFUTED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-01T08:00:00Z","entity":"B","init":{},"title":"B evidence: each part of it is missing once, and no human is asked before it is whole","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"B","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"B","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-04T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":6.5,"b":"MEDIUM"},"expect":"approved"}
{"at":"2026-03-05T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-06T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-06T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-07T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":false,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-07T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-08T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":""},"expect":"approved"}
{"at":"2026-03-08T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-09T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":null},"expect":"approved"}
{"at":"2026-03-09T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-10T09:00:00Z","entity":"B","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F2","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-10T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F2","env":"asan","seed":2,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-10T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-11T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"msan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-12T09:00:00Z","entity":"B","role":"StaticAnalysis","action":{"type":"LocateDefect","f":"F1","loc":""},"expect":"approved"}
{"at":"2026-03-12T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-13T09:00:00Z","entity":"B","role":"StaticAnalysis","action":{"type":"LocateDefect","f":"F1","loc":"lib/inflate.c:213"},"expect":"approved"}
{"at":"2026-03-13T09:00:00Z","entity":"B","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"escalated:VERIF_HUMAN_VERDICT"}
{"at":"2026-03-14T09:00:00Z","entity":"B","counselor":"human.verifier","decision":"commit","base":"candidate","edit":{"verdict.by":{"F1":"human.verifier"}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-15T09:00:00Z","entity":"B","role":"StaticAnalysis","action":{"type":"LocateDefect","f":"F1","loc":""},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-15T09:00:00Z","entity":"B","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":9,"ok":false,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-01T08:00:00Z","entity":"C","init":{},"title":"C no severity, no verification; a score of 0 is a severity","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"C","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"C","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"C","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"C","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-04T09:00:00Z","entity":"C","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-05T09:00:00Z","entity":"C","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":0,"b":"NONE"},"expect":"approved"}
{"at":"2026-03-06T09:00:00Z","entity":"C","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"escalated:VERIF_HUMAN_VERDICT"}
{"at":"2026-03-07T09:00:00Z","entity":"C","counselor":"human.verifier","decision":"commit","base":"candidate","edit":{"verdict.by":{"F1":"agent.helper"}},"reason":"reviewed","expect":"cCommitted:UNSAFE[VERIF_HUMAN_VERDICT]"}
{"at":"2026-03-01T08:00:00Z","entity":"D","init":{},"title":"D a refutation is the human's too; a rejected one leaves the work where it was","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"D","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"D","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"D","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"REFUTED"},"expect":"escalated:VERIF_HUMAN_VERDICT"}
{"at":"2026-03-04T09:00:00Z","entity":"D","counselor":"human.verifier","decision":"reject","reason":"look again with another build","expect":"cRejected"}
{"at":"2026-03-05T09:00:00Z","entity":"D","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-06T09:00:00Z","entity":"D","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"REFUTED"},"expect":"escalated:VERIF_HUMAN_VERDICT"}
{"at":"2026-03-07T09:00:00Z","entity":"D","counselor":"human.verifier","decision":"commit","base":"candidate","edit":{"verdict.by":{"F1":"human.verifier"}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-08T09:00:00Z","entity":"D","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F2"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-01T08:00:00Z","entity":"E","init":{},"title":"E bands at their edges","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"E","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":0,"b":"LOW"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":0,"b":"NONE"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":0.1,"b":"NONE"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":0.1,"b":"LOW"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":3.9,"b":"MEDIUM"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":3.9,"b":"LOW"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":4,"b":"LOW"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":4,"b":"MEDIUM"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":6.9,"b":"HIGH"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":6.9,"b":"MEDIUM"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":7.0,"b":"MEDIUM"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":7.0,"b":"HIGH"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":8.9,"b":"CRITICAL"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":8.9,"b":"HIGH"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":9,"b":"HIGH"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":9,"b":"CRITICAL"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":10,"b":"NONE"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":10,"b":"CRITICAL"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":3.999999,"b":"LOW"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":10.1,"b":"CRITICAL"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":-0.1,"b":"LOW"},"expect":"rejected:VERIF_SEVERITY_BAND"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":5,"b":"SEVERE"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-03T09:00:00Z","entity":"E","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F9","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":5,"b":"MEDIUM"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-01T08:00:00Z","entity":"F","init":{},"title":"F duplicates point at what exists and is none","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"F","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T09:00:00Z","entity":"F","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F2","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T09:00:00Z","entity":"F","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F3","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F1"},"expect":"rejected:VERIF_DUPLICATE_TARGET"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F9"},"expect":"rejected:VERIF_DUPLICATE_TARGET"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F2"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F3","of":"F1"},"expect":"rejected:VERIF_DUPLICATE_TARGET"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F2","of":"F3"},"expect":"rejected:VERIF_DUPLICATE_TARGET"}
{"at":"2026-03-03T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F3","of":"F2"},"expect":"approved"}
{"at":"2026-03-04T10:00:00Z","entity":"F","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-04T09:00:00Z","entity":"F","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F3"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-01T08:00:00Z","entity":"G","init":{},"title":"G the life cycle: no phase is skipped, repeated or left for an earlier one","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F1"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T09:00:00Z","entity":"G","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"REFUTED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-02T10:00:00Z","entity":"G","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"G","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-03T09:00:00Z","entity":"G","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-03T09:00:00Z","entity":"G","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":false,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"G","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-03T09:00:00Z","entity":"G","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-04T10:00:00Z","entity":"G","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"rejected:VERIF_PHASE_PATH"}
{"at":"2026-03-05T09:00:00Z","entity":"G","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F8"},"expect":"rejected:VERIF_DUPLICATE_TARGET"}
{"at":"2026-03-06T09:00:00Z","entity":"G","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F2","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-07T09:00:00Z","entity":"G","role":"Triage","action":{"type":"MarkDuplicate","f":"F1","of":"F2"},"expect":"approved"}
{"at":"2026-03-01T08:00:00Z","entity":"H","init":{},"title":"H faults: unknown findings and words, another's role, a time that has passed","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"H","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-02T09:00:00Z","entity":"H","role":"StaticAnalysis","action":{"type":"LocateDefect","f":"F1","loc":"x.c:1"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-02T09:00:00Z","entity":"H","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":5,"b":"MEDIUM"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-03T09:00:00Z","entity":"H","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-03T10:00:00Z","entity":"H","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-04T09:00:00Z","entity":"H","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"MAYBE"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-04T09:00:00Z","entity":"H","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"DUPLICATE"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-04T09:00:00Z","entity":"H","role":"Reproduction","action":{"type":"ProposeVerdict","f":"F1","outcome":"REFUTED"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-02T09:00:00Z","entity":"H","role":"StaticAnalysis","action":{"type":"LocateDefect","f":"F1","loc":"x.c:1"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-04T09:00:00Z","entity":"H","role":"Triage","action":{"type":"TriageFinding","f":"F1"},"expect":"refused"}
{"at":"2026-03-01T08:00:00Z","entity":"I","init":{"verdict.by":{"F1":"human.verifier"}},"title":"I a verdict signed in advance still needs its evidence","expect":"initialised"}
{"at":"2026-03-02T09:00:00Z","entity":"I","role":"StaticAnalysis","action":{"type":"SubmitFinding","f":"F1","loc":"lib/inflate.c:210","cwe":"CWE-125"},"expect":"approved"}
{"at":"2026-03-02T10:00:00Z","entity":"I","role":"Triage","action":{"type":"TriageFinding","f":"F1","component":"inflate"},"expect":"approved"}
{"at":"2026-03-03T09:00:00Z","entity":"I","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":1,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-04T09:00:00Z","entity":"I","role":"SeverityAssessment","action":{"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:N","score":6.5,"b":"MEDIUM"},"expect":"approved"}
{"at":"2026-03-05T09:00:00Z","entity":"I","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"rejected:VERIF_EVIDENCE_FIRST"}
{"at":"2026-03-06T09:00:00Z","entity":"I","role":"Reproduction","action":{"type":"RunReproduction","f":"F1","env":"asan","seed":2,"ok":true,"trace":"sha256:0a"},"expect":"approved"}
{"at":"2026-03-07T09:00:00Z","entity":"I","role":"SeverityAssessment","action":{"type":"ProposeVerdict","f":"F1","outcome":"VERIFIED"},"expect":"approved"}
)jsonl";

}  // namespace witan::domains::verification
