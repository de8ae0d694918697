import { writeFile } from "node:fs/promises";
import path from "node:path";
import { generatedFiles, repositoryRoot } from "./docs/generated-files.ts";

for (const { file, text } of await generatedFiles()) {
  await writeFile(path.join(repositoryRoot, file), text);
  console.log(`wrote ${file}`);
}
