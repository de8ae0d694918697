import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { getCloseMatches } from "../../python/difflib.ts";
import { ScaffoldError } from "../errors.ts";
import { checkName, type ScaffoldFiles } from "./files.ts";

/** Where an environment of `gym env init --from` comes from. */
export interface BridgeSource {
  readonly kind: string;
  /** A directory of tasks, an address, or a name in the other library. */
  readonly source: string;
  /** Default: made from the source. */
  readonly name?: string | undefined;
}

interface Bridge {
  /** The name to use where none is given. */
  name(source: string): string;
  /** Refuses a source that the other library could never open. */
  check?(source: string): void;
  files(name: string, source: string, cwd: string): ScaffoldFiles;
}

/** An environment of another library: its config, its rows, and the few lines of Python where it needs some. */
export function bridgeFiles(
  { kind, source, name: given }: BridgeSource,
  cwd: string,
): { name: string; files: ScaffoldFiles } {
  const bridge = Object.hasOwn(BRIDGES, kind) ? BRIDGES[kind] : undefined;
  if (bridge === undefined) {
    const known = Object.keys(BRIDGES);
    const [close] = getCloseMatches(kind, known, 1);
    const hint = close === undefined ? "" : `; did you mean '${close}'?`;
    throw new ScaffoldError(`--from: '${kind}' is not one of ${known.join(", ")}${hint}`);
  }
  bridge.check?.(source);
  const name = checkName(given ?? bridge.name(source));
  return { name, files: bridge.files(name, source, cwd) };
}

const MODULE = String.raw`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`;
/** What Python can import. `-` stands for `_`, and `owner/name@version` is a package of the verifiers hub. */
const TASKSET = /^(?:[\w-]+\/)?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?:@[\w.-]+)?$/;
/** A registered name, or `module:Class`. */
const DATASET = new RegExp(`^(?:[A-Za-z0-9_][\\w.-]*|${MODULE}:[A-Za-z_]\\w*)$`);

function checkSource(kind: string, source: string, pattern: RegExp, expected: string): void {
  if (!pattern.test(source)) throw new ScaffoldError(`--from ${kind} takes ${expected}, not '${source}'.`);
}

/** A usable name out of a path, an address or a package. */
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
    files(name, source, cwd) {
      const tasks = harborTasks(path.resolve(cwd, source), source);
      const rows = tasks.map(({ task, instruction }) => ({
        responses_create_params: { input: [{ role: "user", content: instruction }] },
        task,
      }));
      const server = `    harbor:
      entrypoint: app.ts
      domain: agent
      description: ${JSON.stringify(`Harbor tasks of ${source}`)}
      expose_tools_over_mcp: true
      tasks_dir: ${JSON.stringify(source)}
`;
      return environment(
        name,
        server,
        toolAgent(name, 50),
        rows,
        `${tasks.length} tasks of \`${source}\`, in the format of Harbor.`,
      );
    },
  },
  openenv: {
    name: () => "openenv_world",
    check: (source) =>
      checkSource(
        "openenv",
        source,
        /^(https?|wss?):\/\/[^/]/,
        "the address of a running server, such as http://127.0.0.1:8000",
      ),
    files(name, source) {
      const server = `    openenv:
      entrypoint: app.ts
      domain: agent
      description: ${JSON.stringify(`The OpenEnv environment at ${source}`)}
      base_url: ${JSON.stringify(source)}
      # true for environments that offer tools in place of one kind of action
      is_mcp: false
      reset_kwargs: {}
`;
      const input = [{ role: "user", content: "Act in the environment until the episode ends." }];
      const rows = [{ responses_create_params: { input }, reset_kwargs: {} }];
      return environment(name, server, toolAgent(name, 20), rows, `The OpenEnv environment at ${source}.`);
    },
  },
  aviary: {
    name: (source) => `aviary_${nameFrom(source)}`,
    check: (source) =>
      checkSource("aviary", source, DATASET, "a name that Aviary knows, such as gsm8k, or module:Class"),
    files(name, source) {
      const server = `    ${name}:
      entrypoint: app.py
      domain: agent
      description: ${JSON.stringify(`The task dataset ${source} of Aviary`)}
      # A name that Aviary knows, or module:Class, and its arguments.
      dataset: ${JSON.stringify(source)}
      dataset_args: {}
`;
      const agent = `${name}_aviary_agent:
  responses_api_agents:
    aviary_agent:
      entrypoint: app.ts
      max_steps: 20
${resourcesServer(name)}`;
      return {
        ...environment(name, server, agent, taskRows(), `The task dataset \`${source}\` of Aviary.`),
        [`resources_servers/${name}/app.py`]: python("aviary_environment"),
        [`resources_servers/${name}/requirements.txt`]: requirements("fhaviary>=0.30", "dataset"),
      };
    },
  },
  verifiers: {
    name: (source) => `verifiers_${nameFrom(source)}`,
    check: (source) =>
      checkSource("verifiers", source, TASKSET, "the module of a taskset, such as sums or my_package.sums"),
    files(name, source) {
      const agent = `${name}:
  responses_api_agents:
    ${name}:
      entrypoint: app.py
      description: ${JSON.stringify(`The taskset ${source} of verifiers`)}
      # The module of the taskset, and settings of the environment.
      vf_env_id: ${JSON.stringify(source)}
      vf_env_args: {}
      max_tokens: 8192
      concurrency: 8
`;
      return {
        ...environment(name, undefined, agent, taskRows(), `The taskset \`${source}\` of verifiers.`),
        [`responses_api_agents/${name}/app.py`]: python("verifiers_agent"),
        [`responses_api_agents/${name}/requirements.txt`]: requirements("verifiers>=0.4\nuv", "taskset"),
      };
    },
  },
};

