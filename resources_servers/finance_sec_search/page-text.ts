import { splitLines, strip } from "nemo-gym/python";

const NAMED: Record<string, string> = {
  ...{
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    mdash: "\u2014",
    ndash: "\u2013",
    hellip: "\u2026",
  },
  ...{
    lsquo: "\u2018",
    rsquo: "\u2019",
    ldquo: "\u201c",
    rdquo: "\u201d",
    bull: "\u2022",
    middot: "\u00b7",
    sect: "\u00a7",
  },
  ...{
    copy: "\u00a9",
    reg: "\u00ae",
    trade: "\u2122",
    euro: "\u20ac",
    pound: "\u00a3",
    cent: "\u00a2",
    yen: "\u00a5",
    times: "\u00d7",
  },
};
const HIDDEN = /<(script|style)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const COMMENT = /<!--[\s\S]*?-->/g;
const TAG = /<[!/?a-z][^>]*>/gi;

/** The text of an HTML page: pieces between line ends and double spaces, one per line. */
export function pageText(html: string): string {
  const text = decode(html.replace(COMMENT, "").replace(HIDDEN, "").replace(TAG, ""));
  const pieces = splitLines(text).flatMap((line) => strip(line).split("  "));
  return pieces
    .map((piece) => strip(piece))
    .filter((piece) => piece !== "")
    .join("\n");
}

function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal, hex, name: string | undefined) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
