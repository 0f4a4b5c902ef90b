// Signature: a domain's declaration as data, for lint, ledgers, CLI and APIs. Built once from the domain's types.
#pragma once

#include <capnp/any.h>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "base/time.h"
#include "kernel/field.h"
#include "kernel/record/verdict.h"
#include "kernel/view.h"

namespace witan::kernel {

struct FieldInfo {
  std::string name;
  std::string type;  // as shown to people: map<text, date>
  bool isColumn = false;
  bool lifecycle = false;  // a role of the domain's continuant (Remark A.4)
  // Members of what a field holds that only a counselor's edit fills; the kernel writes the first two, who and when.
  // 0: processes write it.
  std::uint8_t human = 0;
  bool instances = false;  // the keys of this column are what an escalation freezes (Touch)
};

struct ProcessInfo {
  std::string name;
  std::string role;  // "" for a process that only a counselor performs
  FieldMask reads = 0;
  FieldMask writes = 0;
  std::vector<std::pair<std::string, std::string>> arguments;  // name, type
  std::size_t required = 0;
  std::string schema = "{}";                              // JSON Schema of an action, with its "type"
  FieldMask footprint() const { return reads | writes; }  // Def. A.5
};

struct RoleInfo {
  std::string name;
  FieldMask footprint = 0;  // union of its processes' footprints (Def. A.6)
  FieldMask writes = 0;
};

struct InvariantInfo {
  std::string id;
  FieldMask footprint = 0;                  // Def. A.9
  InvResult onFailure = InvResult::reject;  // what it returns when it does not pass (declared, for people)
  bool mixed = false;                       // it may reject as well as escalate
  std::string rule;                         // one sentence
  bool incremental = false;                 // has a check of touched rows
};

struct Signature {
  std::string domain;
  std::string title;
  std::vector<FieldInfo> fields;
  std::vector<ProcessInfo> processes;
  std::vector<RoleInfo> roles;
  std::vector<InvariantInfo> invariants;  // list order; KERNEL_INTEGRITY is not in it
  std::vector<std::string> counselors;    // authorised identities (Def. A.61)

  // Canonical JSON of everything that decides what a ledger's entries mean, the policy included.
  std::string canonical(std::string_view policyJson) const;
  std::vector<std::string> fieldNames(FieldMask mask) const;
  // An escalation freezes what it touches, and not the whole entity.
  bool freezesByKey() const;
};

// DomainModule: one domain behind a common face, so that the meta-agent, the ledger and the tools need no templates.
//
// kernel/typed_module.h implements it for any domain type; authors never write one. A module is immutable once made
// and outlives every entity, action and partition that uses it. Entities belong to one strand at a time.

inline constexpr std::string_view kKernelIntegrity = "KERNEL_INTEGRITY";

// An action of the module that made it. Only modules call its functions.
class Action {
 public:
  explicit Action(std::uint16_t processIndex) : process(processIndex) {}
  virtual ~Action() = default;
  virtual Status read(const json::value& from) = 0;
  virtual Status decode(capnp::AnyStruct::Reader from) = 0;
  virtual void write(std::string& out) const = 0;
  virtual std::string encode() const = 0;
  virtual void apply(void* mutator, Time at) const = 0;
  const std::uint16_t process;  // index into Signature::processes
};
using ActionPtr = std::unique_ptr<Action>;

// The domain state of one entity with its public fields. The rest of the framework state (Def. A.28) is in Partition.
class EntityState {
 public:
  virtual ~EntityState() = default;
  PublicFields shared;
  // Invariants whose last verdict was not pass: they are evaluated on every candidate (F8). Bit i = invariant i.
  std::uint64_t notPassing = 0;
};
using EntityPtr = std::unique_ptr<EntityState>;

// One line of a detection vector: index 0 is KERNEL_INTEGRITY, i+1 is invariant i.
struct Finding {
  std::uint16_t invariant = 0;
  InvResult result = InvResult::pass;
  std::string message;
  friend bool operator==(const Finding&, const Finding&) = default;
};

// What evaluating one candidate found. Reused between decisions to save allocations.
struct Evaluation {
  enum class Tag : std::uint8_t { approved, rejected, escalated };
  Tag tag = Tag::approved;
  std::uint16_t witness = 0;           // as in Finding; meaningful unless approved
  std::string message;                 // the witness's
  std::vector<std::uint8_t> verdicts;  // InvResult per invariant, KERNEL_INTEGRITY first
  std::vector<Finding> findings;       // every non-pass, in list order, when the whole list was walked
  std::string writes;                  // canonical JSON write set of a kept candidate

  void reset(std::size_t invariants);
};

// What a candidate touches, where an escalation freezes by key. Rows are known by their keys, whatever their table; all
// lists are sorted. Two candidates that do not meet give the same writes in either order, since each reads only rows
// that it names or that those name, and neither writes one of the other's (FINDINGS, F22).
struct Touch {
  std::vector<std::string> instances;  // none: the whole entity
  std::vector<std::string> rows;       // that the action names, or that those name in turn
  std::vector<std::string> written;    // of them; the facts of logs do not count, their order is nobody's

