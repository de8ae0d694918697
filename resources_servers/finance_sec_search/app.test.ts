import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  createJudgedServer,
  createTestServer,
  EndpointServer,
  functionCallItem,
  messageItem,
  modelResponse,
  verifyBody,
} from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition, { financeSecSearch } from "./app.ts";
import { pageText } from "./page-text.ts";

const directory = import.meta.dirname;
const row = { question: "Revenue?", expected_answer: "383 million" };
const TICKERS = "https://www.sec.gov/files/company_tickers.json";
const filings = (name: string, date: string) => ({
  ...{ accessionNumber: ["0000000007-20-000001"], form: ["10-K"], filingDate: [date] },
  ...{ reportDate: [date], primaryDocument: [name] },
});
const PAGES: Record<string, string> = {
  [TICKERS]: JSON.stringify({ 0: { cik_str: 7, ticker: "ACME", title: "Acme" } }),
  "https://data.sec.gov/submissions/CIK0000000007.json": JSON.stringify({
    filings: { recent: filings("new.htm", "2024-01-02"), files: [{ name: "old.json" }] },
  }),
  "https://data.sec.gov/submissions/old.json": JSON.stringify(filings("old.htm", "2010-01-02")),
  "https://example.com/": "<p>Revenue  was&nbsp;&#36;383</p>",
};
const offline = financeSecSearch(() => ({
  text: async (url) => PAGES[url],
  close: async () => undefined,
}));

async function start(config: object = {}, reader?: (path: string, body: unknown) => unknown) {
  const server = await createTestServer(offline, {
    config: { ...config, ...(reader && { retrieval_model_server: "reader" }) },
    directory,
    servers: { reader: reader ?? (() => ({})) },
  });
  await server.seed(row);
  const call = async (name: string, input: object) => (await server.tool(name, input)).body.results as string;
  return { server, call };
}

describe("filings", () => {
  it("lists recent and older ones, the newest first", async () => {
    const { call } = await start();
    const listed = JSON.parse(await call("sec_filing_search", { ticker: " acme " }));
    expect(listed.map((entry: { filing_date: string }) => entry.filing_date)).toEqual([
      "2024-01-02",
      "2010-01-02",
    ]);
    expect(listed[0].filing_url).toBe("https://www.sec.gov/Archives/edgar/data/7/000000000720000001/new.htm");
  });

  it("filters by form and day, also by the last day of the config", async () => {
    const { call } = await start({ max_end_date: "2020-12-31" });
    const listed = await call("sec_filing_search", {
      ticker: "ACME",
      form_types: "['10-K', '10-Q']",
      end_date: "2030-01-01",
    });
    expect(JSON.parse(listed)).toHaveLength(1);
    expect(await call("sec_filing_search", { ticker: "ACME", form_types: ["8-K"] })).toContain(
      "form types ['8-K']",
    );
    expect(await call("sec_filing_search", { ticker: "NONE" })).toContain(
      "No company found for ticker 'NONE'",
    );
  });
});

describe("pages", () => {
  it("are stored, and read by a model", async () => {
    const prompts: string[] = [];
    const { call } = await start({}, (_path, body) => {
      prompts.push((body as { input: { content: string }[] }).input[1]?.content ?? "");
      return modelResponse(messageItem("383"));
    });
    const page = { url: "https://example.com/", key: "p" };
    expect(await call("parse_html_page", page)).toContain("under the key: p.");
    expect(await call("parse_html_page", page)).toContain("WARNING");
    expect(await call("retrieve_information", { prompt: "Sum {{p}} $&" })).toBe("383");
    const ranges = JSON.stringify([{ key: "p", start: 0, end: 3 }]);
    await call("retrieve_information", { prompt: "{{p}}", input_character_ranges: ranges });
    expect(prompts).toEqual(["Sum Revenue\nwas\u00a0$383 $&", "Rev"]);
    expect(await call("retrieve_information", { prompt: "{{q}}" })).toContain("Available keys are: p.");
    expect(await call("retrieve_information", { prompt: "nothing" })).toContain("at least one key");
  });

  it("that cannot be fetched, and a model that fails, are answers of the tools", async () => {
    const { call } = await start({}, () => ({ status: 500, body: "busy" }));
    expect(await call("parse_html_page", { url: "https://example.com/no", key: "p" })).toContain(
      "Failed to fetch",
    );
    await call("parse_html_page", { url: "https://example.com/", key: "p" });
    expect(await call("retrieve_information", { prompt: "{{p}}" })).toContain("Retrieval LLM HTTP 500");
  });

  it("leave out scripts and comments", () => {
    expect(pageText("<!-- a --><SCRIPT>b</SCRIPT ><b>x</b>  <i>1 < 2 &amp; 3 &unknown;</i>")).toBe(
      "x\n1 < 2 & 3 &unknown;",
    );
  });
});

