import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import { speedBench } from "./app.ts";

const page = (drafts: number, tokens: number, accepted: number) =>
  [
    "# TYPE vllm:spec_decode_num_drafts counter",
    `vllm:spec_decode_num_drafts_total{engine="0"} ${drafts}.0`,
    'vllm:spec_decode_num_drafts_created{engine="0"} 1.7e9',
    `vllm:spec_decode_num_draft_tokens_total{engine="0"} ${tokens}.0`,
    `vllm:spec_decode_num_accepted_tokens_total{engine="0"} ${accepted}.0`,
    `vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} ${accepted}.0`,
  ].join("\n");

async function measure(pages: (string | undefined)[], config: Record<string, unknown>, rollouts = 1) {
  const urls: string[] = [];
  const server = await createTestServer(
    speedBench(async (url) => {
      urls.push(url);
      return pages[urls.length - 1];
    }),
    { config },
  );
  const bodies = [];
  for (let rollout = 0; rollout < rollouts; rollout++)
    bodies.push((await server.verify(verifyBody({}, messageItem("x")))).body);
  await server.close();
  return { urls, bodies };
}

it("measures the difference to the first counters", async () => {
  const { urls, bodies } = await measure([page(1, 4, 1), page(3, 12, 5)], {
    vllm_base_url: "http://host:1/v1/",
  });
  expect(urls).toEqual(["http://host:1/metrics", "http://host:1/metrics"]);
  expect(bodies[0]).toMatchObject({
    ...{
      reward: 0,
      acceptance_length: 3,
      acceptance_rate: 50,
      num_drafts: 2,
      draft_tokens: 8,
      accepted_tokens: 4,
    },
    ...{ per_position_acceptance_rates: [2], spec_decode_unavailable: false },
  });
});

it("says when there is nothing to measure, and does not ask again", async () => {
  const { urls, bodies } = await measure(
    [page(1, 4, 1), undefined],
    { vllm_metrics_url: "http://host/m" },
    2,
  );
  expect(urls).toEqual(["http://host/m", "http://host/m"]);
  expect(bodies).toMatchObject([
    { acceptance_rate: null, spec_decode_unavailable: true },
    { num_drafts: null },
  ]);
});

it("reads the averages of SGLang", async () => {
  const sglang = (length: number, requests: number) =>
    `sglang:spec_accept_length{m="x"} ${length}\nsglang:spec_accept_rate 0.5\nsglang:num_requests_total ${requests}\nsglang:generation_tokens_total ${10 * requests}`;
  const { bodies } = await measure([sglang(2, 10), sglang(3, 20)], {
    vllm_metrics_url: "http://host/m",
    server_type_for_metrics: "sglang",
  });
  expect(bodies[0]).toMatchObject({
    acceptance_length: 4,
    acceptance_rate: 50,
    num_drafts: 10,
    accepted_tokens: 50,
  });
});

it("does not start without an address", async () => {
  await expect(
    createTestServer(
      speedBench(async () => ""),
      { config: {} },
    ),
  ).rejects.toThrow(/vllm_base_url/);
});
