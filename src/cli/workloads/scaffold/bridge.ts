import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { suggest } from "../../../base/suggest.ts";
import { ScaffoldError } from "../errors.ts";
import { checkName, type ScaffoldFiles } from "./files.ts";
import { readTemplate } from "./templates.ts";

/** The source of an environment of `gym env init --from`. */
export interface BridgeSource {
  readonly kind: string;
  /** A directory of tasks, an address, or a name in the other library. */
  readonly source: string;
  /** Default: derived from the source. */
  readonly name?: string;
  /** Whether an OpenEnv server takes tool calls as actions. */
  readonly isMcp?: boolean;
}

interface Bridge {
  /** The default name. */
  name(source: string): string;
  /** What the source must look like, where the library can only open such sources. */
  sources?: { readonly pattern: RegExp; readonly expected: string };
  /** The environment in a few words, for its config. */
  description(source: string): string;
  rows(source: string, cwd: string, warn: (text: string) => void): object[];
  readme(source: string, rows: number): string;
  /** The entry point in Python, and the packages that it needs. */
  python?: { readonly folder: string; readonly module: string; readonly requirements: string };
}

/** The files that run an environment of another library: config, rows, and the Python entry point if there is one. */
export function bridgeFiles(
  { kind, source, name: given, isMcp = false }: BridgeSource,
  cwd: string,
  warn: (text: string) => void = () => {},
): { name: string; files: ScaffoldFiles } {
  const bridge = Object.hasOwn(BRIDGES, kind) ? BRIDGES[kind] : undefined;
  if (bridge === undefined) {
    const known = Object.keys(BRIDGES);
    const close = suggest(kind, known);
    const hint = close === undefined ? "" : `; did you mean '${close}'?`;
    throw new ScaffoldError(`--from: '${kind}' is not one of ${known.join(", ")}${hint}`);
  }
  if (bridge.sources?.pattern.test(source) === false)
    throw new ScaffoldError(`--from ${kind} takes ${bridge.sources.expected}, not '${source}'.`);
  const name = checkName(given ?? bridge.name(source));
  const rows = bridge.rows(source, cwd, warn);
  const folder = `environments/${name}`;
  const config = readTemplate(`bridges/${kind}.yaml`, {
    name,
    source: JSON.stringify(source),
    description: JSON.stringify(bridge.description(source)),
    isMcp: String(isMcp),
  });
  const readme = bridge.readme(source, rows.length);
  const files: Record<string, string> = {
    [`${folder}/config.yaml`]: config,
    [`${folder}/data/example.jsonl`]: rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
    [`${folder}/README.md`]: `# ${name}\n\n${readme}\n\n\`\`\`bash\ngym eval run --environment ${name} --model-type openai_model\n\`\`\`\n`,
  };
  if (bridge.python !== undefined) {
    const { folder, module, requirements } = bridge.python;
    files[`${folder}/${name}/app.py`] = `from gym_bridges.${module} import main\n\nmain()\n`;
    files[`${folder}/${name}/requirements.txt`] = requirements;
  }
  return { name, files };
}

const MODULE = String.raw`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`;
/** A Python module, with `-` for `_`, or `owner/name@version` of the verifiers hub. */
const TASKSET = /^(?:[\w-]+\/)?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?:@[\w.-]+)?$/;
/** A registered name, or `module:Class`. */
const DATASET = new RegExp(`^(?:[A-Za-z0-9_][\\w.-]*|${MODULE}:[A-Za-z_]\\w*)$`);

/** Makes a component name from a path, an address or a package. */
function nameFrom(source: string): string {
  const words = source
    .replace(/@.*$/, "")
    .split(/[\\/:]/)
    .filter((word) => word !== "" && word !== ".");
  return (words.at(-1) ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[0-9_]+|_+$/g, "");
}

