import { z } from "zod";
import { suggest } from "../base/suggest.ts";
import { SandboxSpecError } from "./errors.ts";
import { checkEnvironment, rejectZeroByte } from "./safe-text.ts";

const HIGHEST_PORT = 65_535;

/** These texts become arguments of other programs, where a zero byte ends an argument. */
const argument = z.string().refine((text) => !text.includes("\0"), { message: "Must not have a zero byte" });
const argumentsByName = z.record(z.string(), argument);
const positive = z.number().positive();
const whole = z.coerce.number().int();
/** Null means absent: configs contain `${oc.env:NAME,null}`. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
const orDefault = <Schema extends z.ZodType>(schema: Schema, fallback: () => z.output<Schema>) =>
  schema.nullish().transform((value): z.output<Schema> => value ?? fallback());

/** Limits of a sandbox. */
export const SandboxResources = z.strictObject({
  /** Cores; fractions are allowed if the provider supports them. */
  cpu: optional(z.coerce.number().positive()),
  memory_mib: optional(whole.positive()),
  disk_gib: optional(whole.positive()),
  gpu: optional(whole.nonnegative()),
  gpu_type: optional(z.string()),
});
export type SandboxResources = z.output<typeof SandboxResources>;

// A config may contain a port as text.
const port = z
  .union([z.number(), z.string().regex(/^\s*\d+\s*$/)])
  .transform(Number)
  .pipe(z.number().int().min(1).max(HIGHEST_PORT));

/** The properties of a new sandbox; names as in the config. Absent mappings and lists are empty after the check. */
export const SandboxSpec = z.strictObject({
  image: optional(argument.min(1)),
  /** The sandbox ends after this time, if the provider supports it. */
  ttl_s: optional(positive),
  ready_timeout_s: optional(positive),
  /** The directory of commands without a directory of their own. */
  workdir: optional(argument.min(1)),
  env: orDefault(argumentsByName, () => ({})),
  /** Files to write before the first command: path in the sandbox to text. */
  files: orDefault(z.record(z.string(), z.string()), () => ({})),
  metadata: orDefault(argumentsByName, () => ({})),
  resources: orDefault(SandboxResources, () => ({})),
  entrypoint: optional(z.array(argument).min(1)),
  provider_options: orDefault(z.record(z.string(), z.unknown()), () => ({})),
  /** TCP ports available through `endpoint`. */
  ports: orDefault(
    z
      .array(port)
      .refine((ports) => new Set(ports).size === ports.length, { message: "A port may be listed only once" }),
    () => [],
  ),
});
/** A checked spec. */
export type SandboxSpec = z.output<typeof SandboxSpec>;
/** A spec as users write it. */
export type SandboxSpecInput = z.input<typeof SandboxSpec>;

/** Checks a spec. The error lists every problem, with the nearest valid name for an unknown key. */
export function parseSandboxSpec(input: unknown): SandboxSpec {
  const parsed = SandboxSpec.safeParse(input ?? {});
  if (!parsed.success)
    throw new SandboxSpecError(`The sandbox spec does not fit: ${describeIssues(parsed.error)}.`);
  checkEnvironment(parsed.data.env);
  for (const name of Object.keys(parsed.data.files)) rejectZeroByte(name, "The name of a file");
  return parsed.data;
}

/** `path: message` for every issue, with the nearest name for an unknown key. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => {
      const where = issue.path.map(String).join(".");
      const text = issue.code === "unrecognized_keys" ? unknownKeys(issue.keys, where) : issue.message;
      return where === "" ? text : `${where}: ${text}`;
    })
    .join("; ");
}

function unknownKeys(keys: readonly string[], where: string): string {
  const known = Object.keys(where === "resources" ? SandboxResources.shape : SandboxSpec.shape);
  const isOurs = where === "" || where === "resources";
  return keys
    .map((key) => {
      const close = isOurs ? suggest(key, known) : undefined;
      return `unknown key '${key}'${close === undefined ? "" : ` (did you mean '${close}'?)`}`;
    })
    .join(", ");
}
