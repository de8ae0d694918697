import { describe, expect, it } from "vitest";
import { ConversionError } from "./conversion-loss.ts";
import { parseImageDataUrl } from "./convert-to-anthropic-request.ts";

describe("parseImageDataUrl", () => {
  it.each([
    ["data:image/png;base64,QUJD", "image/png", "QUJD"],
    ["data:image/PNG;base64,QUJD", "image/png", "QUJD"],
    ["data:image/jpg;base64,QUI=", "image/jpeg", "QUI="],
    ["data:image/webp;charset=x;base64,QUJD=", "image/webp", "QUJD="],
  ])("parses %s", (url, mediaType, data) => {
    expect(parseImageDataUrl(url, "input.0")).toEqual({ mediaType, data });
  });

  it.each([
    "https://example.org/i.png",
    "DATA:image/png;base64,QUJD",
    "data:image/png,QUJD",
    "data:image/png;base64,",
    "data:image/png;base64",
    "data:image/tiff;base64,QUJD",
    "data:;base64,QUJD",
    "data:image/png;base64,QUJ",
    "data:image/png;base64,Q===",
    "data:image/png;base64,QUJD\n",
    "data:image/png;base64,QU JD",
    "data:image/png;base64,QUJD,QQ==",
    5,
    null,
  ])("rejects %j", (url) => {
    expect(() => parseImageDataUrl(url, "input.0")).toThrow(ConversionError);
  });
});
