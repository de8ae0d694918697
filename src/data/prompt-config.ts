import { readFile } from "node:fs/promises";
import { errorMessage } from "../base/errors.ts";
import { isTruthy, parseTemplate, type Template } from "../base/python/door.ts";
import { copyWith } from "../base/python/json/door.ts";
import { parseYamlValue } from "../config/formats/door.ts";
import { RolloutError } from "../records/errors.ts";
import type { Row } from "../records/files/door.ts";

/** A prompt config: a template for the user message and an optional one for the system message. */
export interface PromptConfig {
  path: string;
  user: Pick<Template, "render">;
  system?: Pick<Template, "render">;
}

/**
 * Reads a prompt config file: a YAML mapping with the text `user` and, optionally, `system`. With `failLate` a malformed
 * template is reported when the first row is rendered, like in the Python original, instead of immediately.
 */
export async function loadPromptConfig(
  path: string,
  options: { failLate?: boolean } = {},
): Promise<PromptConfig> {
  let content: unknown;
  try {
    content = parseYamlValue(await readFile(path, "utf8"));
  } catch (error) {
    const problem =
      (error as NodeJS.ErrnoException).code === "ENOENT"
        ? "does not exist"
        : `cannot be read: ${errorMessage(error)}`;
    throw invalid(path, problem, error);
  }
  // The YAML parser returns a Map if some keys are not strings.
  const { user, system } = (content instanceof Map ? Object.fromEntries(content) : (content ?? {})) as {
    user?: unknown;
    system?: unknown;
  };
  if (typeof user !== "string") throw invalid(path, "needs a text under 'user'");
  if (system !== undefined && system !== null && typeof system !== "string") {
    throw invalid(path, "has a 'system' that is not text");
  }
  const template = options.failLate ? lateTemplate : earlyTemplate;
  return {
    path,
    user: template(path, "user", user),
    system: typeof system === "string" ? template(path, "system", system) : undefined,
  };
}

function lateTemplate(path: string, key: string, text: string): Pick<Template, "render"> {
  let parsed: Template | undefined;
  return {
    render: (row) => {
      parsed ??= earlyTemplate(path, key, text);
      return parsed.render(row);
    },
  };
}

function earlyTemplate(path: string, key: string, text: string): Template {
  try {
    return parseTemplate(text);
  } catch (error) {
    throw invalid(path, `has a malformed template under '${key}': ${errorMessage(error)}`, error);
  }
}

function invalid(path: string, problem: string, cause?: unknown): RolloutError {
  return new RolloutError("ROLLOUT_PROMPT_CONFIG", `The prompt config '${path}' ${problem}.`, { cause });
}

/** Whether the row already has an input, which a prompt config would overwrite. */
export function hasPopulatedInput(row: Row): boolean {
  const params = row["responses_create_params"];
  if (params === null || typeof params !== "object") return false;
  return isTruthy((params as Row)["input"]);
}

/** A copy of the row with an input rendered from the templates. */
export function applyPromptConfig(config: PromptConfig, row: Row): Row {
  const input: Row[] = [];
  if (config.system) input.push({ role: "system", content: config.system.render(row) });
  input.push({ role: "user", content: config.user.render(row) });
  const params = row["responses_create_params"];
  const given =
    params !== null && typeof params === "object" && !Array.isArray(params) ? (params as Row) : {};
  return copyWith(row, { responses_create_params: copyWith(given, { input }) });
}
