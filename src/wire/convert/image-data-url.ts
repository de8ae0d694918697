import { ANTHROPIC_IMAGE_TYPES, type AnthropicImageType } from "../schemas/anthropic-types.ts";
import { badValue } from "./conversion-loss.ts";

const SCHEME = "data:";

/** Parses a base64 data URL of an image. Refuses links, other encodings and other image types. */
export function parseImageDataUrl(
  url: unknown,
  where: string,
): { mediaType: AnthropicImageType; data: string } {
  if (typeof url !== "string" || !url.startsWith(SCHEME)) {
    return badValue(`${where}: images must be base64 data URLs`);
  }
  const comma = url.indexOf(",");
  const data = comma === -1 ? "" : url.slice(comma + 1);
  if (data === "") badValue(`${where}: the data URL holds no image`);
  const [given = "", ...parameters] = url.slice(SCHEME.length, comma).split(";");
  if (!parameters.includes("base64")) badValue(`${where}: images must be base64 data URLs`);
  const named = given.toLowerCase();
  const mediaType = ANTHROPIC_IMAGE_TYPES.find(
    (type) => type === (named === "image/jpg" ? "image/jpeg" : named),
  );
  if (mediaType === undefined) {
    return badValue(`${where}: '${named}' is not one of ${ANTHROPIC_IMAGE_TYPES.join(", ")}`);
  }
  if (!isBase64(data)) badValue(`${where}: the data URL is not base64`);
  return { mediaType, data };
}

/** Padding may be superfluous, never missing. */
function isBase64(data: string): boolean {
  const match = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(data);
  if (match === null || data.endsWith("\n")) return false;
  const [, digits = "", padding = ""] = match;
  const rest = digits.length % 4;
  return rest === 0 || (rest > 1 && padding.length >= 4 - rest);
}
