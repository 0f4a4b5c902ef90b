#include "domains/udt/clinic.h"

#include <map>

namespace witan::domains::udt {

namespace {

class ClinicJournal {
 public:
  void add(const json::object& event) {
    const std::string patient(event.at("entity").get_string());
    if (const json::value* init = event.if_contains("init"))
      return line(event, patient, "patient", "udt.patient", {{"patient", patient}, {"fields", *init}});
    const json::value* action = event.if_contains("action");
    if (action == nullptr) return;  // a counselor's
    const json::object& act = action->as_object();
    const std::string type(act.at("type").get_string());
    if (type == "DocumentRationale") rationale_[patient + "/" + text(act, "order")] = act;
    if (type == "OrderTest") order(event, patient, act);
    if (type == "RecordResult")
      line(event, patient, "result/" + text(act, "order"), "udt.result",
           {{"patient", patient}, {"order", act.at("order")}, {"outcome", act.at("outcome")}, {"on", act.at("on")}});
    if (type == "SubmitClaim")
      line(event, patient, "bill/" + text(act, "claim"), "udt.bill",
           {{"patient", patient},
            {"order", act.at("order")},
            {"claim", act.at("claim")},
            {"entry", "udt/" + patient + "/order/" + text(act, "order")}});
  }
  std::string take() { return std::move(lines_); }

 private:
  static std::string text(const json::object& object, const char* member) {
    return std::string(object.at(member).get_string());
  }

  void order(const json::object& event, const std::string& patient, const json::object& act) {
    json::object payload = act;
    payload.erase("type");
    payload["patient"] = patient;
    const auto why = rationale_.find(patient + "/" + text(act, "order"));
    payload["rationale"] = why == rationale_.end() ? json::value("as ordered") : why->second.at("text");
    if (why != rationale_.end() && why->second.contains("kind")) payload["rationaleKind"] = why->second.at("kind");
    line(event, patient, "order/" + text(act, "order"), "udt.order", std::move(payload));
  }

  void line(const json::object& event, const std::string& patient, const std::string& what, const char* type,
            json::object payload) {
    lines_ += canonicalJson(json::object{{"at", event.at("at")},
                                         {"id", "udt/" + patient + "/" + what},
                                         {"type", type},
                                         {"payload", std::move(payload)}});
    lines_ += '\n';
  }

  std::map<std::string, json::object> rationale_;
  std::string lines_;
};

}  // namespace

Result<std::string> clinicFeed(std::size_t patients, std::size_t days, std::uint64_t seed) {
  const std::string events = generateClinic(patients, days, seed);
  ClinicJournal journal;
  for (std::size_t at = 0; at < events.size();) {
    const std::size_t end = std::min(events.find('\n', at), events.size());
    WITAN_TRY(event, parseJson(std::string_view(events).substr(at, end - at)));
    journal.add(event.as_object());
    at = end + 1;
  }
  return journal.take();
}

}  // namespace witan::domains::udt
