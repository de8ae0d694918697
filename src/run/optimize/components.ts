import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage, GymError } from "../../base/errors.ts";
import { parseTemplate } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import { suggest } from "../../base/suggest.ts";
import { parseYamlValue } from "../../config/formats/door.ts";
import type { Row } from "../../records/files/door.ts";
import { overrideTexts, systemPromptOf, type TextOverrides, toolTextsOf } from "../inputs/text-overrides.ts";
import type { Texts } from "./merge.ts";

/** Where the texts of components come from. */
export interface ComponentSources {
  rows: readonly Row[];
  /** A prompt template file. */
  promptConfig?: string | undefined;
  /** The values of the config. */
  config: Row;
  /** `text_overrides` of the config. */
  textOverrides?: TextOverrides | undefined;
  /** Role of a system prompt that rows do not have. */
  systemPromptRole?: TextOverrides["system_prompt_role"];
}

/** What a candidate changes in a run. */
export interface CandidateLayer {
  textOverrides: TextOverrides | undefined;
  promptConfig: string | undefined;
  skills: string | undefined;
  /** Config strings by dotted path. */
  config: Readonly<Record<string, string>>;
}

const FRONT_MATTER = /^---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

/** The texts that an optimization may change, and how to use changed ones. */
export class Components {
  /** The texts before any change. */
  readonly seed: Texts;
  readonly #sources: ComponentSources;
  readonly #skills: string | undefined;

  private constructor(seed: Texts, sources: ComponentSources, skills: string | undefined) {
    this.seed = seed;
    this.#sources = sources;
    this.#skills = skills;
  }

  /** Finds the components that the names select: `system_prompt`, `tools.*.description`, `skills=DIR`, `config.a.b`. */
  static async read(names: readonly string[], sources: ComponentSources): Promise<Components> {
    const folders = names.flatMap((name) =>
      name.startsWith("skills=") ? [name.slice("skills=".length)] : [],
    );
    if (folders.length > 1) throw invalid("There can be one skills folder only.");
    // A result with this folder works from any directory.
    const skills = folders[0] === undefined ? undefined : path.resolve(folders[0]);
    const { known, differing } = await knownTexts(sources, skills);
    const seed: Record<string, string> = {};
    for (const name of names) {
      if (name.startsWith("config.text_overrides."))
        throw invalid(`'${name}': name the texts of text_overrides as system_prompt and tools.NAME.….`);
      if (name.startsWith("config.")) {
        seed[name] = configText(sources.config, name);
        continue;
      }
      const selected = name.startsWith("skills=") ? "skills.*" : name;
      const found = [...known.keys()].filter((candidate) => selects(selected, candidate));
      if (found.length === 0) throw unknownComponent(name, { known, differing });
      for (const candidate of found) seed[candidate] = known.get(candidate) ?? "";
    }
    if (Object.keys(seed).length === 0)
      throw invalid("Name at least one component, for example system_prompt.");
    return new Components(seed, sources, skills);
  }

  /** Whether servers must start again for each candidate. */
  get changeConfig(): boolean {
    return Object.keys(this.seed).some((name) => name.startsWith("config."));
  }

