import openaiModel from "../responses_api_models/openai_model/app.ts";
import { faults } from "../src/testing/endpoint-server.ts";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { startModelServer } from "./model-server.ts";
import { cpuMsOf, type Report } from "./report.ts";

export const name = "storm";

const STORM_SECONDS = 30;
const CALLS = 200;
const AT_ONCE = 50;
/** One for each call in flight, then one at a time after pauses that double up to ten seconds. */
const ALLOWED_REQUESTS = AT_ONCE + 12;

/** An endpoint that rejects everything for half a minute and then recovers. */
export async function run(report: Report): Promise<void> {
  let until = Number.POSITIVE_INFINITY;
  const endpoint = await new MockModelEndpoint({
    faultFor: ({ at }) => {
      until = Math.min(until, at + STORM_SECONDS * 1000);
      return at < until ? faults.rateLimited() : undefined;
    },
  }).start();
  const app = await startModelServer(openaiModel, {
    openai_base_url: endpoint.baseUrl,
    openai_api_key: "k",
    openai_model: "m",
  });
  let left = CALLS;
  let answered = 0;
  const worker = async () => {
    while (left-- > 0) {
      const { signal } = new AbortController();
      const call = { method: "POST", path: "/v1/responses", body: { input: "?" } };
      const reply = await app.handle({ ...call, cookies: {}, headers: {}, signal });
      if (reply.status === 200) answered++;
    }
  };
  const started = performance.now();
  const cpuMs = await cpuMsOf(() => Promise.all(Array.from({ length: AT_ONCE }, worker)));
  const seconds = (performance.now() - started) / 1000;
  await app.close();
  await endpoint.close();
  const refused = endpoint.requests.filter(({ at }) => at < until).length;
  report.add({ label: `${CALLS} calls through a storm`, cpuMs: cpuMs / CALLS, operations: CALLS });
  report.check(
    `${STORM_SECONDS} s of 429: ${refused} requests of ${AT_ONCE} callers (allowed ${ALLOWED_REQUESTS}), ${answered} of ${CALLS} calls answered, ${seconds.toFixed(1)} s in all`,
    refused <= ALLOWED_REQUESTS && answered === CALLS,
  );
}
