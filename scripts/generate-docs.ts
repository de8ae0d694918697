import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { apiPages } from "./docs/api-pages.ts";
import { generatedFiles, repositoryRoot } from "./docs/generated-files.ts";

for (const { file, text } of [...(await generatedFiles()), ...apiPages()]) {
  const target = path.join(repositoryRoot, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text);
  console.log(`wrote ${file}`);
}
