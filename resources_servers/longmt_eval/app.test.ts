import { createTestServer, EndpointServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";
import { languageFidelity } from "./language-fidelity.ts";
import { longmtMetrics } from "./metrics.ts";
import { scoreSpans } from "./spans.ts";

const row = { text: "Hello world. Bye.", source_language: "en", target_language: "de_DE", doc_id: "d1" };
type Handler = ConstructorParameters<typeof EndpointServer>[0]["handler"];

let endpoint: EndpointServer | undefined;
afterEach(async () => endpoint?.close());

/** A service that pairs sentences by their place and scores a pair by the length of the translation. */
const service: Handler = ({ path, body }) => {
  const sentences = (text: unknown) => String(text).split(/(?<=\.) /);
  if (path === "/estimate") {
    const pairs = body["pairs"] as { mt: string }[];
    return { body: { scores: pairs.map(({ mt }) => mt.length / 100) } };
  }
  const [source, translation] = [sentences(body["source"]), sentences(body["translation"])];
  const longest = Math.max(source.length, translation.length);
  const spans = Array.from({ length: longest }, (_, i) => ({
    src: source[i] ?? "",
    tgt: translation[i] ?? "",
  }));
  return { body: { spans } };
};

async function verify(text: string, handler: Handler = service, config: object = {}) {
  endpoint = await new EndpointServer({ handler }).start();
  const server = await createTestServer(definition, {
    config: { scorer_urls: [endpoint.origin], ...config },
  });
  return server.verify(verifyBody(row, messageItem(text)));
}

describe("longmt_eval", () => {
  it("averages the quality of the aligned spans", async () => {
    const { body } = await verify(" Hallo Welt. Tja. ");
    expect(body).toMatchObject({
      reward: 0.075,
      generation: "Hallo Welt. Tja.",
      comet_qe: 0.075,
      lang_fidelity: 1,
      total_seg: 2,
      misaligned_seg: 0,
      segale_error: null,
    });
    expect(endpoint?.requests.map(({ path }) => path)).toEqual(["/align", "/estimate"]);
  });

  it("scores what is missing and what is invented with 0", async () => {
    const { body } = await verify("Hallo Welt.");
    expect(body).toMatchObject({ reward: 0.055, total_seg: 2, misaligned_seg: 1 });
    expect(body.spans[1]).toEqual({ src: "Bye.", tgt: "", comet_qe: 0, hallucinated: false, deleted: true });
  });

  it.each([
    ["an empty answer", " \n", {}, null],
    ["an answer while scoring is off", "Hallo", { compute_segale: false }, null],
    ["an answer with thoughts", "<think>hm</think>Hallo", {}, "the answer contains thoughts"],
  ])("%s earns 0 without a call", async (_name, text, config, segale_error) => {
    const { body } = await verify(text, service, config);
    expect(body).toMatchObject({ reward: 0, comet_qe: null, spans: null, segale_error });
    expect(body).not.toHaveProperty("_ng_failure_class");
    expect(endpoint?.count).toBe(0);
  });

  it.each<[string, Handler, string]>([
    ["an error", () => ({ status: 500, body: "out of memory" }), "out of memory"],
    ["no JSON", () => ({ body: "<html>" }), "unknown form"],
    [
      "too few scores",
      (request) => (request.path === "/estimate" ? { body: { scores: [] } } : service(request)),
      "0 scores for 1",
    ],
  ])("fails the rollout if the service answers with %s", async (_name, handler, message) => {
    const { body } = await verify("Hallo", handler);
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    expect(body.segale_error).toContain(message);
  });

  it("refuses a config without a service", async () => {
    await expect(createTestServer(definition, { config: {} })).rejects.toThrow("scorer_urls");
  });
});

describe("parts of the score", () => {
  it("leaves out spans without any text", async () => {
    expect(await scoreSpans([{ src: "", tgt: "" }], async () => [])).toEqual([]);
  });

  it.each([
    ["kurz", "fr_FR", 1],
    ["Das ist ein ganz normaler Satz über das Wetter und über die Arbeit im Hafen.", "de_DE", 1],
    ["Das ist ein ganz normaler Satz über das Wetter und über die Arbeit im Hafen.", "fr_FR", 0],
    ["Das ist ein ganz normaler Satz über das Wetter und über die Arbeit im Hafen.", "xx_XX", null],
    ["1234567890 ".repeat(10), "de_DE", 1],
  ])("%j in %s: %s", async (text, locale, fidelity) => {
    expect(await languageFidelity(text, locale)).toBe(fidelity);
  });

  it("reports each language", () => {
    const scored = {
      generation: "x",
      target_language: "de_DE",
      comet_qe: 0.5,
      total_seg: 4,
      misaligned_seg: 1,
    };
    const metrics = longmtMetrics.compute?.([[scored, { ...scored, generation: "" }]]) ?? {};
    expect(metrics).toMatchObject({
      de_DE: { comet_qe: 0.5, misaligned_rate: 0.25, n_docs: 1 },
      overall_comet_qe: 0.5,
    });
    expect(longmtMetrics.key?.(metrics)).toEqual({ de_DE: 0.5 });
  });
});
