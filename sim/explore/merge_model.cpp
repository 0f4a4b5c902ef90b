#include "sim/explore/merge_model.h"

#include <algorithm>

namespace witan::sim {

namespace {

std::string nameOfDevice(std::size_t device) { return std::string(1, static_cast<char>('a' + device)); }

std::string nameOf(const MergeWrite& write) {
  return write.dot.host.substr(0, 1) + ":" + std::to_string(write.dot.counter);
}

const char* toString(MergeChange change) {
  switch (change) {
    case MergeChange::fails: return "dormant after 3 failures";
    case MergeChange::wakesUp: return "active again";
    case MergeChange::isRemoved: break;
  }
  return "removed";
}

std::string textOf(const MergeWrite& write) {
  std::string text = nameOf(write) + "|" + toString(write.change);
  for (const auto& [host, counter] : write.context.entries()) text += "|" + host + ":" + std::to_string(counter);
  return text + "|" + std::to_string(write.state.consecutiveFailureCount) + "|" +
         std::to_string(write.state.schedule.nextWakeAt.value_or(0)) + "|" +
         std::to_string(write.state.schedule.sleepUntil);
}

}  // namespace

Explored MergeModel::start() {
  Explored state(bounds_.devices, held_(rule_->nothing()));
  state.resize(2 * bounds_.devices, 0);
  return state;
}

std::size_t MergeModel::writesOf(const Explored& state, std::size_t device) const {
  std::size_t n = 0;
  for (std::size_t i = 2 * bounds_.devices; i < state.size(); ++i)
    n += writes_[state[i]].dot.host.substr(0, 1) == nameOfDevice(device) ? 1 : 0;
  return n;
}

void MergeModel::walk(const Explored& from, const std::function<void(const Step&)>& visit) const {
  const auto written = static_cast<std::uint32_t>(from.size() - 2 * bounds_.devices);
  for (std::size_t device = 0; device < bounds_.devices; ++device) {
    if (written < bounds_.writes && writesOf(from, device) < bounds_.writesEach)
      for (std::uint32_t change = 0; change < bounds_.changes; ++change) visit({device, change, false});
    for (std::uint32_t write = 0; write < written; ++write) visit({device, write, true});
  }
}

void MergeModel::steps(const Explored& from, const Visit& visit) {
  walk(from, [&](const Step& step) { visit(after(from, step)); });
}

std::string MergeModel::nameOf(const Explored& from, std::size_t n) {
  std::string name;
  walk(from, [&](const Step& step) {
    if (n-- != 0) return;
    name = nameOfDevice(step.device);
    if (step.receives)
      name += " receives " + sim::nameOf(writes_[from[2 * bounds_.devices + step.write]]);
    else
      name += " writes " + name + ":" + std::to_string(writesOf(from, step.device) + 1) + ", " +
              toString(static_cast<MergeChange>(step.write));
  });
  return name;
}

Explored MergeModel::after(const Explored& from, const Step& step) {
  Explored to = from;
  std::uint32_t& held = to[step.device];
  if (step.receives) {
    held = received(held, from[2 * bounds_.devices + step.write]);
    to[bounds_.devices + step.device] |= 1u << step.write;
    return to;
  }
  const auto [next, write] = wrote(step.device, held, step.write);
  held = next;
  to[bounds_.devices + step.device] |= 1u << (from.size() - 2 * bounds_.devices);
  to.push_back(write);
  return to;
}

std::pair<std::uint32_t, std::uint32_t> MergeModel::wrote(std::size_t device, std::uint32_t held,
                                                          std::uint32_t change) {
  const auto [at, fresh] = wrote_.try_emplace({device, held, change});
  if (!fresh) return at->second;
  MergeWrite made;
  made.change = static_cast<MergeChange>(change);
  const std::string next = rule_->write(device, held_.text(held), made.change, made);
  const std::uint32_t number = names_(textOf(made));
  if (number == writes_.size()) writes_.push_back(std::move(made));
  return at->second = {held_(next), number};
}

std::uint32_t MergeModel::received(std::uint32_t held, std::uint32_t write) {
  const auto [at, fresh] = received_.try_emplace({held, write}, 0);
  if (fresh) at->second = held_(rule_->receive(held_.text(held), writes_[write]));
  return at->second;
}

const std::string& MergeModel::shown(std::uint32_t held) {
  const auto [at, fresh] = shown_.try_emplace(held);
  if (fresh) at->second = rule_->shown(held_.text(held));
  return at->second;
}

std::string MergeModel::problem(const Explored& state) {
  for (std::size_t i = 0; i < bounds_.devices; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (state[bounds_.devices + i] == state[bounds_.devices + j] && shown(state[i]) != shown(state[j]))
        return nameOfDevice(j) + " and " + nameOfDevice(i) + " have received the same and show different states";
    std::vector<std::uint32_t> received;
    for (std::size_t n = 2 * bounds_.devices; n < state.size(); ++n)
      if ((state[bounds_.devices + i] >> (n - 2 * bounds_.devices) & 1) != 0) received.push_back(state[n]);
    std::sort(received.begin(), received.end());
    const auto [at, fresh] = problems_.try_emplace({state[i], received});
    if (fresh) {
      std::vector<const MergeWrite*> writes;
      for (const std::uint32_t n : received) writes.push_back(&writes_[n]);
      at->second = rule_->problem(held_.text(state[i]), writes);
    }
    if (!at->second.empty()) return nameOfDevice(i) + ": " + at->second;
  }
  return {};
}

std::string MergeModel::describe(const Explored& state) {
  std::string text;
  for (std::size_t i = 0; i < bounds_.devices; ++i)
    text += (i == 0 ? "" : "\n") + nameOfDevice(i) + ": " + shown(state[i]);
  return text;
}

}  // namespace witan::sim
