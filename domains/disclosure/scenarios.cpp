// Scenarios shipped with the domain: run by `witan domain test disclosure` and by the tests.
//
// V01 to V18 are the ones of the domain's rules, one entity each; E01 and on are edges of the rules. Every expectation
// was derived from the rules, not from what the program answered.
#include "domains/disclosure/disclosure.h"

namespace witan::domains::disclosure {

const std::string_view DisclosureDomain::scenarios =
    R"jsonl({"at":"2026-01-01T00:00:00Z","entity":"V01","init":{},"title":"V01 happy path with commitment and CVE, no human","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V01","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V01","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V01","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V01","role":"PatchTracking","action":{"type":"DevelopPatch","v":"V1"},"expect":"approved"}
{"at":"2026-02-10T00:00:00Z","entity":"V01","role":"PatchTracking","action":{"type":"ReviewPatch","v":"V1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V01","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-03-02T00:00:00Z","entity":"V01","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V01","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V01","role":"Disclosure","action":{"type":"AssertReadiness","v":"V1"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V01","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","hashes":["e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540"],"cve":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V02","init":{},"title":"V02 patch out but deadline not elapsed","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V02","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V02","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V02","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V02","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-03-02T00:00:00Z","entity":"V02","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:EMBARGO_ENFORCEMENT"}
{"at":"2026-01-01T00:00:00Z","entity":"V03","init":{},"title":"V03 deadline elapsed without a patch; the patch comes later","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V03","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V03","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V03","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V03","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1"},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:00Z","entity":"V03","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"EMBARGO_ELAPSED"},"expect":"approved"}
{"at":"2026-04-20T00:00:00Z","entity":"V03","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V04","init":{},"title":"V04 publicly known bypasses embargo and patch","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V04","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V04","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V04","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-20T00:00:00Z","entity":"V04","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"public","value":null},"expect":"approved"}
{"at":"2026-01-20T00:00:00Z","entity":"V04","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"PUBLIC_KNOWLEDGE"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V05","init":{},"title":"V05 exploited in the wild: early disclosure escalates","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V05","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V05","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V05","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V05","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"exploited","value":null},"expect":"approved"}
{"at":"2026-02-03T00:00:00Z","entity":"V05","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-02-04T00:00:00Z","entity":"V05","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"escalated:EMBARGO_ENFORCEMENT"}
{"at":"2026-02-04T10:00:00Z","entity":"V05","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"waivers":{"add":[["EMBARGO_ENFORCEMENT","V1"]]}},"expect":"cCommitted:safe"}
{"at":"2026-02-05T00:00:00Z","entity":"V05","role":"Disclosure","action":{"type":"AssertReadiness","v":"V1"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V06","init":{},"title":"V06 no embargo agreed and no fix","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V06","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V06","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V06","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1","embargo":false},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"V06","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"EMBARGO_ELAPSED"},"expect":"rejected:PATCH_BEFORE_DISCLOSURE"}
{"at":"2026-01-01T00:00:00Z","entity":"V07","init":{},"title":"V07 rate limit: 4th report in 7 days, other maintainer, next window","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"Intake","v":"V3","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"Intake","v":"V4","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"Intake","v":"V5","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-04T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R2","v":"V2","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R3","v":"V3","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R4","v":"V4","org":"kernel.org","maint":"nfsd"},"expect":"rejected:MAINTAINER_RATE_LIMIT"}
{"at":"2026-01-06T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R4","v":"V4","org":"kernel.org","maint":"ext4"},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"V07","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R5","v":"V5","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V08","init":{},"title":"V08 commitments: duplicate, unknown, wrong opening, resolved twice","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V08","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"exploit","v":"V1"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-04T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"db722d6028a82ae2d1c62a66c9179bb781212a9144561bee25aa2697cf56e300","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-04T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"850518845296915f3aac560fe1240804135b356c547d7366e2b0c5541e1177f2"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-04T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V08","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-01T00:00:00Z","entity":"V09","init":{},"title":"V09 co-disclosure: before the joint date, member not ready, then joint","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["glibc"]},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R2","v":"V2","org":"glibc","maint":"malloc"},"expect":"approved"}
{"at":"2026-01-12T00:00:00Z","entity":"V09","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R2"},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":["V1","V2"],"planned":"2026-04-20T00:00:00Z"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V09","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-03-15T00:00:00Z","entity":"V09","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V2","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-15T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"AssertReadiness","v":"V1"},"expect":"approved"}
{"at":"2026-04-15T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:DISCLOSURE_TIMELINE_CONSISTENCY"}
)jsonl"
    R"jsonl({"at":"2026-04-20T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:DISCLOSURE_TIMELINE_CONSISTENCY"}
{"at":"2026-04-20T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"AssertReadiness","v":"V2"},"expect":"approved"}
{"at":"2026-04-20T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-20T00:00:00Z","entity":"V09","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V2","patchLink":"https://sourceware.org/g/1"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V10","init":{},"title":"V10 co-disclosure: a leak escalates","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["glibc"]},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R2","v":"V2","org":"glibc","maint":"malloc"},"expect":"approved"}
{"at":"2026-01-12T00:00:00Z","entity":"V10","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R2"},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V10","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":["V1","V2"],"planned":"2026-04-20T00:00:00Z"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V10","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"public","value":null},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V10","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"PUBLIC_KNOWLEDGE"},"expect":"escalated:DISCLOSURE_TIMELINE_CONSISTENCY"}
{"at":"2026-03-01T00:00:00Z","entity":"V10","role":"Disclosure","action":{"type":"AssertReadiness","v":"V1"},"expect":"frozen"}
{"at":"2026-03-01T01:00:00Z","entity":"V10","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"waivers":{"add":[["DISCLOSURE_TIMELINE_CONSISTENCY","V1"]]}},"expect":"cCommitted:safe"}
{"at":"2026-01-01T00:00:00Z","entity":"V11","init":{},"title":"V11 confinement: notes across organisations, wrong recipient","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V11","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V11","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["glibc"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"V11","role":"ReporterCoordination","action":{"type":"Intake","v":"V3","orgs":["kernel.org","curl"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V11","role":"PatchTracking","action":{"type":"DevelopPatch","v":"V1","mentions":["V2"]},"expect":"rejected:RECEIVING_ORG_CONFINEMENT"}
{"at":"2026-01-03T00:00:00Z","entity":"V11","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"glibc","maint":"malloc"},"expect":"rejected:RECEIVING_ORG_CONFINEMENT"}
{"at":"2026-01-03T00:00:00Z","entity":"V11","role":"PatchTracking","action":{"type":"DevelopPatch","v":"V1","mentions":["V3"]},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V12","init":{},"title":"V12 CVE ids: wrong, missing, requested despite deduplication, conflicting","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V12","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V12","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V12","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V12","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-03-02T00:00:00Z","entity":"V12","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"dedup","value":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-03-03T00:00:00Z","entity":"V12","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"request","value":null},"expect":"rejected:CVE_ATTRIBUTION_CONSISTENCY"}
{"at":"2026-04-03T00:00:00Z","entity":"V12","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","cve":"CVE-2026-10002"},"expect":"rejected:CVE_ATTRIBUTION_CONSISTENCY"}
{"at":"2026-04-03T00:00:00Z","entity":"V12","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:CVE_ATTRIBUTION_CONSISTENCY"}
{"at":"2026-04-03T00:00:00Z","entity":"V12","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-10002"},"expect":"escalated:CVE_ATTRIBUTION_CONSISTENCY"}
{"at":"2026-04-03T01:00:00Z","entity":"V12","counselor":"psirt.lead","decision":"reject","reason":"reviewed","expect":"cRejected"}
{"at":"2026-04-04T00:00:00Z","entity":"V12","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","cve":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V13","init":{},"title":"V13 CVE uniqueness: two observations collide","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V13","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V13","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V13","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V13","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V13","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-1"},"expect":"approved"}
{"at":"2026-02-02T00:00:00Z","entity":"V13","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V2","what":"cve","value":"CVE-2026-1"},"expect":"escalated:CVE_ATTRIBUTION_UNIQUENESS"}
{"at":"2026-02-02T09:00:00Z","entity":"V13","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"vuln.phase":{"V2":"WITHDRAWN"},"phase.log":{"V2":[["DISCOVERED","2026-01-06T00:00:00Z"],["TRIAGED","2026-01-06T00:00:00Z"],["WITHDRAWN","2026-02-02T09:00:00Z"]]}},"expect":"cCommitted:safe"}
{"at":"2026-01-01T00:00:00Z","entity":"V14","init":{},"title":"V14 completeness: unresolved hash cited, resolved hash omitted, nobody credited","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V14","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V14","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V14","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V14","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V14","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V14","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","hashes":["e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540"]},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:00Z","entity":"V14","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V14","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:00Z","entity":"V14","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","hashes":["e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540"],"attribution":[]},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:00Z","entity":"V14","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc","hashes":["e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540"]},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V15","init":{},"title":"V15 extensions: 14 days, then one more","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V15","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V15","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V15","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"V15","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":14},"expect":"approved"}
{"at":"2026-03-02T00:00:00Z","entity":"V15","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":1},"expect":"escalated:EMBARGO_ENFORCEMENT"}
{"at":"2026-03-02T01:00:00Z","entity":"V15","counselor":"psirt.lead","decision":"reject","reason":"reviewed","expect":"cRejected"}
{"at":"2026-03-03T00:00:00Z","entity":"V15","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-16T23:59:59Z","entity":"V15","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:EMBARGO_ENFORCEMENT"}
{"at":"2026-04-17T00:00:00Z","entity":"V15","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V16","init":{},"title":"V16 phase path: disclosure straight from REPORTED; role confinement","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V16","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V16","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-05-01T00:00:00Z","entity":"V16","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"EMBARGO_ELAPSED"},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-05-02T00:00:00Z","entity":"V16","role":"PatchTracking","action":{"type":"ExecuteDisclosure","v":"V1"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-01T00:00:00Z","entity":"V17","init":{},"title":"V17 CVE id, opening and patch after the disclosure break no history","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V17","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V17","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V17","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V17","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"V17","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"EMBARGO_ELAPSED"},"expect":"approved"}
{"at":"2026-04-04T00:00:00Z","entity":"V17","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-04-05T00:00:00Z","entity":"V17","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
)jsonl"
    R"jsonl({"at":"2026-04-06T00:00:00Z","entity":"V17","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"V18","init":{},"title":"V18 CVE uniqueness against an internal claim; unknown group member","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"V18","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"V18","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"V18","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"V18","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"V18","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-1"},"expect":"approved"}
{"at":"2026-02-02T00:00:00Z","entity":"V18","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V2","what":"dedup","value":"CVE-2026-1"},"expect":"rejected:CVE_ATTRIBUTION_UNIQUENESS"}
{"at":"2026-02-03T00:00:00Z","entity":"V18","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":["V1","V9"],"planned":"2026-04-20T00:00:00Z"},"expect":"rejected:VULN_REF_INTEGRITY"}
{"at":"2026-01-01T00:00:00Z","entity":"E01","init":{},"title":"E01 rate limit: the window is open at its start, a resent report moves, simultaneous ones all count","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V3","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V4","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V5","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V6","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"Intake","v":"V7","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R2","v":"V2","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R3","v":"V3","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R4","v":"V4","org":"kernel.org","maint":"nfsd"},"expect":"rejected:MAINTAINER_RATE_LIMIT"}
{"at":"2026-01-09T23:59:59Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R4","v":"V4","org":"kernel.org","maint":"nfsd"},"expect":"rejected:MAINTAINER_RATE_LIMIT"}
{"at":"2026-01-09T23:59:59Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R4","v":"V4","org":"kernel.org","maint":"ext4"},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R5","v":"V5","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R6","v":"V6","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R7","v":"V7","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-10T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R8","v":"V7","org":"kernel.org","maint":"nfsd"},"expect":"rejected:MAINTAINER_RATE_LIMIT"}
{"at":"2026-01-11T00:00:00Z","entity":"E01","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R5","v":"V5","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E02","init":{},"title":"E02 the embargo ends at its deadline, not a second earlier","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E02","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E02","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E02","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"E02","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-02T23:59:59Z","entity":"E02","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"rejected:EMBARGO_ENFORCEMENT"}
{"at":"2026-04-03T00:00:00Z","entity":"E02","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E03","init":{},"title":"E03 known after the disclosure, or at the same instant","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E03","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E03","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E03","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"E03","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"EMBARGO_ELAPSED"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"E03","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"E03","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:00Z","entity":"E03","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"rejected:DISCLOSURE_COMPLETENESS"}
{"at":"2026-04-03T00:00:01Z","entity":"E03","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
{"at":"2026-04-03T00:00:01Z","entity":"E03","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-03T00:00:01Z","entity":"E03","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-10001"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E04","init":{},"title":"E04 a vulnerability taken in twice, unknown ones, unknown words","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"rumour","value":null},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":null},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V9","what":"public","value":null},"expect":"rejected:VULN_REF_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"PatchTracking","action":{"type":"ReviseSeverity","v":"V9","sev":"HIGH"},"expect":"rejected:VULN_REF_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"Disclosure","action":{"type":"AssertReadiness","v":"V9"},"expect":"rejected:VULN_REF_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V9"},"expect":"rejected:VULN_REF_INTEGRITY"}
{"at":"2026-01-03T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V9","org":"kernel.org","maint":"nfsd"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-05T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R9"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-05T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":1},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-05T00:00:00Z","entity":"E04","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V9","noPatchReason":"PUBLIC_KNOWLEDGE"},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-01-04T00:00:00Z","entity":"E04","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R9"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-01T00:00:00Z","entity":"E05","init":{},"title":"E05 acknowledged twice; reported again after the embargo began","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-01-06T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R2","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E05","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R2"},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-01-01T00:00:00Z","entity":"E06","init":{},"title":"E06 publicly known: disclosure straight from REPORTED, but not from TRIAGED","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E06","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E06","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"public","value":null},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E06","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"PUBLIC_KNOWLEDGE"},"expect":"rejected:VULN_PHASE_PATH"}
{"at":"2026-01-04T00:00:00Z","entity":"E06","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-04T00:00:00Z","entity":"E06","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","noPatchReason":"PUBLIC_KNOWLEDGE"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E07","init":{},"title":"E07 malformed commitments; both hashes","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E07","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"E6F118D2E40A2DC29C722398FAB07986D5431B1B2A7FF3565CDBFEB74C2D5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-02T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d554","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
)jsonl"
    R"jsonl({"at":"2026-01-02T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"MD5","artifact":"report","v":"V1"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-02T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"2acdccc3e0afb50f4ca4c778325ca636eddd264741180ec0149bcf318939aa20","alg":"SHA-256","artifact":"proof of concept","v":"V1"},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"2acdccc3e0afb50f4ca4c778325ca636eddd264741180ec0149bcf318939aa20","nonce":"0707070707070707070707070707070707070707070707070707070707070707","digest":"64B76B0569BD83CECDF50FC76B797AB4ADBAB939017DC356DD126B2C972286CE"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-03T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"2acdccc3e0afb50f4ca4c778325ca636eddd264741180ec0149bcf318939aa20","nonce":"0707070707070707070707070707070707070707070707070707070707070707","digest":"64b76b0569bd83cecdf50fc76b797ab4adbab939017dc356dd126b2c972286ce"},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"00","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-01-03T00:00:00Z","entity":"E07","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E08","init":{},"title":"E08 a patch taken back; notes of the disclosed","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E08","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E08","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E08","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1","embargo":false},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"E08","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-02-02T00:00:00Z","entity":"E08","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-02-03T00:00:00Z","entity":"E08","role":"PatchTracking","action":{"type":"DevelopPatch","v":"V1"},"expect":"rejected:PATCH_BEFORE_DISCLOSURE"}
{"at":"2026-02-03T00:00:00Z","entity":"E08","role":"PatchTracking","action":{"type":"ReviseSeverity","v":"V1","sev":"HIGH"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E09","init":{},"title":"E09 groups: a member joins late, the date moves","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E09","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E09","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E09","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E09","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E09","role":"ReporterCoordination","action":{"type":"Intake","v":"V3","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"E09","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"E09","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":["V1"],"planned":"2026-04-03T00:00:00Z"},"expect":"approved"}
{"at":"2026-04-03T00:00:00Z","entity":"E09","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-04-04T00:00:00Z","entity":"E09","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":["V2"],"planned":"2026-04-03T00:00:00Z"},"expect":"rejected:DISCLOSURE_TIMELINE_CONSISTENCY"}
{"at":"2026-04-04T00:00:00Z","entity":"E09","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G1","members":[],"planned":"2026-04-03T00:00:01Z"},"expect":"rejected:DISCLOSURE_TIMELINE_CONSISTENCY"}
{"at":"2026-04-04T00:00:00Z","entity":"E09","role":"Disclosure","action":{"type":"FormCoDisclosureGroup","g":"G2","members":["V2","V3"],"planned":"2026-04-03T00:00:00Z"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E10","init":{},"title":"E10 an unsafe commit is flagged, and one that waives is not","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E10","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E10","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E10","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"E10","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":15},"expect":"escalated:EMBARGO_ENFORCEMENT"}
{"at":"2026-03-01T01:00:00Z","entity":"E10","counselor":"agent.reporter","decision":"commit","reason":"reviewed","base":"candidate","edit":{},"expect":"refused"}
{"at":"2026-03-01T02:00:00Z","entity":"E10","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"waivers":{"add":[["EMBARGO_ENFORCEMENT","V1"]]}},"expect":"cCommitted:safe"}
{"at":"2026-03-02T00:00:00Z","entity":"E10","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":30},"expect":"approved"}
{"at":"2026-03-02T00:00:00Z","entity":"E10","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{},"expect":"refused"}
{"at":"2026-01-01T00:00:00Z","entity":"E11","init":{},"title":"E11 two claims of one id, one of them inside: merge instead; waived per id","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E11","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E11","role":"ReporterCoordination","action":{"type":"Intake","v":"V2","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-02T00:00:00Z","entity":"E11","role":"ReporterCoordination","action":{"type":"Intake","v":"V3","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-02-01T00:00:00Z","entity":"E11","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"dedup","value":"CVE-2026-1"},"expect":"approved"}
{"at":"2026-02-02T00:00:00Z","entity":"E11","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V2","what":"cve","value":"CVE-2026-1"},"expect":"rejected:CVE_ATTRIBUTION_UNIQUENESS"}
{"at":"2026-02-02T00:00:00Z","entity":"E11","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V2","what":"cve","value":"CVE-2026-2"},"expect":"approved"}
{"at":"2026-02-02T00:00:00Z","entity":"E11","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V3","what":"cve","value":"CVE-2026-2"},"expect":"escalated:CVE_ATTRIBUTION_UNIQUENESS"}
{"at":"2026-02-03T00:00:00Z","entity":"E11","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"waivers":{"add":[["CVE_ATTRIBUTION_UNIQUENESS","CVE-2026-2"]]}},"expect":"cCommitted:safe"}
{"at":"2026-02-04T00:00:00Z","entity":"E11","role":"PatchTracking","action":{"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-2"},"expect":"escalated:CVE_ATTRIBUTION_CONSISTENCY"}
{"at":"2026-02-04T01:00:00Z","entity":"E11","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"cve.dedup":{"V1":"CVE-2026-2"}},"expect":"cCommitted:safe"}
{"at":"2026-01-01T00:00:00Z","entity":"E12","init":{},"title":"E12 arguments beyond the calendar","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1","baseDays":9223372036854775807},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-05T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1","baseDays":-9223372036854775808},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-05T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1","baseDays":0},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":9223372036854775807},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-01-06T00:00:00Z","entity":"E12","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":-3},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E12","role":"PatchTracking","action":{"type":"ReleaseFix","v":"V1","ref":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-06T00:00:00Z","entity":"E12","role":"Disclosure","action":{"type":"ExecuteDisclosure","v":"V1","patchLink":"https://git.kernel.org/c/abc"},"expect":"approved"}
{"at":"2026-01-01T00:00:00Z","entity":"E13","init":{},"title":"E13 a log edited by hand takes facts at its end","expect":"initialised"}
{"at":"2026-01-02T00:00:00Z","entity":"E13","role":"ReporterCoordination","action":{"type":"Intake","v":"V1","orgs":["kernel.org"]},"expect":"approved"}
{"at":"2026-01-03T00:00:00Z","entity":"E13","role":"ReporterCoordination","action":{"type":"SubmitReport","r":"R1","v":"V1","org":"kernel.org","maint":"nfsd"},"expect":"approved"}
{"at":"2026-01-05T00:00:00Z","entity":"E13","role":"ReporterCoordination","action":{"type":"RecordAcknowledgment","r":"R1"},"expect":"approved"}
{"at":"2026-03-01T00:00:00Z","entity":"E13","role":"ReporterCoordination","action":{"type":"ExtendEmbargo","v":"V1","days":15},"expect":"escalated:EMBARGO_ENFORCEMENT"}
{"at":"2026-03-01T01:00:00Z","entity":"E13","counselor":"psirt.lead","decision":"commit","reason":"reviewed","base":"candidate","edit":{"waivers":{"add":[["EMBARGO_ENFORCEMENT","V1"]]},"commit.log":{"add":[{"hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","vuln":"V1","at":"2026-03-01T01:00:00Z"}]}},"expect":"cCommitted:safe"}
{"at":"2026-03-02T00:00:00Z","entity":"E13","role":"CommitmentManagement","action":{"type":"PublishCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","alg":"SHA3-256","artifact":"report","v":"V1"},"expect":"rejected:COMMITMENT_REGISTRY_CONSISTENCY"}
{"at":"2026-03-02T00:00:00Z","entity":"E13","role":"CommitmentManagement","action":{"type":"ResolveCommitment","hash":"e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540","nonce":"0000000000000000000000000000000000000000000000000000000000000000","digest":"ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741"},"expect":"approved"}
)jsonl";

}  // namespace witan::domains::disclosure
