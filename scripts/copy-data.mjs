// Copies the data files that compiled code reads from its own folder into dist.
import { cpSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["libraries/instructions/text/data", "src/cli/workloads/scaffold/templates"];

for (const folder of FOLDERS)
  cpSync(path.join(root, folder), path.join(root, "dist", folder), { recursive: true });
