import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Adapter } from "./adapters.ts";

/** The fixtures use separate databases, which are next to the repository. */
function fixtureDatabases(): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, "package.json"))) {
    const parent = dirname(root);
    if (parent === root) throw new Error("the repository root was not found");
    root = parent;
  }
  return join(root, "..", "shared", "fixtures", "workplace_assistant", "csv_data");
}

export const adapter: Adapter = { config: () => ({ csv_data_dir: fixtureDatabases() }) };