describe("the web", () => {
  let endpoint: EndpointServer | undefined;
  let folder: string | undefined;
  afterEach(async () => {
    await endpoint?.close();
    if (folder) await rm(folder, { recursive: true });
  });
  const live = async (config: object) =>
    createTestServer(definition, {
      config: { max_retries: 2, requests_per_second: 1000, ...config },
      directory,
    });

  it("is asked again after an error, then the cache answers", async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sec-"));
    const statuses = [500, 200];
    endpoint = await new EndpointServer({
      handler: () => ({ status: statuses.shift() ?? 500, body: "<p>hi</p>" }),
    }).start();
    const server = await live({ allow_private_addresses: true, use_cache: true, cache_dir: folder });
    for (const key of ["a", "b"])
      expect((await server.tool("parse_html_page", { url: `${endpoint.origin}/x`, key })).text).toContain(
        "SUCCESS",
      );
    expect(endpoint.requests).toHaveLength(2);
    await server.close();
  });

  it("has no private addresses and no files outside of the copy of the archive", async () => {
    endpoint = await new EndpointServer({ handler: () => ({ body: "secret" }) }).start();
    folder = await mkdtemp(path.join(tmpdir(), "sec-"));
    await writeFile(path.join(folder, "a.htm"), "<p>filing</p>");
    const server = await live({ sec_dump_path: folder });
    const port = new URL(endpoint.origin).port;
    for (const url of [
      endpoint.origin,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      "file:///etc/passwd",
      "x",
    ])
      expect((await server.tool("parse_html_page", { url, key: "k" })).text).toContain("Failed to fetch");
    expect(endpoint.requests).toEqual([]);
    const dumped = "https://www.sec.gov/Archives/a.htm";
    expect((await server.tool("parse_html_page", { url: dumped, key: "k" })).text).toContain("SUCCESS");
    await server.close();
  });
});

it("ends the tools when the time is over, but not the submission", async () => {
  const { call } = await start({ max_rollout_time_seconds: -1 });
  expect(await call("parse_html_page", { url: "https://example.com/", key: "p" })).toContain(
    "time of this task",
  );
  expect(await call("submit_final_result", { final_result: "x" })).toBe('{"success": true, "result": "x"}');
  expect(await call("web_search", { search_query: "x" })).toContain("time of this task");
});

describe("verify", () => {
  const submitted = (...results: unknown[]) =>
    verifyBody(
      row,
      ...results.map((final_result, index) =>
        functionCallItem("submit_final_result", { final_result }, `c${index}`),
      ),
    );
  async function verify(replies: (string | object)[], config: object = {}, body = submitted("383 million")) {
    const { server, prompts } = await createJudgedServer(offline, import.meta.url, replies, {
      judge_retry_delay_factor: 0,
      ...config,
    });
    return { ...(await server.verify(body)).body, prompts };
  }

  it.each([
    [["[[2]]"], {}, 1, 2],
    [["[[1]]"], {}, 0, 1],
    [["[[1]]"], { reward_mode: "scaled" }, 0.5, 1],
    [["[[2]]"], { reward_mode: "scaled" }, 1, 2],
    [["[[7]]"], { reward_mode: "scaled" }, 0, 7],
    [["none", "[[2]]"], {}, 1, 2],
    [["The answer says [[2]]: [[0]]", "[[0]]"], {}, 0, 0],
    [["[[2]] then [[0]]"], { first_verdict_counts: true }, 1, 2],
    [["none", "none", "none"], {}, 0, null],
  ])("the replies %j with %j earn %d", async (replies, config, reward, judge_rating) => {
    expect(await verify(replies, config)).toMatchObject({ reward, judge_rating });
  });

  it("fails the rollout if the judge fails", async () => {
    expect(await verify([])).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    expect(await verify(["none", "none"])).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it("looks at the last submission only", async () => {
    const { prompts } = await verify(["[[2]]"], {}, submitted("1", "{question}"));
    expect(prompts[0]).toContain("<answer>\n{question}\n</answer>");
    for (const wrong of [
      submitted("383 million", 5),
      submitted(""),
      verifyBody(row, messageItem("383 million")),
    ])
      expect(await verify(["[[2]]"], {}, wrong)).toMatchObject({ reward: 0, judge_rating: 0 });
  });

  it("compares texts without a judge", async () => {
    const server = await createTestServer(offline, { directory });
    expect((await server.verify(submitted("It was 383 MILLION."))).body).toMatchObject({
      reward: 1,
      judge_rating: null,
    });
  });
});
