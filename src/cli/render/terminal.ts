import type { OutputStream } from "../command.ts";

/** Default width if neither the terminal nor `COLUMNS` gives one. */
const DEFAULT_WIDTH = 80;

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = keyof typeof STYLES;

/** The capabilities of a stream. The style functions return the text unchanged if colour is off. */
export interface Terminal extends Readonly<Record<Style, (text: string) => string>> {
  readonly isTty: boolean;
  readonly width: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colour only on a terminal; `NO_COLOR` turns it off, `FORCE_COLOR` on. */
export function createTerminal(stream: OutputStream, env: Environment): Terminal {
  const isTty = stream.isTTY === true;
  const colour = wantsColour(isTty, env);
  const paint = (style: Style) => (text: string) =>
    colour && text !== "" ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  return {
    isTty,
    width: terminalWidth(stream, env),
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  };
}

function wantsColour(isTty: boolean, env: Environment): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "") return env.FORCE_COLOR !== "0";
  return isTty && env.TERM !== "dumb";
}

function terminalWidth(stream: OutputStream, env: Environment): number {
  const asked = Number(env.COLUMNS);
  if (Number.isInteger(asked) && asked > 0) return asked;
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : DEFAULT_WIDTH;
}
