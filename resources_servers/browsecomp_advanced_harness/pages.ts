import { strip } from "nemo-gym/python";
import { z } from "zod";
import type { Page, Result } from "./providers.ts";
import type { Workspace } from "./workspace.ts";

const MAX_RESULT = 5000;
const MAX_SLUG = 40;
const CUT = "\n... [truncated]";

/** A list of texts, also nested, written as JSON, or a single text. */
export const TextList = z.preprocess((value) => texts(value), z.array(z.string()));

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value !== "string" || strip(value) === "") return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? texts(parsed) : [value];
  } catch {
    return [value];
  }
}

/** Whether the host of an address is one of the domains, or below one. */
export function isExcluded(url: string, domains: readonly string[]): boolean {
  const host = hostOf(url);
  return domains.some((domain) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`));
}

function hostOf(url: string): string {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  return URL.canParse(text) ? new URL(text).hostname.toLowerCase() : "";
}

/** The results of one query; those that do not fit into the budget are left out. */
export async function resultBlock(
  query: string,
  results: readonly Result[],
  budget: number,
  workspace: Workspace | undefined,
  signal: AbortSignal,
): Promise<string> {
  const blocks = [`[Search Query]: ${query}`];
  let length = 0;
  for (const { title, url, content } of results) {
    const head = `[Title]: ${title}\n[URL]: ${url}\n`;
    const block = workspace
      ? `${head}[File]: ${await workspace.store(url, content, signal)}\n`
      : `${head}[Content]:\n${cut(content, MAX_RESULT)}\n`;
    length += [...block].length;
    if (length > budget) break;
    blocks.push(block);
  }
  return blocks.join("\n");
}

/** The text of a page, or where it was stored. */
export async function pageBlock(
  { url, content }: Page,
  budget: number,
  maxBytes: number,
  workspace: Workspace | undefined,
  signal: AbortSignal,
): Promise<string> {
  const text =
    Buffer.byteLength(content) > maxBytes
      ? Buffer.from(content).subarray(0, maxBytes).toString("utf8")
      : content;
  if (workspace) return `[URL]: ${url}\n[File]: ${await workspace.store(url, text, signal)}\n`;
  return `[URL]: ${url}\n[Content]:\n${cut(text, budget)}\n`;
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  return characters.length <= limit ? text : characters.slice(0, limit).join("") + CUT;
}

/** A text as part of a file name. */
export function slugify(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, MAX_SLUG)
    .replace(/-+$/, "");
}

/** The host of an address and what follows its last slash. */
export function slugOfUrl(url: string): string {
  const rest = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/^www\./, "");
  const [host = ""] = rest.split(/[/?#]/, 1);
  const tail = rest.slice(host.length).split("/").at(-1) ?? "";
  return slugify(`${host} ${tail}`);
}
