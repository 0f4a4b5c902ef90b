// Scenarios shipped with the domain: run by `witan domain test udt` and by the tests.
//
// U01 to U19 are the ones of the domain's rules, one entity each; E01 and on are edges of the rules and of the commit
// discipline. Every expectation was derived from the rules, not from what the program answered.
#include "domains/udt/udt.h"

namespace witan::domains::udt {

const std::string_view Udt::scenarios =
    R"jsonl({"at":"2026-03-23T08:00:00Z","entity":"U01","init":{"baselinePositiveOn":"2025-12-01"},"title":"U01 happy path: definitive test, result, claim","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O1","text":"individual plan for O1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U01","role":"LabOrder","action":{"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T15:00:00Z","entity":"U01","role":"Clinical","action":{"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T16:00:00Z","entity":"U01","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"O1","code":"G0480","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U02","init":{"baselinePositiveOn":"2025-12-01"},"title":"U02 David","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O1","text":"individual plan for O1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T15:00:00Z","entity":"U02","role":"Clinical","action":{"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T16:00:00Z","entity":"U02","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"O1","code":"G0480","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O2","text":"individual plan for O2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-26T09:20:00Z","entity":"U02","role":"Clinical","action":{"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-26T10:00:00Z","entity":"U02","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-26T11:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O3","text":"individual plan for O3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T11:00:00Z","entity":"U02","role":"LabOrder","action":{"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2","coverage":"AHCCCS"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-23T08:00:00Z","entity":"U03","init":{"baselinePositiveOn":"2025-12-01"},"title":"U03 re-ordered as not covered, then billed anyway","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"DocumentRationale","order":"O1","text":"individual plan for O1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T15:00:00Z","entity":"U03","role":"Clinical","action":{"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T16:00:00Z","entity":"U03","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"O1","code":"G0480","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"DocumentRationale","order":"O2","text":"individual plan for O2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-26T09:20:00Z","entity":"U03","role":"Clinical","action":{"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-26T10:00:00Z","entity":"U03","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-26T11:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"DocumentRationale","order":"O3","text":"individual plan for O3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T11:00:00Z","entity":"U03","role":"LabOrder","action":{"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2","coverage":"AHCCCS"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-26T11:30:00Z","entity":"U03","role":"LabOrder","action":{"type":"DocumentRationale","order":"O4","text":"individual plan for O4","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T11:30:00Z","entity":"U03","role":"LabOrder","action":{"type":"OrderTest","order":"O4","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2","coverage":"NONE"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U03","role":"Clinical","action":{"type":"RecordResult","order":"O4","outcome":"NEGATIVE","on":"2026-03-27"},"expect":"approved"}
{"at":"2026-03-27T10:00:00Z","entity":"U03","role":"Billing","action":{"type":"SubmitClaim","claim":"C4","order":"O4","code":"G0480","dos":"2026-03-26"},"expect":"rejected:UDT_CLAIM_MATCHES_ORDER"}
{"at":"2026-03-23T08:00:00Z","entity":"U04","init":{"baselinePositiveOn":"2025-12-01"},"title":"U04 the window after a relapse: day 6 no, day 7 yes","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"DocumentRationale","order":"O1","text":"individual plan for O1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T15:00:00Z","entity":"U04","role":"Clinical","action":{"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T16:00:00Z","entity":"U04","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"O1","code":"G0480","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"DocumentRationale","order":"O2","text":"individual plan for O2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-26T09:20:00Z","entity":"U04","role":"Clinical","action":{"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-26T10:00:00Z","entity":"U04","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-26T11:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"DocumentRationale","order":"O3","text":"individual plan for O3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T11:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2","coverage":"AHCCCS"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-29T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"DocumentRationale","order":"O5","text":"individual plan for O5","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-29T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"OrderTest","order":"O5","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-29"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-30T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"DocumentRationale","order":"O6","text":"individual plan for O6","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"U04","role":"LabOrder","action":{"type":"OrderTest","order":"O6","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-30"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U05","init":{"baselinePositiveOn":"2025-12-01"},"title":"U05 an immunoassay confirms nothing and defines nothing","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"P2","text":"individual plan for P2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"P2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-25","confirms":"P1"},"expect":"rejected:UDT_NO_IMMUNOASSAY_CONFIRMATION"}
{"at":"2026-03-25T09:05:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:05:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"IMMUNOASSAY","dos":"2026-03-25"},"expect":"rejected:UDT_NO_IMMUNOASSAY_CONFIRMATION"}
{"at":"2026-03-25T09:06:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"D2","text":"individual plan for D2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:06:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"D2","kind":"DEFINITIVE","code":"G0480","method":"ENZYMATIC","dos":"2026-03-25"},"expect":"rejected:UDT_NO_IMMUNOASSAY_CONFIRMATION"}
{"at":"2026-03-26T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"D3","text":"individual plan for D3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"D3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"DocumentRationale","order":"D4","text":"individual plan for D4","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U05","role":"LabOrder","action":{"type":"OrderTest","order":"D4","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-27","confirms":"D3"},"expect":"rejected:UDT_NO_IMMUNOASSAY_CONFIRMATION"}
{"at":"2026-03-23T08:00:00Z","entity":"U06","init":{"baselinePositiveOn":"2025-12-01"},"title":"U06 no rationale, a standing order, a blank or short text","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_CLINICAL_RATIONALE"}
{"at":"2026-03-24T10:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"STANDING"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"OrderTest","order":"B","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_CLINICAL_RATIONALE"}
{"at":"2026-03-24T11:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"            ","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T11:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"OrderTest","order":"C","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_CLINICAL_RATIONALE"}
{"at":"2026-03-24T11:10:00Z","entity":"U06","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"  123456789  ","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T11:10:00Z","entity":"U06","role":"LabOrder","action":{"type":"OrderTest","order":"C","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_CLINICAL_RATIONALE"}
{"at":"2026-03-24T11:20:00Z","entity":"U06","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"äöüäöüäöüä","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T11:20:00Z","entity":"U06","role":"LabOrder","action":{"type":"OrderTest","order":"C","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T12:00:00Z","entity":"U06","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"individual plan for C","kind":"STANDING"},"expect":"rejected:UDT_CLINICAL_RATIONALE"}
{"at":"2026-03-23T08:00:00Z","entity":"U07","init":{"baselinePositiveOn":"2025-12-01"},"title":"U07 one presumptive and one definitive per date of service","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T15:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"DocumentRationale","order":"P2","text":"individual plan for P2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T15:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"OrderTest","order":"P2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"rejected:UDT_ONE_PER_DOS"}
{"at":"2026-03-24T15:05:00Z","entity":"U07","role":"LabOrder","action":{"type":"OrderTest","order":"P2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24","coverage":"NONE"},"expect":"approved"}
{"at":"2026-03-25T15:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"DocumentRationale","order":"P3","text":"individual plan for P3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T15:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"OrderTest","order":"P3","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"rejected:UDT_ONE_PER_DOS"}
{"at":"2026-03-25T16:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"DocumentRationale","order":"P4","text":"individual plan for P4","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T16:00:00Z","entity":"U07","role":"LabOrder","action":{"type":"OrderTest","order":"P4","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-01-01T08:00:00Z","entity":"U08","init":{"baselinePositiveOn":"2025-06-01"},"title":"U08 tier 90+: three definitive tests in any 90 days","expect":"initialised"}
{"at":"2026-01-02T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O01-02","text":"individual plan for O01-02","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-01-02T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O01-02","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-01-02"},"expect":"approved"}
{"at":"2026-01-02T15:00:00Z","entity":"U08","role":"Clinical","action":{"type":"RecordResult","order":"O01-02","outcome":"NEGATIVE","on":"2026-01-02"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O02-01","text":"individual plan for O02-01","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O02-01","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-02-01"},"expect":"approved"}
{"at":"2026-02-01T15:00:00Z","entity":"U08","role":"Clinical","action":{"type":"RecordResult","order":"O02-01","outcome":"NEGATIVE","on":"2026-02-01"},"expect":"approved"}
{"at":"2026-03-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O03-01","text":"individual plan for O03-01","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O03-01","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-01"},"expect":"approved"}
{"at":"2026-03-01T15:00:00Z","entity":"U08","role":"Clinical","action":{"type":"RecordResult","order":"O03-01","outcome":"NEGATIVE","on":"2026-03-01"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O03-30","text":"individual plan for O03-30","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O03-30","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-30"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-04-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O04-01","text":"individual plan for O04-01","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-04-01T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O04-01","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-04-01"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-04-02T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"DocumentRationale","order":"O04-02","text":"individual plan for O04-02","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-04-02T09:00:00Z","entity":"U08","role":"LabOrder","action":{"type":"OrderTest","order":"O04-02","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-04-02"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U09","init":{"baselinePositiveOn":"2025-12-01"},"title":"U09 code and kind disagree, both ways","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"80307","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_CODE_KIND"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"OrderTest","order":"B","kind":"PRESUMPTIVE","code":"G0480","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"rejected:UDT_CODE_KIND"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"individual plan for C","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"OrderTest","order":"C","kind":"PRESUMPTIVE","code":"80320","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"rejected:UDT_CODE_KIND"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"DocumentRationale","order":"D","text":"individual plan for D","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U09","role":"LabOrder","action":{"type":"OrderTest","order":"D","kind":"DEFINITIVE","code":"G0659","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U10","init":{"baselinePositiveOn":"2026-03-18"},"title":"U10 a tier that the days do not carry","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U10","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D90P"},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-03-24T09:00:00Z","entity":"U10","role":"Clinical","action":{"type":"AdvanceAbstinence","days":95},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-03-24T09:00:00Z","entity":"U10","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D0_30","days":6},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U10","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D365"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-23T08:00:00Z","entity":"U11","init":{"baselinePositiveOn":"2025-12-01"},"title":"U11 frozen while a human thinks; a stranger's decision; a counselor's no","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U11","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U11","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"U11","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T10:05:00Z","entity":"U11","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"frozen"}
{"at":"2026-03-24T10:05:00Z","entity":"U11","role":"Clinical","action":{"type":"AdvanceAbstinence"},"expect":"frozen"}
{"at":"2026-03-24T10:06:00Z","entity":"U11","counselor":"agent.billing","decision":"commit","base":"candidate","edit":{},"reason":"reviewed","expect":"refused"}
{"at":"2026-03-24T10:06:00Z","entity":"U11","counselor":"agent.billing","decision":"reject","reason":"specimen mix-up","expect":"refused"}
{"at":"2026-03-24T10:07:00Z","entity":"U11","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up","expect":"cRejected"}
{"at":"2026-03-24T10:07:00Z","entity":"U11","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up","expect":"refused"}
{"at":"2026-03-24T10:08:00Z","entity":"U11","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T10:09:00Z","entity":"U11","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U12","init":{"baselinePositiveOn":"2025-12-01"},"title":"U12 claims: before the result, twice, voided and billed again","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U12","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U12","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"U12","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"rejected:UDT_CLAIM_AFTER_RESULT"}
{"at":"2026-03-25T10:00:00Z","entity":"U12","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T11:00:00Z","entity":"U12","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T12:00:00Z","entity":"U12","role":"Billing","action":{"type":"SubmitClaim","claim":"C2","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"rejected:UDT_CLAIM_UNIQUE"}
{"at":"2026-03-25T13:00:00Z","entity":"U12","role":"Billing","action":{"type":"VoidClaim","claim":"C1"},"expect":"approved"}
{"at":"2026-03-25T14:00:00Z","entity":"U12","role":"Billing","action":{"type":"SubmitClaim","claim":"C2","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T15:00:00Z","entity":"U12","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"rejected:UDT_CLAIM_UNIQUE"}
{"at":"2026-03-25T16:00:00Z","entity":"U12","role":"Billing","action":{"type":"VoidClaim","claim":"C9"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-23T08:00:00Z","entity":"U13","init":{"baselinePositiveOn":"2025-12-01"},"title":"U13 a definitive test on the day of a negative presumptive one needs a reason, or a waiver","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U13","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U13","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T09:20:00Z","entity":"U13","role":"Clinical","action":{"type":"RecordResult","order":"P1","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"U13","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"U13","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"escalated:UDT_SAME_DAY_DEFINITIVE"}
{"at":"2026-03-24T11:00:00Z","entity":"U13","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"waivers":{"add":[["UDT_SAME_DAY_DEFINITIVE","D1"]]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-25T09:00:00Z","entity":"U13","role":"Clinical","action":{"type":"RecordResult","order":"D1","outcome":"NEGATIVE","on":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-25T10:00:00Z","entity":"U13","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"D1","code":"G0480","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U14","init":{"baselinePositiveOn":"2026-02-22"},"title":"U14 tier edges: day 29, 30, 31, 32, 33","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"DocumentRationale","order":"O23","text":"individual plan for O23","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"OrderTest","order":"O23","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"DocumentRationale","order":"O24","text":"individual plan for O24","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"OrderTest","order":"O24","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-25T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"DocumentRationale","order":"O25","text":"individual plan for O25","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"OrderTest","order":"O25","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"DocumentRationale","order":"O26","text":"individual plan for O26","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"OrderTest","order":"O26","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"DocumentRationale","order":"O27","text":"individual plan for O27","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U14","role":"LabOrder","action":{"type":"OrderTest","order":"O27","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-27"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-23T08:00:00Z","entity":"U15","init":{"baselinePositiveOn":"2025-12-01"},"title":"U15 a late positive does not break what was ordered before it was known","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"DocumentRationale","order":"D2","text":"individual plan for D2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"OrderTest","order":"D2","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U15","role":"Clinical","action":{"type":"RecordResult","order":"P1","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-26T10:00:00Z","entity":"U15","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"P1":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-26T11:00:00Z","entity":"U15","role":"Clinical","action":{"type":"RecordResult","order":"D2","outcome":"NEGATIVE","on":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"U15","role":"Clinical","action":{"type":"AdvanceAbstinence"},"expect":"approved"}
{"at":"2026-03-27T10:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"DocumentRationale","order":"D3","text":"individual plan for D3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-27T10:00:00Z","entity":"U15","role":"LabOrder","action":{"type":"OrderTest","order":"D3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-27"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-23T08:00:00Z","entity":"U16","init":{"baselinePositiveOn":"2025-12-01"},"title":"U16 another role's action; time that goes back","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U16","role":"Billing","action":{"type":"AdvanceAbstinence"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-22T09:00:00Z","entity":"U16","role":"Clinical","action":{"type":"AdvanceAbstinence"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-24T09:00:00Z","entity":"U16","role":"Nobody","action":{"type":"AdvanceAbstinence"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-24T09:00:00Z","entity":"U16","role":"Clinical","action":{"type":"AdvanceAbstinence"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U17","init":{"baselinePositiveOn":"2026-03-10"},"title":"U17 a back-dated order does not dodge the window","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"B","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-20"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-25T10:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"individual plan for C","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T10:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"C","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-18"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-25T11:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"D","text":"individual plan for D","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T11:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"D","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-17"},"expect":"approved"}
{"at":"2026-03-25T12:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"E","text":"individual plan for E","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T12:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"E","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-30"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-25T13:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"DocumentRationale","order":"F","text":"individual plan for F","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T13:00:00Z","entity":"U17","role":"LabOrder","action":{"type":"OrderTest","order":"F","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-31"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"U18","init":{"baselinePositiveOn":"2025-12-01"},"title":"U18 a claim, a result and a confirmation of orders that do not exist","expect":"initialised"}
{"at":"2026-03-23T16:00:00Z","entity":"U18","role":"Billing","action":{"type":"SubmitClaim","claim":"C1","order":"NOPE","code":"G0480","dos":"2026-03-23"},"expect":"rejected:UDT_REF_INTEGRITY"}
{"at":"2026-03-23T16:00:00Z","entity":"U18","role":"Clinical","action":{"type":"RecordResult","order":"NOPE","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"rejected:UDT_REF_INTEGRITY"}
{"at":"2026-03-23T17:00:00Z","entity":"U18","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T17:00:00Z","entity":"U18","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","confirms":"NOPE"},"expect":"rejected:UDT_REF_INTEGRITY"}
{"at":"2026-03-23T18:00:00Z","entity":"U18","role":"Clinical","action":{"type":"RecordResult","order":"D1","outcome":"NEGATIVE","on":"2026-03-23"},"expect":"rejected:UDT_REF_INTEGRITY"}
{"at":"2026-03-23T08:00:00Z","entity":"U19","init":{"baselinePositiveOn":"2026-03-10"},"title":"U19 the fourth presumptive test in 7 days","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O23","text":"individual plan for O23","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O23","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O24","text":"individual plan for O24","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O24","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O25","text":"individual plan for O25","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O25","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O26","text":"individual plan for O26","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O26","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"},"expect":"rejected:UDT_PRESUMPTIVE_LIMIT"}
{"at":"2026-03-29T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O29","text":"individual plan for O29","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-29T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O29","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-29"},"expect":"rejected:UDT_PRESUMPTIVE_LIMIT"}
{"at":"2026-03-30T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"DocumentRationale","order":"O30","text":"individual plan for O30","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"U19","role":"LabOrder","action":{"type":"OrderTest","order":"O30","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-30"},"expect":"approved"}
{"at":"2026-02-01T08:00:00Z","entity":"E01","init":{"baselinePositiveOn":"2026-01-01"},"title":"E01 day 90 still allows 3 in 30 days, day 91 only 3 in 90","expect":"initialised"}
{"at":"2026-02-05T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O02-05","text":"individual plan for O02-05","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"OrderTest","order":"O02-05","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-02-05"},"expect":"approved"}
{"at":"2026-02-10T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O02-10","text":"individual plan for O02-10","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-02-10T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"OrderTest","order":"O02-10","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-02-10"},"expect":"approved"}
{"at":"2026-02-15T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O02-15","text":"individual plan for O02-15","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-02-15T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"OrderTest","order":"O02-15","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-02-15"},"expect":"approved"}
{"at":"2026-04-01T08:00:00Z","entity":"E01","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D31_90","days":90},"expect":"approved"}
{"at":"2026-04-01T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O04-01","text":"individual plan for O04-01","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-04-01T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"OrderTest","order":"O04-01","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-04-01"},"expect":"approved"}
{"at":"2026-04-02T08:00:00Z","entity":"E01","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D31_90"},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-04-02T08:00:00Z","entity":"E01","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D90P","days":91},"expect":"approved"}
{"at":"2026-04-02T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"DocumentRationale","order":"O04-02","text":"individual plan for O04-02","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-04-02T09:00:00Z","entity":"E01","role":"LabOrder","action":{"type":"OrderTest","order":"O04-02","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-04-02"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-23T08:00:00Z","entity":"E02","init":{"baselinePositiveOn":"2025-12-01"},"title":"E02 with the answer to a relapse comes a waiver for the confirmation","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O1","text":"individual plan for O1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O2","text":"individual plan for O2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"},"expect":"approved"}
{"at":"2026-03-26T09:20:00Z","entity":"E02","role":"Clinical","action":{"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-26T10:00:00Z","entity":"E02","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","confirm it"]},"waivers":{"add":[["UDT_DEFINITIVE_LIMIT","O3"]]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-26T11:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O3","text":"individual plan for O3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-26T11:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"DocumentRationale","order":"O4","text":"individual plan for O4","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-27T09:00:00Z","entity":"E02","role":"LabOrder","action":{"type":"OrderTest","order":"O4","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-27"},"expect":"rejected:UDT_DEFINITIVE_LIMIT"}
{"at":"2026-03-23T08:00:00Z","entity":"E03","init":{"baselinePositiveOn":"2025-12-01"},"title":"E03 same day: not the earlier one, equal times, a separate reason that is later withdrawn","expect":"initialised"}
{"at":"2026-03-23T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-23T10:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T10:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-23"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"P2","text":"individual plan for P2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"D2","text":"individual plan for D2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"P2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"D2","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"P3","text":"individual plan for P3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-25T09:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"P3","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-25T10:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"D3","text":"individual plan for D3","kind":"IA_NOT_AVAILABLE"},"expect":"approved"}
{"at":"2026-03-25T10:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"OrderTest","order":"D3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-25T11:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"D3","text":"individual plan for D3","kind":"UNEXPECTED_RESULT"},"expect":"approved"}
{"at":"2026-03-25T12:00:00Z","entity":"E03","role":"LabOrder","action":{"type":"DocumentRationale","order":"D3","text":"individual plan for D3","kind":"INDIVIDUAL"},"expect":"escalated:UDT_SAME_DAY_DEFINITIVE"}
{"at":"2026-03-25T13:00:00Z","entity":"E03","counselor":"dr.supervising","decision":"reject","reason":"keep the reason","expect":"cRejected"}
{"at":"2026-03-23T08:00:00Z","entity":"E04","init":{"baselinePositiveOn":"2026-03-20"},"title":"E04 same day: the confirmation of a positive result, and of another order","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"DocumentRationale","order":"P1","text":"individual plan for P1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"OrderTest","order":"P1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T09:20:00Z","entity":"E04","role":"Clinical","action":{"type":"RecordResult","order":"P1","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T10:00:00Z","entity":"E04","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"P1":["dr.supervising","2026-03-24T10:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-24T11:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"DocumentRationale","order":"D1","text":"individual plan for D1","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T11:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"OrderTest","order":"D1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24","confirms":"P1"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"DocumentRationale","order":"P2","text":"individual plan for P2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-30T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"OrderTest","order":"P2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-30"},"expect":"approved"}
{"at":"2026-03-31T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"DocumentRationale","order":"P3","text":"individual plan for P3","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-31T09:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"OrderTest","order":"P3","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-31"},"expect":"approved"}
{"at":"2026-03-31T10:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"DocumentRationale","order":"D2","text":"individual plan for D2","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-31T10:00:00Z","entity":"E04","role":"LabOrder","action":{"type":"OrderTest","order":"D2","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-31","confirms":"P1"},"expect":"escalated:UDT_SAME_DAY_DEFINITIVE"}
{"at":"2026-03-31T11:00:00Z","entity":"E04","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up","expect":"cRejected"}
{"at":"2026-03-23T08:00:00Z","entity":"E05","init":{"baselinePositiveOn":"2025-12-01"},"title":"E05 a commit that answers nothing is unsafe and keeps escalating until somebody does","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E05","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E05","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E05","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T11:00:00Z","entity":"E05","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{},"reason":"reviewed","expect":"cCommitted:UNSAFE[UDT_RELAPSE_RESPONSE]"}
{"at":"2026-03-24T12:00:00Z","entity":"E05","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T13:00:00Z","entity":"E05","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"A":["dr.supervising","2026-03-24T13:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-24T14:00:00Z","entity":"E05","role":"LabOrder","action":{"type":"DocumentRationale","order":"C","text":"individual plan for C","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"E06","init":{"baselinePositiveOn":"2025-12-01"},"title":"E06 the base: from the current state the result is not recorded","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E06","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E06","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E06","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T11:00:00Z","entity":"E06","counselor":"dr.supervising","decision":"commit","base":"current","edit":{},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-24T12:00:00Z","entity":"E06","role":"Clinical","action":{"type":"AdvanceAbstinence","tier":"D90P","days":113},"expect":"approved"}
{"at":"2026-03-24T12:30:00Z","entity":"E06","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"E07","init":{"baselinePositiveOn":"2025-12-01"},"title":"E07 an operation id names one act; a decision before the clock is refused","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E07","role":"LabOrder","operationId":"e07-1","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E07","role":"LabOrder","operationId":"e07-1","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"duplicate"}
{"at":"2026-03-24T09:01:00Z","entity":"E07","role":"LabOrder","operationId":"e07-1","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"refused"}
{"at":"2026-03-24T09:02:00Z","entity":"E07","role":"LabOrder","operationId":"e07-2","action":{"type":"OrderTest","order":"A","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E07","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T08:59:00Z","entity":"E07","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up","expect":"refused"}
{"at":"2026-03-24T11:00:00Z","entity":"E07","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up","expect":"cRejected"}
{"at":"2026-03-23T08:00:00Z","entity":"E08","init":{"baselinePositiveOn":"2025-12-01"},"title":"E08 results: a day to come, a correction of a positive, a second positive of an answered order","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E08","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E08","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-25"},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-03-24T10:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"escalated:UDT_RELAPSE_RESPONSE"}
{"at":"2026-03-24T11:00:00Z","entity":"E08","counselor":"dr.supervising","decision":"commit","base":"candidate","edit":{"relapse.response":{"A":["dr.supervising","2026-03-24T11:00:00Z","increase monitoring"]}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-03-24T12:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-03-25T09:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-25"},"expect":"approved"}
{"at":"2026-03-25T10:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"POSITIVE","on":"2026-03-24"},"expect":"rejected:UDT_ABSTINENCE_DERIVATION"}
{"at":"2026-03-25T10:00:00Z","entity":"E08","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"MAYBE","on":"2026-03-25"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-23T08:00:00Z","entity":"E09","init":{"baselinePositiveOn":"2025-12-01"},"title":"E09 a claim that does not match its order","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E09","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E09","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E09","role":"Clinical","action":{"type":"RecordResult","order":"A","outcome":"NEGATIVE","on":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T11:00:00Z","entity":"E09","role":"Billing","action":{"type":"SubmitClaim","claim":"C","order":"A","code":"G0481","dos":"2026-03-24"},"expect":"rejected:UDT_CLAIM_MATCHES_ORDER"}
{"at":"2026-03-24T11:00:00Z","entity":"E09","role":"Billing","action":{"type":"SubmitClaim","claim":"C","order":"A","code":"G0480","dos":"2026-03-23"},"expect":"rejected:UDT_CLAIM_MATCHES_ORDER"}
{"at":"2026-03-24T11:00:00Z","entity":"E09","role":"Billing","action":{"type":"SubmitClaim","claim":"C","order":"A","code":"G0480","dos":"2026-03-24","units":2},"expect":"rejected:UDT_CLAIM_MATCHES_ORDER"}
{"at":"2026-03-24T11:00:00Z","entity":"E09","role":"Billing","action":{"type":"SubmitClaim","claim":"C","order":"A","code":"G0480","dos":"2026-03-24","units":1},"expect":"approved"}
{"at":"2026-03-24T12:00:00Z","entity":"E09","role":"Billing","action":{"type":"VoidClaim","claim":"C"},"expect":"approved"}
{"at":"2026-03-24T12:00:00Z","entity":"E09","role":"Billing","action":{"type":"VoidClaim","claim":"C"},"expect":"approved"}
{"at":"2026-03-24T13:00:00Z","entity":"E09","role":"Billing","action":{"type":"SubmitClaim","claim":"C","order":"A","code":"G0480","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-23T08:00:00Z","entity":"E10","init":{"baselinePositiveOn":"2025-12-01"},"title":"E10 faults: an order that exists, words that do not","expect":"initialised"}
{"at":"2026-03-24T09:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan for A","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T09:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"OrderTest","order":"A","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-24"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-24T10:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"BLANKET"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-24T10:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"DocumentRationale","order":"B","text":"individual plan for B","kind":"INDIVIDUAL"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E10","role":"LabOrder","action":{"type":"OrderTest","order":"B","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-24","coverage":"MEDICARE"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-03-23T08:00:00Z","entity":"E11","init":{"baselinePositiveOn":"2025-12-01","consecutiveDays":5},"title":"E11 beginnings that contradict themselves are refused, the same one twice is a repeat","expect":"refused"}
{"at":"2026-03-23T08:00:00Z","entity":"E11","init":{"baselinePositiveOn":"2025-12-01"},"title":"E11 again, consistent","expect":"initialised"}
{"at":"2026-03-23T08:00:00Z","entity":"E11","init":{"baselinePositiveOn":"2025-12-01"},"title":"E11 again","expect":"duplicate"}
{"at":"2026-03-23T08:00:00Z","entity":"E11","init":{"baselinePositiveOn":"2025-12-02"},"title":"E11 another","expect":"refused"}
{"at":"2026-03-24T10:00:00Z","entity":"E11","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan"},"expect":"approved"}
{"at":"2026-03-24T10:00:00Z","entity":"E99","role":"LabOrder","action":{"type":"DocumentRationale","order":"A","text":"individual plan"},"expect":"refused"}
)jsonl";

}  // namespace witan::domains::udt
