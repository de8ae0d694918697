import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { installRoot } from "../../config/paths.ts";
import { loadDefinition } from "./load-definition.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-load-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it.each([
  [
    `import { outputText } from "nemo-gym/opnai"; export default outputText();`,
    "there is no 'nemo-gym/opnai'. The entries are nemo-gym, nemo-gym/agents, ",
  ],
  [
    `import { outputText } from "nemo-gym"; export default outputText();`,
    "it calls 'outputText', which its imports do not have. Did you mean 'outputText' of 'nemo-gym/openai'?",
  ],
  [
    `import { defineResourceServer } from "nemo-gym"; export default defineResourceServer({});`,
    "it calls 'defineResourceServer', which its imports do not have. Did you mean 'defineResourcesServer' of 'nemo-gym'?",
  ],
  [
    `import { defineMcpServer } from "nemo-gym"; export default defineMcpServer({});`,
    "it calls 'defineMcpServer', which its imports do not have.",
  ],
  [
    `import absent from "absent-package"; export default absent();`,
    "Cannot find module 'absent-package'. Install it in your project (npm install absent-package)",
  ],
])("explains why a server file cannot be loaded: %s", async (code, problem) => {
  const entry = path.join(directory, "app.ts");
  await writeFile(entry, code);
  await expect(loadDefinition(entry, installRoot())).rejects.toThrow(`${entry} cannot be loaded: ${problem}`);
});

it("names the command that installs a package of the server's own package.json", async () => {
  const entry = path.join(directory, "app.ts");
  await writeFile(path.join(directory, "package.json"), `{"dependencies": {"absent-package": "1"}}`);
  await writeFile(entry, `import absent from "absent-package"; export default absent();`);
  await expect(loadDefinition(entry, installRoot())).rejects.toThrow("install it with `gym env prefetch`");
});