interface HarborTask {
  task: string;
  instruction: string;
}

/** The task directories below a directory; a task itself has the name of its directory. */
function harborTasks(directory: string, source: string): HarborTask[] {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ScaffoldError(`--from harbor: there is no directory '${source}'.`);
  if (existsSync(path.join(directory, "task.toml")))
    throw new ScaffoldError(
      `--from harbor: '${source}' is a task itself. Name the directory that has it: ${path.dirname(source)}`,
    );
  const tasks: HarborTask[] = [];
  const incomplete: string[] = [];
  for (const task of readdirSync(directory).sort()) {
    if (!existsSync(path.join(directory, task, "task.toml"))) continue;
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
  if (tasks.length === 0)
    throw new ScaffoldError(`--from harbor: no directory in '${source}' has a task.toml.`);
  return tasks;
}

/** Rows that name tasks by their place in a dataset; the server has the rest. */
function taskRows(): object[] {
  return [0, 1, 2, 3, 4].map((task_idx) => ({ responses_create_params: { input: [] }, task_idx }));
}

function environment(
  name: string,
  server: string | undefined,
  agent: string,
  rows: readonly object[],
  what: string,
): ScaffoldFiles {
  const folder = `environments/${name}`;
  const block = server === undefined ? "" : `${name}:\n  resources_servers:\n${server}`;
  return {
    [`${folder}/config.yaml`]: `${block}${agent}      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
      - name: example
        type: example
        jsonl_fpath: ${folder}/data/example.jsonl
`,
    [`${folder}/data/example.jsonl`]: rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
    [`${folder}/README.md`]: `# ${name}\n\n${what}\n\n\`\`\`bash\ngym eval run --environment ${name} --model-type openai_model\n\`\`\`\n`,
  };
}

function toolAgent(name: string, maxSteps: number): string {
  return `${name}_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      max_steps: ${maxSteps}
${resourcesServer(name)}`;
}

function resourcesServer(name: string): string {
  return `      resources_server:
        type: resources_servers
        name: ${name}
`;
}

const python = (module: string) => `from gym_bridges.${module} import main\n\nmain()\n`;

const requirements = (library: string, what: string) =>
  `${library}\npyyaml\n# The package that has the ${what}, unless its module lies beside app.py: a name on PyPI, a wheel, or a path.\n`;
