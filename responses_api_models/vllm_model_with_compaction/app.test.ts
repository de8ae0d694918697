import { expect, it } from "vitest";
import definition from "./app.ts";

it("is a model server with a route that counts tokens, and takes a prefix of tokens", () => {
  expect(definition.type).toBe("responses_api_models");
  expect(definition.options.requestFields).toEqual(["required_prefix_token_ids"]);
  expect(definition.options.post).toHaveProperty("/tokenize");
});
