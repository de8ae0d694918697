import type { TokenizerExtension, Tokens } from "marked";
import temml from "temml";

/** A longer formula is shown as text. */
const MAX_INLINE = 2000;
const MAX_BLOCK = 10_000;

export interface MathToken extends Tokens.Generic {
  type: "math";
  text: string;
  display: boolean;
}

const BLOCK = new RegExp(
  String.raw`^ {0,3}(?:\$\$([^$]{1,${MAX_BLOCK}}?)\$\$|\\\[([\s\S]{1,${MAX_BLOCK}}?)\\\])[ \t]*(?:\n|$)`,
);
const DISPLAY = new RegExp(
  String.raw`^(?:\$\$([^$]{1,${MAX_INLINE}}?)\$\$|\\\[([\s\S]{1,${MAX_INLINE}}?)\\\])`,
);
/**
 * Dollar signs may be money or variable names: a formula touches its dollar signs, is not an amount followed by words,
 * and is not followed by a word.
 */
const INLINE = new RegExp(
  String.raw`^(?:\$(?![\s$]|\d[\d.,]* [a-z]{2})([^$\n]{1,${MAX_INLINE}}?)(?<![\s\\])\$(?!\w)|\\\(([\s\S]{1,${MAX_INLINE}}?)\\\))`,
);

/** Formulas between `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, and `\boxed{…}` anywhere, as tokens of Markdown. */
export const mathExtensions: TokenizerExtension[] = [
  {
    name: "math",
    level: "block",
    start: (source) => source.match(/(?<=^|\n) {0,3}(?:\$\$|\\\[)/)?.index,
    tokenizer: (source) => token(BLOCK.exec(source), true),
  },
  {
    name: "math",
    level: "inline",
    start: (source) => source.match(/(?<!\w)\$|\\(?:[([]|boxed\{)/)?.index,
    tokenizer: (source) =>
      token(DISPLAY.exec(source), true) ?? token(INLINE.exec(source), false) ?? boxed(source),
  },
];

/** Models write their answer as `\\boxed{…}`, often without dollar signs. */
function boxed(source: string): MathToken | undefined {
  if (!source.startsWith("\\boxed{")) return undefined;
  let depth = 0;
  for (let at = "\\boxed".length; at < Math.min(source.length, MAX_INLINE); at++) {
    const letter = source[at];
    if (letter === "\n") return undefined;
    if (letter === "\\") at++;
    else if (letter === "{") depth++;
    else if (letter === "}" && --depth === 0) {
      const raw = source.slice(0, at + 1);
      return { type: "math", raw, text: raw, display: false };
    }
  }
  return undefined;
}

function token(match: RegExpExecArray | null, display: boolean): MathToken | undefined {
  const text = (match?.[1] ?? match?.[2])?.trim();
  return match === null || !text ? undefined : { type: "math", raw: match[0], text, display };
}

/**
 * A formula as MathML; undefined if it cannot be parsed. The source comes from models, so it cannot link, load, style
 * or define anything.
 */
export function mathElement(text: string, display: boolean): Element | undefined {
  const holder = document.createElement("span");
  try {
    temml.render(text, holder, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      maxExpand: 500,
      maxSize: [20, 200],
    });
  } catch {
    return undefined;
  }
  // `\label` would let the source choose element ids.
  for (const element of holder.querySelectorAll("[id]")) element.removeAttribute("id");
  return holder.firstElementChild ?? undefined;
}