  /** Why a run with these texts would fail; undefined if it would not. A template must have a value for each field. */
  problemOf(texts: Texts): string | undefined {
    for (const [name, text] of Object.entries(texts)) {
      if (!name.startsWith("prompt.") || text === this.seed[name]) continue;
      try {
        const template = parseTemplate(text);
        for (const row of this.#sources.rows) template.render(row);
      } catch (error) {
        return `the template does not fit the rows: ${errorMessage(error)}`;
      }
    }
    return undefined;
  }

  /** The settings of a run with these texts. Files that it needs are written to the directory. */
  async layer(texts: Texts, directory: string): Promise<CandidateLayer> {
    const changed = Object.entries(texts).filter(([name, text]) => text !== this.seed[name]);
    const named = (prefix: string) =>
      changed.flatMap(([name, text]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), text]] : []));
    return {
      textOverrides: this.#textOverrides(changed),
      promptConfig: await this.#promptFile(Object.fromEntries(named("prompt.")), directory),
      skills: await this.#skillsFolder(Object.fromEntries(named("skills.")), directory),
      config: Object.fromEntries(named("config.")),
    };
  }

  /** The overrides of the config with the changed texts; undefined: those of the config. */
  #textOverrides(changed: readonly [string, string][]): TextOverrides | undefined {
    const { textOverrides: given = {}, systemPromptRole = given.system_prompt_role } = this.#sources;
    const tools: Record<string, { description?: string; parameters?: Record<string, string> }> = {};
    let prompt: string | undefined;
    for (const [name, text] of changed) {
      if (name === "system_prompt") prompt = text;
      const tool = toolComponent(name);
      if (tool === undefined) continue;
      const texts = tools[tool.name] ?? { ...given.tools?.[tool.name] };
      tools[tool.name] = texts;
      if (tool.parameter === undefined) texts.description = text;
      else texts.parameters = { ...texts.parameters, [tool.parameter]: text };
    }
    if (prompt === undefined && Object.keys(tools).length === 0) return undefined;
    const role = systemPromptRole && { system_prompt_role: systemPromptRole };
    return {
      ...given,
      ...(prompt !== undefined && { system_prompt: prompt, ...role }),
      ...(Object.keys(tools).length > 0 && { tools: { ...given.tools, ...tools } }),
    };
  }

  async #promptFile(changed: Row, directory: string): Promise<string | undefined> {
    const { promptConfig } = this.#sources;
    if (promptConfig === undefined || Object.keys(changed).length === 0) return promptConfig;
    const file = path.join(directory, "prompt.yaml");
    await mkdir(directory, { recursive: true });
    // JSON is YAML too.
    await writeFile(
      file,
      `${JSON.stringify({ ...(await readPrompt(promptConfig)), ...changed }, null, 2)}\n`,
    );
    return file;
  }

  async #skillsFolder(changed: Row, directory: string): Promise<string | undefined> {
    if (this.#skills === undefined || Object.keys(changed).length === 0) return this.#skills;
    const folder = path.join(directory, "skills");
    await cp(this.#skills, folder, { recursive: true });
    for (const [name, body] of Object.entries(changed)) {
      const file = path.join(folder, name, "SKILL.md");
      const [front = ""] = FRONT_MATTER.exec(await readFile(file, "utf8")) ?? [];
      await writeFile(file, `${front}${body}`);
    }
    return folder;
  }
}

interface KnownTexts {
  known: Map<string, string>;
  /** Components whose texts differ between rows: they belong to the tasks. */
  differing: Set<string>;
}

async function knownTexts(sources: ComponentSources, skills: string | undefined): Promise<KnownTexts> {
  const known = new Map<string, string>();
  const differing = new Set<string>();
  const add = (name: string, text: string) => {
    if ((known.get(name) ?? text) !== text) differing.add(name);
    else known.set(name, text);
  };
  const { textOverrides = {}, systemPromptRole = textOverrides.system_prompt_role } = sources;
  const { system_prompt: overridden, ...toolOverrides } = textOverrides;
  if (overridden !== undefined) known.set("system_prompt", overridden);
  for (const row of sources.rows) {
    const given = row["responses_create_params"];
    if (!isObject(given)) continue;
    const params = overrideTexts(given, toolOverrides);
    if (sources.promptConfig === undefined && overridden === undefined)
      add("system_prompt", systemPromptRole === "user" ? "" : systemPromptOf(params));
    for (const tool of Array.isArray(params["tools"]) ? params["tools"] : []) {
      const { name, texts } = toolTextsOf(tool) ?? { name: "", texts: new Map<string, string>() };
      for (const [part, text] of texts) add(`tools.${name}.${part}`, text);
    }
  }
  for (const name of differing) known.delete(name);
  if (sources.promptConfig !== undefined)
    // A system prompt of text_overrides replaces that of the template.
    for (const [key, text] of Object.entries(await readPrompt(sources.promptConfig)))
      if (typeof text === "string" && !(key === "system" && overridden !== undefined))
        known.set(`prompt.${key}`, text);
  if (skills !== undefined)
    for (const [name, body] of await skillBodies(skills)) known.set(`skills.${name}`, body);
  return { known, differing };
}

