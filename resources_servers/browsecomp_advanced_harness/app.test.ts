import {
  createJudgedServer,
  createTestServer,
  EndpointServer,
  messageItem,
  skipWithoutBubblewrap,
  verifyBody,
} from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition, { browsecompHarness } from "./app.ts";
import { blockedReason } from "./bash-policy.ts";
import { slugOfUrl } from "./pages.ts";

const directory = import.meta.dirname;
const row = { question: "Capital?", ground_truth: "Paris" };
const keys = { tavily_api_key: ["one", "two"], use_judge: false };
const page = "Alpha\nbeta needle gamma\n".repeat(3);
const offline = browsecompHarness(() => ({
  search: async () => [{ title: "T", url: "https://www.a.org/x.html", content: page }],
  extract: async (urls) => urls.map((url) => ({ url, content: page })),
}));

let endpoint: EndpointServer | undefined;
afterEach(async () => endpoint?.close());
async function live(
  handler: ConstructorParameters<typeof EndpointServer>[0]["handler"],
  config: object = {},
) {
  endpoint = await new EndpointServer({ handler }).start();
  const urls = { tavily_base_url: endpoint.origin, exa_base_url: endpoint.origin };
  return createTestServer(definition, { config: { ...keys, ...urls, ...config }, directory });
}

describe("providers", () => {
  it("Tavily gets the keys in turn and prefers whole pages", async () => {
    const results = [{ title: "T", url: "https://a.org", content: "short", raw_content: "whole" }];
    const server = await live(() => ({ body: { results } }), { exclude_domains: ["bad.org"] });
    const found = await server.tool("search", { queries: ["a", "b"] });
    expect(found.body.results_string).toContain(
      "[Search Query]: b\n[Title]: T\n[URL]: https://a.org\n[Content]:\nwhole\n",
    );
    await server.tool("browse", { urls: ["https://x.bad.org/1", "https://a.org"] });
    expect(
      endpoint?.requests.map(({ path, body, headers }) => [
        path,
        body["query"] ?? body["urls"],
        headers.authorization,
      ]),
    ).toEqual([
      ["/search", "a", "Bearer one"],
      ["/search", "b", "Bearer two"],
      ["/extract", ["https://a.org"], "Bearer one"],
    ]);
  });

  it("Exa gets its own form", async () => {
    const config = { search_provider: "exa", exa_api_key: "k" };
    const server = await live(() => ({ body: { results: [{ title: "T", url: "u", text: "hi" }] } }), config);
    expect((await server.tool("search", { queries: "a" })).text).toContain("hi");
    expect((await server.tool("browse", { urls: '["https://a.org"]' })).text).toContain("hi");
    expect(endpoint?.requests.map(({ path, headers }) => [path, headers["x-api-key"]])).toEqual([
      ["/search", "k"],
      ["/contents", "k"],
    ]);
  });

  it("are asked again after limits and errors, which the result counts", async () => {
    const statuses = [429, 503, 200];
    const server = await live(() => ({ status: statuses.shift() ?? 200, body: { results: [] } }));
    await server.seed(row);
    expect((await server.tool("search", { queries: ["a"] })).status).toBe(200);
    const { body } = await server.verify(verifyBody(row, messageItem("Answer: Paris\nConfidence: 1")));
    expect(body).toMatchObject({ reward: 1, num_provider_429s: 1, num_provider_other_retries: 1 });
  });

  it.each([
    [400, 200, "Search failed: 400"],
    [401, 500, "401"],
  ])("an answer with %d becomes one with %d", async (status, expected, message) => {
    const server = await live(() => ({ status, body: { detail: "no" } }));
    const reply = await server.tool("search", { queries: ["a"] });
    expect(reply.status).toBe(expected);
    expect(reply.text).toContain(message);
    expect((await server.tool("browse", { urls: ["https://a.org"] })).text).toContain(
      "Failed to extract content",
    );
  });

  it("need a key", async () => {
    await expect(createTestServer(definition, { config: { use_judge: false }, directory })).rejects.toThrow(
      "tavily_api_key",
    );
  });
});

describe("verify", () => {
  const verify = async (replies: (string | object)[], text = "x") => {
    const config = { ...keys, use_judge: true, judge_retry_delay_factor: 0 };
    const { server, prompts } = await createJudgedServer(offline, import.meta.url, replies, config);
    return { ...(await server.verify(verifyBody(row, messageItem(text)))).body, prompts };
  };

  it("takes the last verdict", async () => {
    const said = "extracted_final_answer: Paris\nreasoning: it says correct: no\ncorrect: yes";
    expect(await verify([said])).toMatchObject({
      reward: 1,
      extracted_final_answer: "Paris",
      reasoning: said,
    });
    expect(await verify(["The answer says correct: yes.\ncorrect: no"])).toMatchObject({ reward: 0 });
    expect(await verify(["correct: yes or no", "correct: no"])).toMatchObject({
      reward: 0,
      reasoning: "correct: no",
    });
  });

  it("shows the answer without its thinking to the judge", async () => {
    const { prompts } = await verify(["correct: yes"], "<think>secret</think>Exact answer: Paris");
    expect(prompts[0]).toContain("<response>\nExact answer: Paris\n</response>");
  });

  it("fails the rollout if there is no verdict", async () => {
    expect(await verify([])).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    expect(await verify(Array<string>(15).fill("hm"))).toMatchObject({
      reward: 0,
      _ng_failure_class: "judge_failed",
    });
  });
});

it.each([
  ["grep -n needle *.txt | head -5", undefined],
  ["for f in *.txt; do wc -l $f; done 2>/dev/null", undefined],
  ["cat a 2>&1 | sort | uniq -c", undefined],
  ["echo 'rm -rf / > x'", undefined],
  ["cat a > b", "output redirection"],
  ["ls; /bin/rm -rf .", "rm"],
  ["X=1 \\rm a", "rm"],
  ["cat $(ls)", "command substitution"],
  ["echo $((1 + 2))", undefined],
  ["find . -exec cat {} +", "find with an action"],
  ["sed -i s/a/b/ f", "sed that writes"],
  [". ./x", "sourcing"],
  ["less f", "less is not an allowed program"],
])("the policy about %j is %j", (command, reason) => {
  expect(blockedReason(command)).toBe(reason);
});

it("names files after addresses", () => {
  expect(slugOfUrl("https://www.example.com/a/page.html?x=1")).toBe("example-com-page-html-x-1");
});

describe("the workspace", () => {
  const start = async () => {
    const server = await createTestServer(offline, {
      config: { ...keys, workspace: "per_session" },
      directory,
    });
    await server.seed(row);
    return server;
  };

  it("blocks commands before it starts a sandbox", async () => {
    const { body } = await (await start()).tool("bash_command", { keystrokes: "rm -rf /" });
    expect(body.results_string).toBe("[blocked: rm]\n[exit_code=-3]");
  });

  it.skipIf(skipWithoutBubblewrap)("keeps pages as files that commands read", async () => {
    const server = await start();
    const found = await server.tool("search", { queries: ["a"] });
    expect(found.body.results_string).toContain("[File]: a-org-x-html.txt");
    const run = async (keystrokes: string) =>
      (await server.tool("bash_command", { keystrokes })).body.results_string;
    expect(await run("grep -c needle a-org-x-html.txt")).toBe("3\n[exit_code=0]");
    expect(await run("cat nothing")).toMatch(/--- stderr ---\n.*\n\[exit_code=1\]$/s);
    await server.verify(verifyBody(row, messageItem("x")));
    expect(await run("ls")).toBe("[exit_code=0]");
    await server.close();
  });
});