const BRIDGES: Readonly<Record<string, Bridge>> = {
  harbor: {
    name: nameFrom,
    description: (source) => `Harbor tasks of ${source}`,
    rows: (source, cwd, warn) =>
      harborTasks(path.resolve(cwd, source), source, warn).map(({ task, instruction }) => ({
        responses_create_params: { input: [{ role: "user", content: instruction }] },
        task,
      })),
    readme: (source, rows) => `${rows} tasks of \`${source}\`, in the format of Harbor.`,
  },
  openenv: {
    name: () => "openenv_world",
    sources: {
      pattern: /^(https?|wss?):\/\/[^/]/,
      expected: "the address of a running server, such as http://127.0.0.1:8000",
    },
    description: (source) => `The OpenEnv environment at ${source}`,
    rows: () => {
      const input = [{ role: "user", content: "Act in the environment until the episode ends." }];
      return [{ responses_create_params: { input }, reset_kwargs: {} }];
    },
    readme: (source) => `The OpenEnv environment at ${source}.`,
  },
  aviary: {
    name: (source) => `aviary_${nameFrom(source)}`,
    sources: { pattern: DATASET, expected: "a name that Aviary knows, such as gsm8k, or module:Class" },
    description: (source) => `The task dataset ${source} of Aviary`,
    rows: taskRows,
    readme: (source) => `The task dataset \`${source}\` of Aviary.`,
    python: {
      folder: "resources_servers",
      module: "aviary_environment",
      requirements: requirements("fhaviary>=0.30", "dataset"),
    },
  },
  verifiers: {
    name: (source) => `verifiers_${nameFrom(source)}`,
    sources: { pattern: TASKSET, expected: "the module of a taskset, such as sums or my_package.sums" },
    description: (source) => `The taskset ${source} of verifiers`,
    rows: taskRows,
    readme: (source) => `The taskset \`${source}\` of verifiers.`,
    python: {
      folder: "responses_api_agents",
      module: "verifiers_agent",
      requirements: requirements("verifiers>=0.4\nuv", "taskset"),
    },
  },
};

/** The tasks in a directory. Each subdirectory with a `task.toml` is a task with the name of the subdirectory. */
function harborTasks(
  directory: string,
  source: string,
  warn: (text: string) => void,
): { task: string; instruction: string }[] {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ScaffoldError(`--from harbor: there is no directory '${source}'.`);
  if (existsSync(path.join(directory, "task.toml")))
    throw new ScaffoldError(
      `--from harbor: '${source}' is a task itself. Pass its parent directory: ${path.dirname(source)}`,
    );
  const tasks: { task: string; instruction: string }[] = [];
  const incomplete: string[] = [];
  const multiStep: string[] = [];
  for (const task of readdirSync(directory).sort()) {
    if (!existsSync(path.join(directory, task, "task.toml"))) continue;
    // The instructions of a multi-step task are in the folders of its steps.
    if (existsSync(path.join(directory, task, "steps"))) {
      multiStep.push(task);
      continue;
    }
    const missing = ["instruction.md", "tests/test.sh"].filter(
      (file) => !existsSync(path.join(directory, task, file)),
    );
    if (missing.length > 0) incomplete.push(`${task} (${missing.join(", ")})`);
    else
      tasks.push({
        task,
        instruction: readFileSync(path.join(directory, task, "instruction.md"), "utf8").trim(),
      });
  }
  if (incomplete.length > 0)
    throw new ScaffoldError(
      `--from harbor: these tasks of '${source}' are not complete: ${incomplete.join("; ")}.`,
    );
  if (multiStep.length > 0) {
    const text = `multi-step tasks are not supported: ${multiStep.join(", ")}`;
    if (tasks.length === 0)
      throw new ScaffoldError(`--from harbor: '${source}' has no other tasks, and ${text}.`);
    warn(`${multiStep.length} of ${tasks.length + multiStep.length} tasks are left out: ${text}.`);
  }
  if (tasks.length === 0)
    throw new ScaffoldError(`--from harbor: no directory in '${source}' has a task.toml.`);
  return tasks;
}

/** Rows that select tasks by their index. The server has the rest of the data. */
function taskRows(): object[] {
  return [0, 1, 2, 3, 4].map((task_idx) => ({ responses_create_params: { input: [] }, task_idx }));
}

function requirements(library: string, what: string): string {
  return `${library}\npyyaml\n# The package that has the ${what}, unless its module lies beside app.py: a name on PyPI, a wheel, or a path.\n`;
}
