import { describe, expect, it } from "vitest";
import { maskWord } from "../secret-names.ts";
import { maskSecrets } from "./secrets.ts";

describe("maskSecrets", () => {
  it("hides everything under a key that speaks of keys or tokens, and enters mappings", () => {
    expect(
      maskSecrets({
        policy_api_key: "s",
        max_output_tokens: 50,
        monkey: null,
        keys: ["a", ["b"]],
        token_box: { plain: 1, inner_token: "t" },
        rows: [{ api_key: "z", fine: 1 }, 3],
        API_KEY: "case matters",
      }),
    ).toEqual({
      policy_api_key: "****",
      max_output_tokens: "****",
      monkey: "****",
      keys: ["****", "****"],
      token_box: { plain: 1, inner_token: "****" },
      rows: [{ api_key: "****", fine: 1 }, 3],
      API_KEY: "case matters",
    });
  });

  it("leaves its argument alone", () => {
    const value = { key: "s" };
    maskSecrets(value);
    expect(value.key).toBe("s");
  });
});

describe("headers", () => {
  it("whose names speak of credentials are hidden, whatever their case", () => {
    const openai_default_headers = {
      Authorization: "Bearer x",
      Cookie: "a=b",
      "X-Api-Key": "k",
      "X-Team": "blue",
    };
    expect(maskSecrets({ openai_default_headers, Cookie: "jar" })).toEqual({
      openai_default_headers: {
        Authorization: "****",
        Cookie: "****",
        "X-Api-Key": "****",
        "X-Team": "blue",
      },
      Cookie: "jar",
    });
  });
});

describe("words of a command line", () => {
  it.each([
    ["++a.api_key=sk", "++a.api_key=****"],
    ["++a.default_headers.Authorization=Bearer X", "++a.default_headers.Authorization=****"],
    ["++a.openai_default_headers={Authorization: Bearer X}", "++a.openai_default_headers=****"],
    ["++a.b={'X-Secret': y}", "++a.b=****"],
    ["--model-apikey=sk", "--model-apikey=****"],
    ["++limit=3", "++limit=3"],
    ["++a.b={input: 1}", "++a.b={input: 1}"],
    ["++author=me", "++author=me"],
    ["plain", "plain"],
  ])("%s is shown as %s", (word, shown) => {
    expect(maskWord(word)).toBe(shown);
  });
});
