// Scenarios shipped with the domain: `witan domain test moderation` runs them.
#include "domains/moderation/moderation.h"

namespace witan::domains::moderation {

const std::string_view Moderation::scenarios =
    R"jsonl({"at":"2026-02-01T09:00:00Z","entity":"A","init":{},"title":"A a label, a notice, a removal, an appeal upheld, and the case closed half a year later","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"A","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"A","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"A","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"A","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-02-06T09:00:00Z","entity":"A","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"UPHELD","by":"human.reviewer"},"expect":"approved"}
{"at":"2026-08-04T09:00:00Z","entity":"A","role":"Enforcement","action":{"type":"CloseCase"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"B","init":{},"title":"B evidence: cited, known, standing, and no later than the action","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"B","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":[]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-02T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-03T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1","L2"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-04T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-04T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L2"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-05T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L3","L1"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-05T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L3"]},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p2","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again"},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-05T09:00:01Z","entity":"B","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again"},"expect":"approved"}
{"at":"2026-02-06T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p2","label":"scam_link","reason":"checked again"},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"B","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p3","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"B","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"User","entity":"p3","label":"scam_link","reason":"checked again"},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"REMOVE_CONTENT","policy":"scam","item":"p3","evidence":["L8"]},"expect":"rejected:UCM_EVIDENCE_REQUIRED"}
{"at":"2026-02-07T09:00:00Z","entity":"B","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"REMOVE_CONTENT","policy":"scam","item":"p3","evidence":["L7"]},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"C","init":{},"title":"C reasons: whole, of that action, and not after it","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"C","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":""},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A9","kind":"WARN","policy":"scam","item":"p9","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"rejected:UCM_STATEMENT_OF_REASONS"}
{"at":"2026-02-04T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"C","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"D","init":{},"title":"D labels: a reason, a kind of entity, a known name","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":""},"expect":"rejected:UCM_LABEL_VALID"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":""},"expect":"rejected:UCM_LABEL_VALID"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"trusted","reason":"rule scam_links v2"},"expect":"rejected:UCM_LABEL_VALID"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"unheard_of","reason":"rule scam_links v2"},"expect":"rejected:UCM_LABEL_VALID"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Comment","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"rejected:UCM_LABEL_VALID"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"User","entity":"u1","label":"trusted","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"D","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2","status":"PERHAPS"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-01T09:00:00Z","entity":"E","init":{},"title":"E a person's label binds rules until five seconds after it expires","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2","status":"MANUALLY_ADDED","expires":"2026-02-03T09:00:00Z"},"expect":"approved"}
{"at":"2026-02-02T10:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again"},"expect":"rejected:UCM_MANUAL_LABEL_PRECEDENCE"}
{"at":"2026-02-03T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"rejected:UCM_MANUAL_LABEL_PRECEDENCE"}
{"at":"2026-02-03T09:00:05Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"rejected:UCM_MANUAL_LABEL_PRECEDENCE"}
{"at":"2026-02-03T09:00:05Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p2","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-03T09:00:05Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"User","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-03T09:00:05Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2","status":"MANUALLY_ADDED","expires":"2026-02-03T09:00:00Z"},"expect":"approved"}
{"at":"2026-02-03T09:00:06Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"RemoveLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"checked again","status":"MANUALLY_REMOVED"},"expect":"approved"}
{"at":"2026-11-29T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"rejected:UCM_MANUAL_LABEL_PRECEDENCE"}
{"at":"2026-11-29T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2","status":"MANUALLY_ADDED"},"expect":"approved"}
{"at":"2026-11-30T09:00:00Z","entity":"E","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"rejected:UCM_MANUAL_LABEL_PRECEDENCE"}
{"at":"2026-02-01T09:00:00Z","entity":"F","init":{},"title":"F nobody is punished twice for one thing","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_DOUBLE_JEOPARDY"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"WARN","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_DOUBLE_JEOPARDY"}
{"at":"2026-02-02T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"REMOVE_CONTENT","policy":"spam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"F","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_DOUBLE_JEOPARDY"}
{"at":"2026-02-03T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"F","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"G","init":{},"title":"G proportion: one point short, the very threshold, and severe policies","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N4","action":"A4","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N5","action":"A5","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N6","action":"A6","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N7","action":"A7","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"UserNotice","action":{"type":"DraftNotice","n":"N8","action":"A8","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"RESTRICT","policy":"harassment","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-02T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"spam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"RESTRICT","policy":"harassment","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-03T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"REMOVE_CONTENT","policy":"spam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"RESTRICT","policy":"harassment","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A4","kind":"SUSPEND","policy":"harassment","item":"p2","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-05T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A4","kind":"SUSPEND","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-06T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A5","kind":"BAN","policy":"hate","item":"p1","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-06T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A5","kind":"REMOVE_CONTENT","policy":"hate","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A6","kind":"BAN","policy":"scam","item":"p2","evidence":["L1"]},"expect":"escalated:UCM_HUMAN_PERMANENT_BAN"}
{"at":"2026-02-08T09:00:00Z","entity":"G","counselor":"human.lead","decision":"reject","reason":"too early","expect":"cRejected"}
{"at":"2026-02-09T09:00:00Z","entity":"G","role":"Enforcement","action":{"type":"TakeAction","a":"A6","kind":"SUSPEND","policy":"csam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"H","init":{},"title":"H strikes expire after ninety days","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"UserNotice","action":{"type":"DraftNotice","n":"N4","action":"A4","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"H","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-05-03T09:00:00Z","entity":"H","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-05-03T08:59:59Z","entity":"H","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-05-04T09:00:00Z","entity":"H","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"SUSPEND","policy":"scam","item":"p3","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"I","init":{},"title":"I a suspension cannot rest on a strike under appeal; only a human decides the appeal","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"UserNotice","action":{"type":"DraftNotice","n":"N4","action":"A4","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"I","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"I","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-04T09:00:00Z","entity":"I","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-05T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"UPHELD"},"expect":"escalated:UCM_HUMAN_APPEAL_DECISION"}
{"at":"2026-02-05T09:00:00Z","entity":"I","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"frozen"}
{"at":"2026-02-06T09:00:00Z","entity":"I","counselor":"human.lead","decision":"reject","reason":"I will read it myself","expect":"cRejected"}
{"at":"2026-02-07T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"UPHELD","by":"humanoid"},"expect":"escalated:UCM_HUMAN_APPEAL_DECISION"}
{"at":"2026-02-08T09:00:00Z","entity":"I","counselor":"human.lead","decision":"commit","base":"candidate","edit":{"appeal.decidedBy":{"P1":"human.lead"}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-02-09T09:00:00Z","entity":"I","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-09T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"OpenAppeal","p":"P2","a":"A1"},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-10T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"OpenAppeal","p":"P2","a":"A1"},"expect":"approved"}
{"at":"2026-02-10T09:00:00Z","entity":"I","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"J","init":{},"title":"J an overturned appeal restores: the action is reversed first, its strike no longer counts","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"UserNotice","action":{"type":"DraftNotice","n":"N4","action":"A4","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"J","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"J","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"J","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"OVERTURNED","by":"human.reviewer"},"expect":"rejected:UCM_OVERTURN_RESTORES"}
{"at":"2026-02-05T09:00:00Z","entity":"J","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"J","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"OVERTURNED","by":"human.reviewer"},"expect":"approved"}
{"at":"2026-02-06T09:00:00Z","entity":"J","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-06T09:00:00Z","entity":"J","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"RESTRICT","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-07T09:00:00Z","entity":"J","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"K","init":{},"title":"K a strike voided later did count when it counted","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"UserNotice","action":{"type":"DraftNotice","n":"N4","action":"A4","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"SUSPEND","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-04T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-05T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"SUSPEND","policy":"scam","item":"p3","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-06T09:00:00Z","entity":"K","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p7","evidence":["L1"]},"expect":"rejected:UCM_PROPORTIONALITY"}
{"at":"2026-02-01T09:00:00Z","entity":"L","init":{},"title":"L bans are a human's, one by one","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"L","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"L","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"L","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"L","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"p1","evidence":["L1"]},"expect":"escalated:UCM_HUMAN_PERMANENT_BAN"}
{"at":"2026-02-02T10:00:00Z","entity":"L","counselor":"human.lead","decision":"commit","base":"candidate","edit":{"humanReview":{"A1":"human.lead"}},"reason":"reviewed","expect":"cCommitted:safe"}
{"at":"2026-02-03T09:00:00Z","entity":"L","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"BAN","policy":"csam","item":"p2","evidence":["L1"]},"expect":"escalated:UCM_HUMAN_PERMANENT_BAN"}
{"at":"2026-02-04T09:00:00Z","entity":"L","counselor":"human.lead","decision":"commit","base":"candidate","edit":{},"reason":"reviewed","expect":"cCommitted:UNSAFE[UCM_HUMAN_PERMANENT_BAN]"}
{"at":"2026-02-05T09:00:00Z","entity":"L","role":"Enforcement","action":{"type":"TakeAction","a":"A3","kind":"WARN","policy":"scam","item":"p3","evidence":["L1"]},"expect":"escalated:UCM_HUMAN_PERMANENT_BAN"}
{"at":"2026-02-01T09:00:00Z","entity":"M","init":{},"title":"M appeals within 182 days; a case closes after that","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"M","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"M","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"M","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"M","role":"Enforcement","action":{"type":"CloseCase"},"expect":"rejected:UCM_APPEAL_WINDOW"}
{"at":"2026-08-03T09:00:00Z","entity":"M","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-08-03T09:00:00Z","entity":"M","role":"Enforcement","action":{"type":"CloseCase"},"expect":"rejected:UCM_APPEAL_WINDOW"}
{"at":"2026-08-03T09:00:01Z","entity":"M","role":"Appeals","action":{"type":"OpenAppeal","p":"P2","a":"A1"},"expect":"rejected:UCM_APPEAL_WINDOW"}
{"at":"2026-08-03T09:00:01Z","entity":"M","role":"Enforcement","action":{"type":"CloseCase"},"expect":"approved"}
{"at":"2026-08-11T09:00:00Z","entity":"M","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"WARN","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-08-12T09:00:00Z","entity":"M","role":"Enforcement","action":{"type":"CloseCase"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"N","init":{},"title":"N a reversed or mild action keeps no case open","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"N","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"N","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"N","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"N","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"WARN","policy":"scam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"N","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"N","role":"Enforcement","action":{"type":"CloseCase"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"N","role":"Enforcement","action":{"type":"CloseCase"},"expect":"approved"}
{"at":"2026-02-01T09:00:00Z","entity":"O","init":{},"title":"O faults and broken references","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"rejected:UCM_REF_INTEGRITY"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"UPHELD","by":"human.lead"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"EXILE","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"boredom","item":"p1","evidence":["L1"]},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"REMOVE_CONTENT","policy":"scam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A1"},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"MAYBE"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-03T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"OPEN","by":"human.lead"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-03T09:00:00Z","entity":"O","role":"Appeals","action":{"type":"TakeAction","a":"A2","kind":"WARN","policy":"scam","item":"p1","evidence":["L1"]},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-01T09:00:00Z","entity":"O","role":"Enforcement","action":{"type":"CloseCase"},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-02-03T09:00:00Z","entity":"O","role":"UserNotice","action":{"type":"DraftNotice","n":"N2"},"expect":"refused"}
{"at":"2026-02-01T09:00:00Z","entity":"P","init":{},"title":"P the account is as its live actions say; another account.status is no beginning","expect":"initialised"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"SignalTriage","action":{"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule scam_links v2"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"UserNotice","action":{"type":"DraftNotice","n":"N1","action":"A1","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"UserNotice","action":{"type":"DraftNotice","n":"N2","action":"A2","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"UserNotice","action":{"type":"DraftNotice","n":"N3","action":"A3","facts":"posted a link to a phishing page","clause":"scams, 4.2","redress":"appeal in the app"},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"Enforcement","action":{"type":"TakeAction","a":"A1","kind":"SUSPEND","policy":"csam","item":"p1","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-02T09:00:00Z","entity":"P","role":"Enforcement","action":{"type":"TakeAction","a":"A2","kind":"RESTRICT","policy":"csam","item":"p2","evidence":["L1"]},"expect":"approved"}
{"at":"2026-02-03T09:00:00Z","entity":"P","role":"Enforcement","action":{"type":"ReverseAction","a":"A1"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"P","role":"Appeals","action":{"type":"OpenAppeal","p":"P1","a":"A2"},"expect":"approved"}
{"at":"2026-02-04T09:00:00Z","entity":"P","role":"Appeals","action":{"type":"DecideAppeal","p":"P1","outcome":"UPHELD"},"expect":"escalated:UCM_HUMAN_APPEAL_DECISION"}
{"at":"2026-02-05T09:00:00Z","entity":"P","counselor":"human.lead","decision":"commit","base":"candidate","edit":{"appeal.decidedBy":{"P1":"human.lead"},"account.status":"BAN"},"reason":"reviewed","expect":"cCommitted:UNSAFE[UCM_REF_INTEGRITY]"}
{"at":"2026-02-06T09:00:00Z","entity":"P","role":"Enforcement","action":{"type":"ReverseAction","a":"A2"},"expect":"approved"}
)jsonl";

}  // namespace witan::domains::moderation
