import { describe, expect, it } from "vitest";
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
