import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { errorMessage, GymError } from "../../base/errors.ts";
import { parseTemplate, strip, type Template } from "../../base/python/door.ts";
import type { ServerContext } from "../calls/server-client.ts";

/** A prompt template that cannot be read or filled: an error in the config, not of the model. */
export class PromptTemplateError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("PROMPT_TEMPLATE", message, options);
  }
}

/** A text with `{name}` fields; `{{` and `}}` are escaped braces. Values are inserted verbatim. */
export type PromptTemplate = Template;

/**
 * Parses a template and checks that it uses only the given fields.
 *
 * @example
 * compilePrompt("Q: {question}").render({ question: "6*7?" }); // "Q: 6*7?"
 */
export function compilePrompt(
  text: string,
  options: { source?: string; fields?: readonly string[] } = {},
): PromptTemplate {
  const { source = "The prompt template", fields } = options;
  let template: Template;
  try {
    template = parseTemplate(text);
  } catch (error) {
    throw new PromptTemplateError(`${source}: ${errorMessage(error)}`, { cause: error });
  }
  const unknown = fields && template.fields.find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    throw new PromptTemplateError(
      `${source} has the unknown field {${unknown}}; available: ${fields?.join(", ")}.`,
    );
  }
  return template;
}

/** Finds a prompt file: first next to the server's `app.ts`, then where config paths are resolved. */
async function readPromptFile(
  server: Pick<ServerContext, "directory" | "findFile">,
  path: string,
): Promise<string> {
  const beside = isAbsolute(path) ? path : join(server.directory, path);
  try {
    return await readFile(beside, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new PromptTemplateError(`The prompt file '${path}' cannot be read.`, { cause: error });
    }
  }
  try {
    return await readFile(server.findFile(path), "utf8");
  } catch (error) {
    const message = `The prompt file '${path}' was found neither at ${beside} nor from the config roots.`;
    throw new PromptTemplateError(message, { cause: error });
  }
}

/** Loads a template from a text file and trims it. */
export async function loadPromptText(
  server: Pick<ServerContext, "directory" | "findFile">,
  path: string,
  fields?: readonly string[],
): Promise<PromptTemplate> {
  return compilePrompt(strip(await readPromptFile(server, path)), { source: path, fields });
}

/** The template in a config key, or the one in a file of the server if the key is not set. */
export async function promptFrom(
  server: Pick<ServerContext, "directory" | "findFile">,
  text: string | null | undefined,
  path: string,
  fields: readonly string[],
): Promise<PromptTemplate> {
  return text ? compilePrompt(text, { fields }) : loadPromptText(server, path, fields);
}

const PromptFile = z.looseObject({ user: z.string(), system: z.string().nullish() });

/** A prompt of a YAML file: a `user` template and an optional `system` template. */
export interface ChatPrompt {
  user: PromptTemplate;
  system?: PromptTemplate;
}

/** Loads a prompt from a YAML file with the keys `user` and, optionally, `system`. */
export async function loadPromptYaml(
  server: Pick<ServerContext, "directory" | "findFile">,
  path: string,
  fields?: readonly string[],
): Promise<ChatPrompt> {
  const { user, system } = await loadYaml(server, path, PromptFile);
  const compile = (template: string) => compilePrompt(template, { source: path, fields });
  return { user: compile(user), system: system ? compile(system) : undefined };
}

/** Loads a YAML file, found like a prompt file, and checks it with a schema. */
export async function loadYaml<Schema extends z.ZodType>(
  server: Pick<ServerContext, "directory" | "findFile">,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await readPromptFile(server, path);
  let content: unknown;
  try {
    // Loaded lazily, because few servers have prompts in files.
    const { parseYamlText } = await import("../../config/yaml/door.ts");
    content = parseYamlText(text, path);
  } catch (error) {
    const reason = errorMessage(error);
    throw new PromptTemplateError(`The prompt file '${path}' is not valid YAML: ${reason}`, { cause: error });
  }
  const file = schema.safeParse(content);
  if (file.success) return file.data;
  throw new PromptTemplateError(`The prompt file '${path}' is not valid. ${z.prettifyError(file.error)}`);
}
