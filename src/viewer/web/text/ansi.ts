/** A piece of terminal output in one style; uses classes of the page, never styles from the text. */
export interface AnsiPiece {
  text: string;
  className: string;
}

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const SEQUENCE =
  /\u001b\[([0-9;?]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()][A-Z0-9]|\u001b[=>78NOM]/g;

export const HAS_ANSI = /\u001b[[\]()]|[^\n\r]\r(?!\n)/;

interface Style {
  colour: string;
  background: string;
  flags: Set<string>;
}

/**
 * Converts terminal output to styled pieces: colours are kept, other sequences dropped, and overwritten lines show
 * their final state.
 */
export function ansiPieces(text: string): AnsiPiece[] {
  const pieces: AnsiPiece[] = [];
  const style: Style = { colour: "", background: "", flags: new Set() };
  let at = 0;
  const push = (piece: string) => {
    if (piece !== "") pieces.push({ text: piece, className: classOf(style) });
  };
  const clean = overwritten(text);
  for (const match of clean.matchAll(SEQUENCE)) {
    push(clean.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") apply(style, match[1] ?? "");
  }
  push(clean.slice(at));
  return pieces;
}

/** A carriage return moves to the start of the line; a terminal shows the text after the last one. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      const ended = line.endsWith("\r") ? line.slice(0, -1) : line;
      const last = ended.lastIndexOf("\r");
      return last === -1 ? ended : ended.slice(last + 1);
    })
    .join("\n");
}

function classOf({ colour, background, flags }: Style): string {
  return [
    colour && `ansi-${colour}`,
    background && `ansi-on-${background}`,
    ...[...flags].map((flag) => `ansi-${flag}`),
  ]
    .filter(Boolean)
    .join(" ");
}

const FLAGS: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  9: "strike",
};

function apply(style: Style, written: string): void {
  const codes = written === "" ? [0] : written.split(";").map(Number);
  for (let place = 0; place < codes.length; place++) {
    const code = codes[place] ?? 0;
    const flag = FLAGS[code];
    if (code === 0) Object.assign(style, { colour: "", background: "", flags: new Set() });
    else if (flag) style.flags.add(flag);
    else if (code === 22) for (const each of ["bold", "dim"]) style.flags.delete(each);
    else if (code >= 23 && code <= 29) style.flags.delete(FLAGS[code - 20] ?? "");
    else if (code === 39) style.colour = "";
    else if (code === 49) style.background = "";
    else if (code >= 30 && code <= 37) style.colour = COLOURS[code - 30] ?? "";
    else if (code >= 90 && code <= 97) style.colour = COLOURS[code - 90] ?? "";
    else if (code >= 40 && code <= 47) style.background = COLOURS[code - 40] ?? "";
    else if (code >= 100 && code <= 107) style.background = COLOURS[code - 100] ?? "";
    // 256-colour and RGB codes are ignored, because mapping them to eight colours would be a guess.
    else if (code === 38 || code === 48) place += codes[place + 1] === 5 ? 2 : 4;
  }
}
