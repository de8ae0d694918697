import {
  createJudgedServer,
  createTestServer,
  EndpointServer,
  messageItem,
  verifyBody,
} from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";
import { cleanText, hostOf, isExcluded } from "./page-text.ts";

const directory = import.meta.dirname;
const row = { question: "Who?", ground_truth: "Ida Holm" };
const local = { search_provider: "local", local_pages_path: "data/pages.jsonl", use_judge: false };

let endpoint: EndpointServer | undefined;
afterEach(async () => endpoint?.close());

async function withTavily(handler: ConstructorParameters<typeof EndpointServer>[0]["handler"]) {
  endpoint = await new EndpointServer({ handler }).start();
  const config = { tavily_api_key: ["one", "two"], tavily_base_url: endpoint.origin, use_judge: false };
  return createTestServer(definition, { config: { ...config, exclude_domains: ["bad.example"] }, directory });
}

describe("a local index", () => {
  it("finds pages by their words and shows them", async () => {
    const server = await createTestServer(definition, { config: local, directory });
    const { body } = await server.tool("web_search", { query: "last keeper of Skerry Rock book" });
    expect(body.results_string).toContain(
      "[1] The last keeper (news.example)\n    URL: https://news.example/keeper",
    );
    expect(body.results_string).not.toContain("mustard");
    const url = "https://news.example/keeper";
    const found = await server.tool("find_in_page", { url, query: "book" });
    expect(found.body.results_string).toContain("L0: Per Aas kept the light");
    const words = await server.tool("scroll_page", { url, start_index: -3, n: 2 });
    expect(words.body).toMatchObject({ total_words: 25 });
    expect(words.body.results_string).toContain("L0: The Long");
    const { body: missing } = await server.tool("find_in_page", { url: "https://x.example", query: "q" });
    expect(missing.results_string).toBe("No content found.");
    expect((await server.tool("web_search", { query: "zzz" })).body.results_string).toBe(
      "Search Results\n==============\n",
    );
  });

  it("leaves out excluded domains", async () => {
    const config = { ...local, exclude_domains: ["news.example"] };
    const server = await createTestServer(definition, { config, directory });
    const { body } = await server.tool("web_search", { query: "last keeper" });
    expect(body.results_string).not.toContain("news.example");
    const page = await server.tool("scroll_page", { url: "https://www.news.example/keeper" });
    expect(page.body).toEqual({ results_string: "URL is in excluded domains", total_words: 0 });
  });
});

describe("Tavily", () => {
  it("sends what the service expects, with the keys in turn, and counts the calls of the session", async () => {
    const server = await withTavily(({ path }) =>
      path === "/search"
        ? { body: { results: [{ url: "https://a.example/x", title: "T", content: "c" }] } }
        : { body: { results: [{ raw_content: "one two" }] } },
    );
    await server.seed(row);
    await server.tool("web_search", { query: "q" });
    const url = "https://a.example/x";
    await server.tool("find_in_page", { url, query: "q" });
    for (const _ of [1, 2]) await server.tool("scroll_page", { url });
    expect(endpoint?.requests.map(({ path, body, headers }) => [path, body, headers.authorization])).toEqual([
      [
        "/search",
        { query: "q", search_depth: "advanced", max_results: 10, exclude_domains: ["bad.example"] },
        "Bearer one",
      ],
      ["/extract", { urls: url, query: "q" }, "Bearer two"],
      ["/extract", { urls: url }, "Bearer one"],
    ]);
    const { body } = await server.verify(verifyBody(row, messageItem("Answer: Ida Holm\nConfidence: 9")));
    expect(body.metrics.async_tavily_calls.map((call: { function: string }) => call.function)).toEqual([
      "search",
      "extract",
      "extract",
    ]);
  });

  it("tries again after a rate limit and after an error of the service", async () => {
    const statuses = [429, 500, 200];
    const server = await withTavily(() => ({ status: statuses.shift() ?? 200, body: { results: [] } }));
    expect((await server.tool("web_search", { query: "q" })).status).toBe(200);
    expect(statuses).toEqual([]);
  });

  it.each([
    ["a refused key", { status: 401, body: { detail: { error: "bad key" } } }, "bad key"],
    ["no JSON", { body: "<html>" }, "not JSON"],
    ["another form", { body: { pages: [] } }, "unknown form"],
  ])("reports %s", async (_name, reply, message) => {
    const server = await withTavily(() => reply);
    const { status, text } = await server.tool("web_search", { query: "q" });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toContain(message);
  });
});

describe("verify", () => {
  it.each([
    ["Answer: Ida Holm\nConfidence: 90%", 1, "Ida Holm"],
    ["Answer: Per\nConfidence: 1\nanswer: Ida Holm confidence: 2", 1, "Ida Holm"],
    ["Answer: ida holm\nConfidence: 90%", 0, "ida holm"],
    ["Ida Holm", 0, ""],
    ["", 0, ""],
  ])("without a judge %j earns %d", async (text, reward, extracted_final_answer) => {
    const server = await createTestServer(definition, { config: local, directory });
    const { body } = await server.verify(verifyBody(row, messageItem(text)));
    expect(body).toMatchObject({ reward, extracted_final_answer, judge_response: null });
  });

  it.each([
    ["Same person.\ncorrect: yes", 1, "yes"],
    ["The answer says correct: yes.\ncorrect: no", 0, ""],
    ["correct: no, although the answer says correct: yes", 0, ""],
    ["Correct: yes", 0, ""],
  ])("a judge that says %j gives %d", async (reply, reward, extracted_final_answer) => {
    const { server, prompts } = await createJudgedServer(definition, import.meta.url, [reply], {
      ...local,
      use_judge: true,
    });
    const { body } = await server.verify(verifyBody(row, messageItem("She was Ida Holm.")));
    expect(body).toMatchObject({ reward, extracted_final_answer, reasoning: reply });
    for (const part of ["Who?", "Ida Holm", "She was Ida Holm."]) expect(prompts[0]).toContain(part);
  });

  it("fails the rollout if the judge does not answer", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, [], {
      ...local,
      use_judge: true,
    });
    const { body } = await server.verify(verifyBody(row, messageItem("x")));
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});

describe("pages", () => {
  it.each([
    ["a[edit] b", "a b"],
    ["[Jump to content](#x) more\ntext", "text"],
    ["[Deutsch](https://de.wikipedia.org/wiki/X) text", "text"],
    ["x\n* [(Top)](#)\ny", "x\n\ny"],
    ["a\u200bb 【c】  \nd\n\n\n\ne", "ab [c]\nd\n\ne"],
  ])("%j is cleaned to %j", (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it.each([
    ["https://User@WWW.Bad.example:8080/x?y", "www.bad.example"],
    ["//bad.example/x", "bad.example"],
    ["http://[::1]:80/", "::1"],
    ["not a url", ""],
  ])("the host of %s is %j", (url, host) => {
    expect(hostOf(url)).toBe(host);
  });

  it("excludes a domain and those below it", () => {
    expect(isExcluded("www.bad.example", ["bad.example"])).toBe(true);
    expect(isExcluded("notbad.example", ["bad.example"])).toBe(false);
  });
});
