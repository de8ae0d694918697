import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { GymError } from "../errors.ts";
import { strip } from "../python/whitespace.ts";
import type { ServerContext } from "./context.ts";

/** A prompt template that cannot be read or filled; a mistake of the config, never of the model. */
export class PromptTemplateError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("PROMPT_TEMPLATE", message, options);
  }
}

/** A text with `{name}` fields; `{{` and `}}` stand for braces. Values go in verbatim. */
export interface PromptTemplate {
  readonly names: ReadonlySet<string>;
  render(values: Readonly<Record<string, string>>): string;
}

/**
 * Reads a template once, so that filling it is a join.
 *
 * @example
 * compilePrompt("Q: {question}").render({ question: "6*7?" }); // "Q: 6*7?"
 */
export function compilePrompt(
  text: string,
  options: { source?: string; fields?: readonly string[] } = {},
): PromptTemplate {
  const source = options.source ?? "the prompt template";
  const { literals, names } = readPieces(text, source);
  for (const name of names) {
    if (options.fields && !options.fields.includes(name)) {
      throw new PromptTemplateError(`${source} asks for {${name}}; available: ${options.fields.join(", ")}.`);
    }
  }
  return {
    names: new Set(names),
    render(values) {
      let result = literals[0] ?? "";
      for (const [index, name] of names.entries()) {
        if (!Object.hasOwn(values, name)) {
          throw new PromptTemplateError(
            `${source} asks for {${name}}; available: ${Object.keys(values).join(", ")}.`,
          );
        }
        result += `${values[name]}${literals[index + 1]}`;
      }
      return result;
    },
  };
}

function readPieces(text: string, source: string): { literals: string[]; names: string[] } {
  const literals: string[] = [];
  const names: string[] = [];
  let literal = "";
  let from = 0;
  const brace = /[{}]/g;
  for (let match = brace.exec(text); match; match = brace.exec(text)) {
    const at = match.index;
    literal += text.slice(from, at);
    if (text[at + 1] === match[0]) {
      literal += match[0];
      from = at + 2;
    } else {
      const end = match[0] === "{" ? text.indexOf("}", at) : -1;
      const name = end < 0 ? "" : text.slice(at + 1, end);
      if (!/^[A-Za-z_]\w*$/.test(name)) {
        throw new PromptTemplateError(
          `${source} has a stray '${match[0]}' at character ${at}; write '${match[0]}${match[0]}' for a brace, {name} for a field.`,
        );
      }
      literals.push(literal);
      literal = "";
      names.push(name);
      from = end + 1;
    }
    brace.lastIndex = from;
  }
  literals.push(literal + text.slice(from));
  return { literals, names };
}

/** Finds a prompt file: beside the server's `app.ts` first, then where config paths are found. */
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
    throw new PromptTemplateError(
      `The prompt file '${path}' was found neither at ${beside} nor from the config roots.`,
      {
        cause: error,
      },
    );
  }
}

/** Loads a template from a text file; white space around it does not count. */
export async function loadPromptText(
  server: Pick<ServerContext, "directory" | "findFile">,
  path: string,
  fields?: readonly string[],
): Promise<PromptTemplate> {
  return compilePrompt(strip(await readPromptFile(server, path)), { source: path, fields });
}

const PromptFile = z.looseObject({ user: z.string(), system: z.string().nullish() });

/** A prompt of a YAML file: a `user` template and perhaps a `system` one. */
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
  const text = await readPromptFile(server, path);
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new PromptTemplateError(`The prompt file '${path}' is not valid YAML.`, { cause: error });
  }
  const file = PromptFile.safeParse(content);
  if (!file.success) throw new PromptTemplateError(`The prompt file '${path}' needs a text under 'user'.`);
  const { user, system } = file.data;
  return {
    user: compilePrompt(user, { source: path, fields }),
    ...(system ? { system: compilePrompt(system, { source: path, fields }) } : {}),
  };
}
