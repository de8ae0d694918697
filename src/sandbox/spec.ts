import { z } from "zod";
import { getCloseMatches } from "../python/difflib.ts";
import { SandboxSpecError } from "./errors.ts";
import { checkEnvironment, refuseZeroByte } from "./plain-words.ts";

const HIGHEST_PORT = 65_535;

/** Ends up in arguments of other programs, which take a zero byte as the end of a word. */
const word = z.string().refine((text) => !text.includes("\0"), { message: "Must not have a zero byte" });
const words = z.record(z.string(), word);
const positive = z.number().positive();
const whole = z.coerce.number().int();
/** Null counts as absent: configs carry `${oc.env:NAME,null}`. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** What a sandbox may use. */
export const SandboxResources = z.strictObject({
  /** Cores; fractions are allowed where the provider can. */
  cpu: optional(z.coerce.number().positive()),
  memory_mib: optional(whole.positive()),
  disk_gib: optional(whole.positive()),
  gpu: optional(whole.nonnegative()),
  gpu_type: optional(z.string()),
});
export type SandboxResources = z.output<typeof SandboxResources>;

// Configs may give a port as text.
const port = z
  .union([z.number(), z.string().regex(/^\s*\d+\s*$/)])
  .transform(Number)
  .pipe(z.number().int().min(1).max(HIGHEST_PORT));

/** What a sandbox is asked to be; names as in the config. */
export const SandboxSpec = z.strictObject({
  image: optional(word.min(1)),
  /** The sandbox ends after this time, if the provider supports it. */
  ttl_s: optional(positive),
  ready_timeout_s: optional(positive),
  /** Where commands run that name no directory of their own. */
  workdir: optional(word.min(1)),
  env: optional(words),
  /** Written before the sandbox is handed out: path in the sandbox to text. */
  files: optional(z.record(z.string(), z.string())),
  metadata: optional(words),
  resources: optional(SandboxResources),
  entrypoint: optional(z.array(word).min(1)),
  provider_options: optional(z.record(z.string(), z.unknown())),
  /** TCP ports that may be asked for with `endpoint`. */
  ports: optional(
    z
      .array(port)
      .refine((ports) => new Set(ports).size === ports.length, { message: "A port may be listed only once" }),
  ),
});
/** A spec as users write it. */
export type SandboxSpecInput = z.input<typeof SandboxSpec>;

/** A checked spec: missing members are empty. */
export interface SandboxSpec {
  image?: string | undefined;
  ttl_s?: number | undefined;
  ready_timeout_s?: number | undefined;
  workdir?: string | undefined;
  env: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string>>;
  resources: SandboxResources;
  entrypoint?: readonly string[] | undefined;
  provider_options: Readonly<Record<string, unknown>>;
  ports: readonly number[];
}

/** Checks a spec; every problem is named, with the nearest valid name for an unknown key. */
export function parseSandboxSpec(input: unknown): SandboxSpec {
  const parsed = SandboxSpec.safeParse(input ?? {});
  if (!parsed.success)
    throw new SandboxSpecError(`The sandbox spec does not fit: ${describeIssues(parsed.error)}.`);
  const { env = {}, files = {}, metadata = {}, provider_options = {}, ports = [], ...rest } = parsed.data;
  checkEnvironment(env);
  for (const name of Object.keys(files)) refuseZeroByte(name, "The name of a file");
  const resources = rest.resources ?? SandboxResources.parse({});
  return { ...rest, env, files, metadata, provider_options, ports, resources };
}

/** `path: message` for every issue; unknown keys come with the nearest name. */
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
      const [close] = isOurs ? getCloseMatches(key, known, 1) : [];
      return `unknown key '${key}'${close === undefined ? "" : ` (did you mean '${close}'?)`}`;
    })
    .join(", ");
}