  bool meets(const Touch& other) const;
};

// How a counselor's commit is made (interfaces.md): from the candidate, recomputed now, or from the current state.
WITAN_ENUM(CommitBase, candidate, current)

class DomainModule {
 public:
  virtual ~DomainModule() = default;

  virtual const Signature& signature() const = 0;
  virtual std::string policyJson() const = 0;
  // Digest of the signature and the policy: the meaning of a ledger's entries.
  virtual const Hash& digest() const = 0;
  virtual std::string_view scenarios() const = 0;  // JSON Lines shipped with the domain; may be empty
  // The rule file that it was made from (rules/); empty: the domain is compiled.
  virtual std::string_view ruleText() const { return {}; }
  bool authorised(std::string_view counselor) const;
  std::string_view invariantId(std::uint16_t index) const;  // 0 is KERNEL_INTEGRITY

  // A new entity from the named fields; the others take the domain's defaults. Refuses a state that violates an
  // invariant (every theorem starts from s0 |= invariants).
  virtual Result<EntityPtr> create(const json::object& fields, Time at) const = 0;
  // The fields that came with a later version of the rules than the entity's.
  virtual FieldMask laterFields(const EntityState&) const { return 0; }
  // What create() gave under the version of the rules that the entity is of.
  virtual Result<EntityPtr> createAs(const EntityState& begun, const json::object& fields, Time at) const {
    (void)begun;
    return create(fields, at);
  }
  virtual EntityPtr clone(const EntityState&) const = 0;
  // A hint that the entity is about to be decided on.
  virtual void prefetch(const EntityState&) const = 0;

  virtual Result<ActionPtr> parseAction(const json::value&) const = 0;
  virtual Result<ActionPtr> decodeAction(std::string_view type, capnp::AnyStruct::Reader) const = 0;
  virtual void writeAction(std::string& out, const Action&) const = 0;  // canonical JSON, with "type"
  virtual std::string encodeAction(const Action&) const = 0;            // canonical Cap'n Proto message
  virtual std::string actionSchema() const = 0;                         // the Cap'n Proto file that describes them

  // The commit discipline, steps 1 to 3 (Def. A.35): candidate, walk, first non-pass. An approved candidate is kept
  // in the entity with clock = at; any other leaves the entity untouched. After an escalation the remaining
  // invariants are evaluated too, for the detection vector (F16).
  virtual void evaluate(EntityState&, std::string_view role, const Action&, Time at, Evaluation& out) const = 0;
  // As evaluate, but walks every invariant in full: for replay, and to test the incremental walk against.
  virtual void evaluateFully(EntityState&, std::string_view role, const Action&, Time at, Evaluation& out) const = 0;

  // A counselor's commit: base, then the edit; the full walk is the detection vector (A.63). What the edit puts into
  // a human field is signed with the counselor and the time. Kept unless the edit is not well typed or names another
  // person, or the candidate faults, which is an error and changes nothing.
  virtual Status counselorCommit(EntityState&, CommitBase, const Action* pending, const json::object& edit,
                                 std::string_view counselor, Time at, Evaluation& out) const = 0;

  // What the action's candidate touches, for a domain that freezes by key; for others everything. The entity is as
  // before afterwards. O(rows touched).
  virtual Touch touch(const EntityState&, const Action&, Time at) const = 0;

  // The whole list on the state as it is.
  virtual std::vector<Verdict> walk(const EntityState&) const = 0;

  // Folds a recorded write set (or a whole state) into an entity.
  virtual Status applyWrites(EntityState&, const json::object& writes) const = 0;
  // Canonical JSON of the fields of `mask`, with clock and waivers.
  virtual void writeState(std::string& out, const EntityState&, FieldMask mask = ~FieldMask{0}) const = 0;
  virtual Result<EntityPtr> readState(const json::object& state) const = 0;

  // A plausible action for the state it is in: workload of property tests, lint and simulator. Null: none to offer.
  virtual ActionPtr sample(const EntityState&, Random&, Time at) const = 0;
  virtual std::string sampleInit(Random&, Time at) const = 0;  // the "init" object of a plausible entity
  // A plausible "edit" of the counselor who commits `pending` from its candidate; "{}": none to offer.
  virtual std::string sampleEdit(const EntityState&, const Action& pending, std::string_view counselor, Random&,
                                 Time at) const = 0;
  // Events (JSON Lines) from the domain's own generator; empty: it has none.
  virtual std::string generate(std::size_t entities, std::size_t days, std::uint64_t seed) const = 0;
};

// JSON Schema of the actions of a process, from that of its arguments.
std::string actionJsonSchema(std::string_view process, json::object arguments);
// The opening of an actions schema file: its id (from the domain's name) and what the types mean.
std::string actionSchemaHead(std::string_view domain);

}  // namespace witan::kernel