async function readPrompt(file: string): Promise<Row> {
  try {
    const content = parseYamlValue(await readFile(file, "utf8"));
    return isObject(content) ? content : {};
  } catch (error) {
    throw invalid(`The prompt config '${file}' cannot be read: ${errorMessage(error)}`);
  }
}

async function skillBodies(directory: string): Promise<[string, string][]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw invalid(`The skills folder '${directory}' cannot be read: ${errorMessage(error)}`);
  });
  const bodies: [string, string][] = [];
  for (const entry of entries.filter((each) => each.isDirectory())) {
    const file = path.join(directory, entry.name, "SKILL.md");
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) bodies.push([entry.name, text.replace(FRONT_MATTER, "")]);
  }
  if (bodies.length === 0) throw invalid(`The skills folder '${directory}' has no skill with a SKILL.md.`);
  return bodies.sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Whether the name selects a component. `*` stands for any part of a name. */
function selects(name: string, component: string): boolean {
  if (!name.includes("*")) return name === component;
  const wanted = toolComponent(name);
  const tool = toolComponent(component);
  if (wanted && tool)
    return (
      matches(wanted.name, tool.name) &&
      (wanted.parameter === undefined) === (tool.parameter === undefined) &&
      matches(wanted.parameter ?? "", tool.parameter ?? "")
    );
  return matches(name, component);
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(text);
}

function toolComponent(name: string): { name: string; parameter: string | undefined } | undefined {
  const match = /^tools\.(.+?)\.(?:parameters\.(.+)|description)$/.exec(name);
  return match?.[1] === undefined ? undefined : { name: match[1], parameter: match[2] };
}

function configText(config: Row, name: string): string {
  const keys = name.split(".").slice(1);
  let value: unknown = config;
  for (const [place, key] of keys.entries()) {
    if (!isObject(value) || !Object.hasOwn(value, key)) {
      const nearest = isObject(value) ? suggest(key, Object.keys(value)) : undefined;
      const where = keys.slice(0, place).join(".") || "the config";
      throw invalid(
        `'${name}': ${where} has no key '${key}'.${nearest ? ` Did you mean '${nearest}'?` : ""}`,
      );
    }
    value = value[key];
  }
  if (typeof value !== "string") throw invalid(`'${name}' is not a text, so it cannot be optimized.`);
  return value;
}

const MAX_LISTED = 8;

function unknownComponent(name: string, { known, differing }: KnownTexts): GymError {
  if ([...differing].some((other) => selects(name, other)))
    return invalid(
      `'${name}' differs between the rows, so it belongs to the tasks and not to the prompt. ` +
        "Optimize a text that all rows share, or use a prompt template (prompt.user, prompt.system).",
    );
  const names = [...known.keys()];
  const nearest = suggest(name, names);
  const listed = names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", …" : "");
  return invalid(
    `There is no component '${name}'.${nearest ? ` Did you mean '${nearest}'?` : ""} ` +
      `Components of these rows: ${listed || "none"}; further ones: skills=DIR, config.KEY.`,
  );
}

export function invalid(message: string): GymError {
  return new GymError("OPTIMIZE_INVALID", message);
}

/** Sets a value at a path of keys. */
export function setAt(target: Row, [key = "", ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const own = target[key];
  const next = isObject(own) ? own : {};
  target[key] = next;
  setAt(next, rest, value);
}
