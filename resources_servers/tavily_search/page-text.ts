import { codePointLength, splitWords, strip } from "nemo-gym/python";

const maxCharacters = 2000;
const RULE = "=".repeat(40);

/** Lines begin and end at line feeds only, as in Python. */
const BEGIN = "(?<![^\\n])";
const END = "(?![^\\n])";

const replacements: readonly [RegExp, string][] = [
  [/\[edit\]/g, ""],
  [new RegExp(`${BEGIN}\\[(?:Jump to content|Search|Read|Edit|View history)[^\\]]*\\][^\\n]*`, "g"), ""],
  [/\[[^\]]+\]\(https?:\/\/[a-z]{2,3}\.wikipedia\.org\/[^)]*\)/g, ""],
  [new RegExp(`${BEGIN}\\s*\\*\\s*\\[[^\\]]*\\]\\(#[^)]*\\)\\s*${END}`, "g"), ""],
  [/\u200b|\u200c|\u200d|\ufeff/g, ""],
  [/\u3010/g, "["],
  [/\u3011/g, "]"],
  [new RegExp(`(?<![ \\t])[ \\t]+${END}`, "g"), ""],
  [/\n{3,}/g, "\n\n"],
];

/** The text of a page without navigation and without superfluous white space. */
export function cleanText(text: string): string {
  return strip(replacements.reduce((result, [pattern, by]) => result.replace(pattern, by), text));
}

/** The text up to the last line that fits. */
export function cutText(text: string): { text: string; isCut: boolean } {
  if (codePointLength(text) <= maxCharacters) return { text, isCut: false };
  const start = [...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join("");
  const end = start.lastIndexOf("\n");
  return { text: end < 0 ? start : start.slice(0, end), isCut: true };
}

function numberLines(text: string): string {
  return text
    .split("\n")
    .map((line, index) => `L${index}: ${line}`)
    .join("\n");
}

/** The host name of an address in lower case; "" if it has none. */
export function hostOf(url: string): string {
  const authority = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/([^/?#]*)/.exec(url)?.[1] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return (bracketed ?? host.split(":", 1)[0] ?? "").toLowerCase();
}

export function isExcluded(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

function siteOf(url: string): string {
  return hostOf(url) || url;
}

/** One entry in the list of results. */
export function formatResult(number: number, url: string, title: string, content: string): string {
  const summary = cutText(cleanText(content)).text;
  return `[${number}] ${title} (${siteOf(url)})\n    URL: ${url}\n    Summary: ${summary}\n\n`;
}

/** The beginning of a page. */
export function formatExtract(url: string, query: string, content: string): string {
  const { text, isCut } = cutText(cleanText(content));
  const footer = isCut ? "\n[...truncated, use scroll_page for full content]" : "";
  return `Content from: ${siteOf(url)}\nURL: ${url}\nQuery: "${query}"\n${RULE}\n${numberLines(text)}${footer}`;
}

/** Some words of a page. Negative starts count from its end, as in Python's slices. */
export function formatWords(
  url: string,
  content: string,
  start: number,
  count: number,
): { text: string; total: number } {
  const words = splitWords(content);
  const end = start + count;
  const shown = numberLines(cleanText(words.slice(start, end).join(" ")));
  const place = `Showing words [${start}-${Math.min(end, words.length)}] of ${words.length}`;
  return {
    text: `Page content from: ${siteOf(url)}\nURL: ${url}\n${place}\n${RULE}\n${shown}`,
    total: words.length,
  };
}
