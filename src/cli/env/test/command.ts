import { listingKeys } from "../../catalog/keys.ts";
import type { CommandContext } from "../../command.ts";
import type { KeyTable, KeyValues } from "../../config-keys.ts";
import { UsageError } from "../../usage-error.ts";
import { type TestAllKeys, testAll } from "./test-all.ts";
import { testOne } from "./test-one.ts";

/** Runs `gym env test`. */
export async function testServers<const T extends KeyTable>(
  context: CommandContext,
  table: T,
): Promise<number> {
  const keys = (await listingKeys(context, table)) as KeyValues<T> &
    TestAllKeys & { entrypoint?: string; should_validate_data: boolean };
  if (keys.entrypoint !== undefined) {
    return testOne(context, { entrypoint: keys.entrypoint, should_validate_data: keys.should_validate_data });
  }
  if (keys.shard_index >= keys.num_shards) {
    throw new UsageError(`shard_index ${keys.shard_index} must be below num_shards ${keys.num_shards}`);
  }
  return testAll(context, keys);
}
