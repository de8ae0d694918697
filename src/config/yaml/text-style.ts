import { plainScalar } from "./scalars.ts";

export type TextStyle = "plain" | "single" | "double";

/** Words PyYAML's own dumper would read as something else than text: dates, `=`, `<<`, and `y`/`n`. */
const ALSO_TYPED =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?|=|<<|[yYnN])$/;
/** What Python's `int()` or `float()` would take; quoted so that no reader takes it for a number. */
const PYTHON_NUMBER =
  /^\s*[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?(?:[eE][-+]?\d+(?:_\d+)*)?|\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)\s*$/i;

const LEADING_INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?=\s|$)|---|\.\.\.)/;
const INNER_INDICATOR = /:(?=\s|$)|(?<=\s)#/;
/** Characters that only double quotes can carry: all but YAML's printable ones, and line breaks other than \n. */
const NEEDS_ESCAPE = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10fffe}]/u;

/** How a text is written in block style so that it reads back as the same text. */
export function textStyle(text: string, asKey: boolean): TextStyle {
  if (NEEDS_ESCAPE.test(text)) return "double";
  if (text.includes(" \n") || text.includes("\n ")) return "double";
  if (text.includes("\n")) return asKey ? "double" : "single";
  return canBePlain(text) ? "plain" : "single";
}

function canBePlain(text: string): boolean {
  if (text === "" || text.startsWith(" ") || text.endsWith(" ")) return false;
  if (LEADING_INDICATOR.test(text) || INNER_INDICATOR.test(text)) return false;
  return typeof plainScalar(text) === "string" && !ALSO_TYPED.test(text) && !PYTHON_NUMBER.test(text);
}
