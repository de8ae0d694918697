import { readFileSync } from "node:fs";
import type { ScaffoldFiles } from "./files.ts";

const DATA_GITIGNORE = "data/.gitignore";

/** The files of each kind of server, in the order in which they are created and listed. `NAME` is the server's name. */
const SERVERS = {
  /** A resources server that runs, validates and passes its own test. */
  "resources-server": {
    folder: "resources_servers",
    files: [
      "app.ts",
      "app.test.ts",
      "tests/verifier_cases.jsonl",
      "configs/NAME.yaml",
      "data/example.jsonl",
      DATA_GITIGNORE,
      "README.md",
    ],
  },
  /** A resources server whose answers a second model grades. */
  judge: {
    folder: "resources_servers",
    files: [
      "app.ts",
      "app.test.ts",
      "prompt.txt",
      "audit.yaml",
      "configs/NAME.yaml",
      "data/example.jsonl",
      DATA_GITIGNORE,
      "README.md",
    ],
  },
  /** A multi-turn environment that answers every turn of the model until it ends the episode. */
  game: {
    folder: "resources_servers",
    files: ["app.ts", "app.test.ts", "configs/NAME.yaml", "data/example.jsonl", DATA_GITIGNORE, "README.md"],
  },
  /** An agent with its own loop: it asks the model and runs its tool calls until the model answers. */
  agent: {
    folder: "responses_api_agents",
    files: ["app.ts", "app.test.ts", "configs/NAME.yaml", "README.md"],
  },
  /** A model server that answers by itself. A comment marks the place to call a backend. */
  model: {
    folder: "responses_api_models",
    files: ["app.ts", "app.test.ts", "configs/NAME.yaml", "README.md"],
  },
} as const;

export type ServerTemplate = keyof typeof SERVERS;

/** The files of a new server. */
export function serverFiles(kind: ServerTemplate, name: string): ScaffoldFiles {
  const { folder, files } = SERVERS[kind];
  const entries = files.map((file) => [
    `${folder}/${name}/${file.replace("NAME", name)}`,
    readTemplate(file === DATA_GITIGNORE ? file : `${kind}/${file}`, namesOf(name)),
  ]);
  return Object.fromEntries(entries) as ScaffoldFiles;
}

/** The files of a new agent that also has a `run`, where a framework can take over the whole episode. */
export function episodeAgentFiles(name: string): ScaffoldFiles {
  const app = readTemplate("agent/app-with-run.ts", namesOf(name));
  return { ...serverFiles("agent", name), [`responses_api_agents/${name}/app.ts`]: app };
}

/** Returns a file of `templates/` with each `__key__` replaced by the value of that key. */
export function readTemplate(file: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(new URL(`./templates/${file}.tmpl`, import.meta.url), "utf8");
  return text.replace(/__([a-zA-Z]+)__/g, (found, key: string) => values[key] ?? found);
}

/** `my_quiz`, and `MyQuiz` for the names of definitions. */
function namesOf(name: string): { name: string; Name: string } {
  const words = name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return { name, Name: words.join("") };
}
