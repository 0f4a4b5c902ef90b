#include "cli/ledgers/ledger_pages.h"

#include <system_error>

#include "base/time.h"

namespace witan::node {

namespace {

Result<std::int64_t> microsOf(const json::value& row) {
  const json::value* entry = row.is_object() ? row.get_object().if_contains("entry") : nullptr;
  const json::value* time = entry != nullptr && entry->is_object() ? entry->get_object().if_contains("time") : nullptr;
  if (time == nullptr || !time->is_string()) return invalid("an entry without a time");
  WITAN_TRY(read, parseTime(time->get_string()));
  return read.micros;
}

}  // namespace

LedgerPages::LedgerPages(const std::vector<std::string>& partitions, Fetch fetch) : fetch_(std::move(fetch)) {
  for (const std::string& partition : partitions) ledgers_.push_back({partition, 0, {}, 0, 0, false});
}

// So that the row at `at` is the ledger's next one.
Status LedgerPages::fill(Ledger& ledger) {
  if (ledger.over) return okStatus();
  if (ledger.at == ledger.page.size()) {
    WITAN_TRY(page, fetch_(ledger.partition, ledger.after));
    ledger.page = std::move(page);
    ledger.at = 0;
    ledger.over = ledger.page.empty();
    if (ledger.over) return okStatus();
  }
  const json::value& row = ledger.page[ledger.at];
  WITAN_TRY(micros, microsOf(row));
  ledger.micros = micros;
  const json::value* number = row.get_object().if_contains("seq");
  std::error_code none;
  const std::uint64_t seq = number == nullptr ? 0 : number->to_number<std::uint64_t>(none);
  if (number == nullptr || none) return invalid("an entry without a number");
  if (seq <= ledger.after) return invalid("entries of " + ledger.partition + " that are not in order");
  return okStatus();
}

Result<std::optional<json::value>> LedgerPages::next() {
  Ledger* first = nullptr;
  for (Ledger& ledger : ledgers_) {
    WITAN_DO(fill(ledger));
    if (!ledger.over && (first == nullptr || ledger.micros < first->micros)) first = &ledger;
  }
  if (first == nullptr) return std::optional<json::value>();
  json::value row = std::move(first->page[first->at++]);
  first->after = row.at("seq").to_number<std::uint64_t>();
  return std::optional(std::move(row));
}

}  // namespace witan::node
