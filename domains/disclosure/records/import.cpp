#include "domains/disclosure/records/import.h"

#include <algorithm>
#include <numeric>

#include "base/json_codec.h"
#include "domains/disclosure/actions.h"

namespace witan::domains::disclosure {

namespace {

class Writer {
 public:
  Writer(RecordFormat format, const ImportOptions& options) : format_(format), options_(options) {}

  void begin(Time at) {
    lines_ += "{\"at\":" + toJson(at) + ",\"entity\":" + toJson(options_.entity) + ",\"init\":{}}\n";
  }

  void add(const Advisory& a) {
    const Time at = a.published.value_or(options_.asOf);
    step_ = 0;
    line(a, at, "ReporterCoordination", Intake{a.id, a.orgs});
    if (a.withdrawn) return;
    line(a, at, "ReporterCoordination", SubmitReport{a.id, a.id, a.orgs.front(), a.channel});
    line(a, at, "PatchTracking", ObserveExternalFact{a.id, "public", std::nullopt});
    std::optional<std::string> cve;
    if (!a.cves.empty()) {
      cve = a.cves.front();
      line(a, at, "PatchTracking", ObserveExternalFact{a.id, "cve", cve});
    }
    if (a.severity) line(a, at, "PatchTracking", ReviseSeverity{a.id, *a.severity, {}});
    if (a.fix) line(a, at, "PatchTracking", ReleaseFix{a.id, *a.fix});
    ExecuteDisclosure disclosure;
    disclosure.v = a.id;
    if (a.fix)
      disclosure.patchLink = a.fix;
    else
      disclosure.noPatchReason = "PUBLIC_KNOWLEDGE";
    disclosure.cve = cve;
    disclosure.attribution = a.credits;
    line(a, at, "Disclosure", disclosure);
  }

  std::string take() { return std::move(lines_); }

 private:
  template <class Process>
  void line(const Advisory& a, Time at, std::string_view role, const Process& process) {
    lines_ += "{\"action\":";
    JsonCodec<Process>::write(lines_, process, Process::name);
    lines_ += ",\"at\":" + toJson(at) + ",\"entity\":" + toJson(options_.entity) +
              ",\"operationId\":\"import:" + std::string(enumName(format_)) + ":" + a.id + ":" +
              std::to_string(++step_) + "\",\"role\":\"";
    lines_ += role;
    lines_ += "\"}\n";
  }

  RecordFormat format_;
  const ImportOptions& options_;
  std::string lines_;
  int step_ = 0;
};

}  // namespace

std::string importEvents(const std::vector<Advisory>& advisories, RecordFormat format, const ImportOptions& options) {
  const auto timeOf = [&](const Advisory& a) { return a.published.value_or(options.asOf); };
  std::vector<std::size_t> order(advisories.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return timeOf(advisories[a]) < timeOf(advisories[b]); });
  Writer writer(format, options);
  if (options.begin) writer.begin(order.empty() ? options.asOf : timeOf(advisories[order.front()]));
  for (std::size_t i : order) writer.add(advisories[i]);
  return writer.take();
}

}  // namespace witan::domains::disclosure
