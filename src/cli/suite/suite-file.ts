import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { parseYamlText } from "../../config/yaml/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { yamlFilesBelow } from "../workloads/catalog/folders.ts";

const Expected = z.strictObject({
  /** The metric of the agent. Default: the mean reward. */
  metric: z.string().default("mean/reward"),
  value: z.number(),
  tolerance: z.number().min(0),
  /** Where the value was published. */
  source: z.string().optional(),
});

const Settings = z.record(z.string(), z.unknown());

const Member = z
  .strictObject({
    benchmark: z.string().optional(),
    environment: z.string().optional(),
    resources_server: z.string().optional(),
    /** Config files that follow that of the benchmark, such as one with a judge. */
    config_paths: z.array(z.string()).default([]),
    name: z.string().optional(),
    /** Config keys of this member: num_repeats, responses_create_params, the block of a judge. */
    settings: Settings.default({}),
    expected: Expected.optional(),
  })
  .refine((member) => KINDS.filter((kind) => member[kind] !== undefined).length === 1, {
    error: "must have one of benchmark, environment and resources_server",
  });

const KINDS = ["benchmark", "environment", "resources_server"] as const;

const SuiteFile = z.strictObject({
  suite: z.strictObject({
    description: z.string().default(""),
    settings: Settings.default({}),
    members: z.array(Member).min(1),
  }),
});

export type Expectation = z.output<typeof Expected>;

export interface SuiteMember {
  /** Also the name of its folder. */
  readonly name: string;
  readonly kind: "benchmark" | "environment" | "resources-server";
  readonly selector: string;
  readonly configPaths: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly expected: Expectation | undefined;
}

export interface Suite {
  readonly name: string;
  readonly file: string;
  readonly description: string;
  readonly members: readonly SuiteMember[];
}

const FOLDER = "benchmarks";

/** The suites below the search roots, by name. The first root wins. */
export function suiteFiles(roots: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const root of roots) {
    const folder = path.join(root, FOLDER);
    for (const file of yamlFilesBelow(folder)) {
      const name = file.replace(/^suites\//, "").replace(/\.yaml$/, "");
      const whole = path.join(folder, file);
      if (!found.has(name) && isSuite(whole)) found.set(name, whole);
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isSuite(file: string): boolean {
  try {
    return /^suite:/m.test(readFileSync(file, "utf8"));
  } catch {
    // A file that cannot be read is not listed.
    return false;
  }
}

/** The suite with this name, or in this file. */
export function findSuite({ io, roots }: CommandContext, name: string): Suite {
  const file = /\.ya?ml$/.test(name) ? path.resolve(io.cwd, name) : suiteFiles(roots).get(name);
  if (file !== undefined && existsSync(file)) return readSuite(file, name.replace(/\.ya?ml$/, ""));
  const known = [...suiteFiles(roots).keys()];
  const nearest = suggest(name, known);
  throw new UsageError(
    `there is no suite '${name}'.${nearest === undefined ? ` There are: ${known.join(", ") || "none"}.` : ` Did you mean \`${nearest}\`?`} See \`gym list suites\`.`,
  );
}

export function readSuite(file: string, name: string): Suite {
  let content: unknown;
  try {
    content = parseYamlText(readFileSync(file, "utf8"), file);
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
  const result = SuiteFile.safeParse(content);
  if (!result.success) throw new UsageError(`${file}: ${result.error.issues.map(problemOf).join("; ")}`);
  const { description, settings, members } = result.data.suite;
  const read = members.map((member) => memberOf(member, settings));
  const names = read.map((member) => member.name);
  const twice = names.find((given, index) => names.indexOf(given) !== index);
  if (twice !== undefined)
    throw new UsageError(
      `${file}: two members have the name '${twice}'; give one of them another with 'name'`,
    );
  return { name: path.basename(name), file, description, members: read };
}

const KEYS = [...Object.keys(Member.shape), ...Object.keys(Expected.shape), "description", "members"];

function problemOf(issue: z.core.$ZodIssue): string {
  const where = issue.path.join(".") || "the file";
  if (issue.code !== "unrecognized_keys") return `${where}: ${issue.message}`;
  return issue.keys
    .map((key) => {
      const nearest = suggest(key, KEYS);
      return `${where} has no key '${key}'${nearest === undefined ? "" : `; did you mean '${nearest}'?`}`;
    })
    .join("; ");
}

function memberOf(member: z.output<typeof Member>, shared: z.output<typeof Settings>): SuiteMember {
  const kind = KINDS.find((name) => member[name] !== undefined) ?? "benchmark";
  const selector = member[kind] ?? "";
  return {
    name: (member.name ?? selector).replaceAll("/", "_"),
    kind: kind === "resources_server" ? "resources-server" : kind,
    selector,
    configPaths: member.config_paths,
    settings: merged(shared, member.settings),
    expected: member.expected,
  };
}

/** Mappings are merged, other values replaced. */
function merged(shared: unknown, own: unknown): Record<string, unknown> {
  const result: Record<string, unknown> = { ...(shared as Record<string, unknown>) };
  for (const [key, value] of Object.entries(own as Record<string, unknown>))
    result[key] = isMapping(value) && isMapping(result[key]) ? merged(result[key], value) : value;
  return result;
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
