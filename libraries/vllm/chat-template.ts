import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { downloadFile } from "@huggingface/hub";
import { Template } from "@huggingface/jinja";
import { GymError, type JsonObject, type ServerContext } from "nemo-gym";
import type { ChatCreateParams } from "nemo-gym/openai";

const MAX_TEMPLATE_BYTES = 4 * 1024 * 1024;

/** Applies the chat template of a tokenizer like the tokenizer's own library. */
export class ChatTemplate {
  readonly #template: Template;
  readonly #specialTokens: JsonObject;

  constructor(source: string, specialTokens: JsonObject) {
    this.#template = new Template(source);
    this.#specialTokens = specialTokens;
  }

  /** The prompt of a conversation, up to the start of the assistant message. */
  render({ messages, tools }: ChatCreateParams, settings: JsonObject): string {
    return this.#template.render({
      ...this.#specialTokens,
      messages: messages.map(forTemplate),
      ...(tools && { tools }),
      add_generation_prompt: true,
      ...settings,
    });
  }
}

/** Templates concatenate contents as strings. */
function forTemplate(message: ChatCreateParams["messages"][number]): JsonObject {
  const { content } = message;
  const text = Array.isArray(content)
    ? content.map((part) => ("text" in part ? part.text : "")).join("")
    : (content ?? "");
  return { ...message, content: text };
}

/** Reads the template of a tokenizer from a folder or a hub repository. */
export async function loadChatTemplate(
  tokenizer: string,
  server: ServerContext<unknown>,
): Promise<ChatTemplate> {
  const read = (await isFolder(tokenizer, server)) ?? fromHub(tokenizer, server);
  const config = JSON.parse((await read("tokenizer_config.json")) ?? "{}") as JsonObject;
  const source = (await read("chat_template.jinja")) ?? templateIn(config["chat_template"]);
  if (source === undefined) {
    throw new GymError("CHAT_TEMPLATE", `The tokenizer '${tokenizer}' has no chat template.`);
  }
  const special: JsonObject = {};
  for (const name of ["bos_token", "eos_token", "pad_token", "unk_token"]) {
    const token = config[name];
    const text = typeof token === "object" ? (token as { content?: unknown } | null)?.content : token;
    if (typeof text === "string") special[name] = text;
  }
  return new ChatTemplate(source, special);
}

/** Some tokenizers have several templates; the one for plain conversations is named `default`. */
function templateIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const named = value as { name?: unknown; template?: unknown }[];
  const chosen = named.find(({ name }) => name === "default") ?? named[0];
  return typeof chosen?.template === "string" ? chosen.template : undefined;
}

type ReadFile = (name: string) => Promise<string | undefined>;

async function isFolder(tokenizer: string, server: ServerContext<unknown>): Promise<ReadFile | undefined> {
  const folder = server.findFile(tokenizer);
  const read: ReadFile = (name) => readFile(join(folder, name), "utf8").catch(() => undefined);
  const known = (await read("tokenizer_config.json")) ?? (await read("chat_template.jinja"));
  return known === undefined ? undefined : read;
}

function fromHub(repo: string, server: ServerContext<unknown>): ReadFile {
  const { hf_token: token } = server.globalConfig;
  const credentials = typeof token === "string" && token !== "" ? { accessToken: token } : {};
  return async (path) => {
    const blob = await downloadFile({ repo, path, ...credentials });
    if (blob === null) return undefined;
    if (blob.size > MAX_TEMPLATE_BYTES)
      throw new GymError("CHAT_TEMPLATE", `${path} of '${repo}' is too large.`);
    return blob.text();
  };
}
