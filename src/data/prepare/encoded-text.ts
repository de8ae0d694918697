import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";

/** A larger text is rejected. */
const MAX_BYTES = 512 * 1024 * 1024;

/** A text that some datasets store as base64 of zlib of Python's pickle. A JSON text is returned as it is. */
export function unpackText(text: string): string {
  if (/^\s*(?:[[{"]|$)/.test(text)) return text;
  return pickledText(inflateSync(Buffer.from(text, "base64"), { maxOutputLength: MAX_BYTES }));
}

/** The text of a pickle that contains nothing else. Other opcodes, which could run code in Python, are rejected. */
function pickledText(bytes: Buffer): string {
  let at = 0;
  for (;;) {
    const opcode = String.fromCharCode(bytes.readUInt8(at++));
    const textAt = (start: number, length: number) => {
      if (start + length > bytes.length) throw new Error("the pickled text is cut off");
      // Only a mark for later references may follow, and the end.
      if (!/^(?:q.|r.{4}|\x94)?\.$/s.test(bytes.toString("latin1", start + length, start + length + 8)))
        throw new Error("this is not a pickled text");
      return bytes.toString("utf8", start, start + length);
    };
    switch (opcode) {
      // The protocol, and the length of the frame.
      case "\x80":
        at += 1;
        break;
      case "\x95":
        at += 8;
        break;
      case "X":
        return textAt(at + 4, bytes.readUInt32LE(at));
      case "\x8c":
        return textAt(at + 1, bytes.readUInt8(at));
      case "\x8d":
        return textAt(at + 8, Number(bytes.readBigUInt64LE(at)));
      default:
        throw new Error("this is not a pickled text");
    }
  }
}

/** A text that was combined by XOR with the repeated SHA-256 of a key, in base64. */
export function xorText(text: string, key: string): string {
  const mask = createHash("sha256").update(key).digest();
  const bytes = Buffer.from(text, "base64");
  return Buffer.from(bytes.map((byte, index) => byte ^ (mask[index % mask.length] ?? 0))).toString("utf8");
}

/** Characters above 127 of code page 437. */
export const CODE_PAGE_437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

const DAMAGED = new RegExp(
  `[${CODE_PAGE_437.slice(66).replace(/[[\]\\]/g, "\\$&")}][${CODE_PAGE_437.replace(/[[\]\\]/g, "\\$&")}]{1,3}`,
  "gu",
);

/** A file name as people compare it: UTF-8 that was read as code page 437 is restored, and all apostrophes are the same. */
export function plainName(text: string): string {
  const restored = text.replace(DAMAGED, (found) => {
    for (let length = found.length; length > 1; length--) {
      const bytes = Buffer.from([...found.slice(0, length)].map((sign) => 128 + CODE_PAGE_437.indexOf(sign)));
      const decoded = bytes.toString("utf8");
      if (!decoded.includes("\uFFFD")) return decoded + found.slice(length);
    }
    return found;
  });
  return restored.normalize("NFC").replace(/[‘’]/g, "'");
}
