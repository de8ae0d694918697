/** Escapes the control characters of untrusted data for the terminal, including those that change the writing direction. */
export function printable(text: string): string {
  return text.replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => (character === "\r" ? "" : escapeCharacter(character)),
  );
}

/** The same for a name, which must stay on one line. */
export function printableName(name: string): string {
  return printable(name.replace(/[\t\n\r]/g, escapeCharacter));
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  return code > 0xff
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\x${code.toString(16).padStart(2, "0")}`;
}
