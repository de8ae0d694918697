import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { errorMessage, GymError } from "../errors.ts";
import { isObject, type JsonObject } from "../openai/readers.ts";
import { parseTemplate, type Template } from "../python/format.ts";
import { copyWith } from "../python/key-order.ts";
import { PyFloat } from "../python/py-float.ts";

/** A prompt config that cannot be read, or does not fit the rows. */
export class PromptConfigError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("PROMPT_CONFIG_INVALID", message, options);
  }
}

/** The templates that turn the fields of a row into the messages of its prompt. */
export interface PromptConfig {
  path: string;
  user: Template;
  system: Template | undefined;
}

const PromptFile = z.looseObject({ user: z.string(), system: z.string().nullish() });

/** Reads a YAML file with a template under `user` and perhaps one under `system`. */
export async function loadPromptConfig(path: string): Promise<PromptConfig> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new PromptConfigError(`The prompt config '${path}' cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  });
  let content: unknown;
  try {
    content = parse(text, { version: "1.1" });
  } catch (error) {
    throw new PromptConfigError(`The prompt config '${path}' is not valid YAML: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const file = PromptFile.safeParse(content);
  if (!file.success) {
    const problems = file.error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`);
    throw new PromptConfigError(
      `The prompt config '${path}' needs a text under 'user' and may have one under 'system' (${problems.join("; ")}).`,
    );
  }
  const { user, system } = file.data;
  return {
    path,
    user: template(path, "user", user),
    system: system === undefined || system === null ? undefined : template(path, "system", system),
  };
}

function template(path: string, key: string, text: string): Template {
  try {
    return parseTemplate(text);
  } catch (error) {
    throw new PromptConfigError(
      `The prompt config '${path}' has a bad template under '${key}': ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** Whether a row already has an input, so that no template may be applied; an empty one does not count. */
export function hasInput(row: JsonObject): boolean {
  const params = row["responses_create_params"];
  return isObject(params) && isTruthy(params["input"]);
}

/** A copy of the row whose `responses_create_params.input` are the messages made of its fields. */
export function renderPrompt(prompt: PromptConfig, row: JsonObject): JsonObject {
  const messages = [
    ...(prompt.system === undefined ? [] : [{ role: "system", content: prompt.system.render(row) }]),
    { role: "user", content: prompt.user.render(row) },
  ];
  const params = row["responses_create_params"];
  const filled = copyWith(isObject(params) ? params : {}, { input: messages });
  return copyWith(row, { responses_create_params: filled });
}

/** Python's truth of a JSON value. */
function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof PyFloat) return value.value !== 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Number.isNaN(value) || Boolean(value);
}
