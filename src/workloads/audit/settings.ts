import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { plainFromNode } from "../../config/plain-data.ts";
import { readConfigFile } from "../../config/read-config-file.ts";
import { errorMessage } from "../../errors.ts";
import { AuditError } from "../errors.ts";

const SETTINGS_FILE = "audit.yaml";

const Call = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

/** A sentence, not a word. */
const reason = z.string().min(20);

const Settings = z.strictObject({
  /** The answer that deserves the maximum, where it cannot be found by itself. */
  gold: z
    .strictObject({
      /** A Python format template over the fields of the row. */
      text: z.string().optional(),
      /** One answer per example row. */
      answers: z.array(z.string()).optional(),
      /** Tool calls per example row, made before the answer. */
      calls: z.array(z.array(Call)).optional(),
      /** False where calls are the answer and no tool runs them. */
      run_calls: z.boolean().default(true),
    })
    .optional(),
  /** What a judge writes to accept and to reject; without them judges are not audited. */
  judge: z.strictObject({ accept: z.string(), reject: z.string() }).optional(),
  reward: z.strictObject({ minimum: z.number(), maximum: z.number() }).default({ minimum: 0, maximum: 1 }),
  limits: z
    .strictObject({
      /** Milliseconds one `verify` may hold the event loop. */
      loop_ms: z.number().positive().default(50),
      /** Milliseconds one `verify` may take in all. */
      verify_ms: z.number().positive().default(1_000),
      /** The same for an answer of a megabyte. */
      large_answer_ms: z.number().positive().default(2_000),
      /** What nonsense may earn above the minimum, for rewards that measure likeness. */
      nonsense_reward: z.number().min(0).default(0),
    })
    .prefault({}),
  /** Example rows, counted from 1, in which doing nothing is right. */
  free_rows: z.array(z.strictObject({ row: z.number().int().min(1), reason })).default([]),
  /** Put over the config of the server, for keys that have no default. */
  config: z.record(z.string(), z.unknown()).default({}),
  /** Fields of a result that hold measured times, `outer.inner` inside another: they differ from run to run. */
  measured_fields: z.array(z.string()).default([]),
  /** Tools that reach out of the machine are not called. */
  call_tools: z.boolean().default(true),
  /** Findings that stand, each with the reason why. */
  waivers: z.array(z.strictObject({ check: z.string(), reason })).default([]),
});

export type AuditSettings = z.output<typeof Settings>;
export type GoldSettings = NonNullable<AuditSettings["gold"]>;

/** What `audit.yaml` in the folder of a server says, for one of its configs: `configs.<stem>` is put over the rest. */
export function readSettings(directory: string, configStem: string): AuditSettings {
  const file = path.join(directory, SETTINGS_FILE);
  if (!existsSync(file)) return Settings.parse({});
  let content: { configs?: Record<string, object> } & object;
  try {
    content = plainFromNode(readConfigFile(file)) as typeof content;
  } catch (error) {
    throw new AuditError(`${file} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
  const { configs = {}, ...common } = content;
  const own = Object.hasOwn(configs, configStem) ? configs[configStem] : {};
  const result = Settings.safeParse({ ...common, ...own });
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`);
  throw new AuditError(`${file} cannot be used: ${problems.join("; ")}.`);
}
