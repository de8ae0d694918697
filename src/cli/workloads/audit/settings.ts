import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { errorMessage } from "../../../base/errors.ts";
import { readConfigFile } from "../../../config/door.ts";
import { plainFromNode } from "../../../config/light-door.ts";
import { AuditError } from "../errors.ts";

const SETTINGS_FILE = "audit.yaml";

const Call = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

/** Long enough for a sentence. */
const reason = z.string().min(20);

/** What a judge writes: always the same, or what belongs to the first text that the request contains. */
const ExpectedVerdict = z.union([z.string(), z.record(z.string(), z.string())]);
export type ExpectedVerdict = z.output<typeof ExpectedVerdict>;

/** Answers for the checks with edited answers, besides those derived from the right one. */
const Edits = z
  .strictObject({
    /** Python format templates over the fields of the row. */
    texts: z.array(z.string()).default([]),
    /** A list of answers per example row. */
    answers: z.array(z.array(z.string())).default([]),
    /** Edits to which the check does not apply here, each with a reason. */
    except: z.array(z.strictObject({ edit: z.string(), reason })).default([]),
  })
  .prefault({});
export type EditSettings = z.output<typeof Edits>;

const Settings = z.strictObject({
  /** The answer that earns the maximum, if the rows do not have it in a known field. */
  gold: z
    .strictObject({
      /** A Python format template over the fields of the row. */
      text: z.string().optional(),
      /** One answer per example row. */
      answers: z.array(z.string()).optional(),
      /** Tool calls per example row, before the answer. */
      calls: z.array(z.array(Call)).optional(),
      /** False if the calls are the answer and are not executed. */
      run_calls: z.boolean().default(true),
    })
    .optional(),
  /** Wrong answers close to the right one. */
  near_misses: Edits,
  /** Right answers in other forms. */
  rewritings: Edits,
  /** The texts with which the judge accepts and rejects. Without them judges are not audited. */
  judge: z.strictObject({ accept: ExpectedVerdict, reject: ExpectedVerdict }).optional(),
  reward: z.strictObject({ minimum: z.number(), maximum: z.number() }).default({ minimum: 0, maximum: 1 }),
  limits: z
    .strictObject({
      /** Maximum milliseconds that one `verify` may block the event loop. */
      loop_ms: z.number().positive().default(50),
      /** Maximum milliseconds of one `verify`. */
      verify_ms: z.number().positive().default(1_000),
      /** Maximum milliseconds for an answer of one megabyte. */
      large_answer_ms: z.number().positive().default(2_000),
      /** Maximum reward of nonsense above the minimum, for rewards that measure similarity. */
      nonsense_reward: z.number().min(0).default(0),
    })
    .prefault({}),
  /** Example rows, counted from 1, in which doing nothing is right. */
  free_rows: z.array(z.strictObject({ row: z.number().int().min(1), reason })).default([]),
  /** Overrides of the server config, for keys without a default. */
  config: z.record(z.string(), z.unknown()).default({}),
  /** Result fields with measured times, which differ from run to run. `outer.inner` names a nested field. */
  measured_fields: z.array(z.string()).default([]),
  /** False for tools that call external services. */
  call_tools: z.boolean().default(true),
  /** Faults of `gym env certify` that change no reward, by file and changed text. */
  equivalent_mutants: z
    .array(z.strictObject({ file: z.string(), from: z.string(), to: z.string(), reason }))
    .default([]),
  /** Checks whose findings are accepted, each with a reason. */
  waivers: z
    .array(
      z.strictObject({
        check: z.string(),
        reason,
        /** The score, for a check that has one, below which the waiver does not hold. */
        minimum: z.number().min(0).max(1).optional(),
      }),
    )
    .default([]),
});

export type AuditSettings = z.output<typeof Settings>;
export type GoldSettings = NonNullable<AuditSettings["gold"]>;

/** Reads `audit.yaml` of a server for one of its configs. `configs.<stem>` overrides the other settings. */
export function readAuditSettings(directory: string, configStem: string): AuditSettings {
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
