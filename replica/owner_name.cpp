#include "replica/owner_name.h"

namespace witan::node {

Status forgetOwnerName(store::Store& ledgers) {
  store::WriteBatch batch;
  batch.erase(kOwnerRow);
  return ledgers.writeSynced(batch);
}

}  // namespace witan::node
