import { skipWithoutBubblewrap } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeServer } from "../../libraries/python-answers/test-server.ts";
import app from "./app.ts";

const programs = [
  "import json\ndef task_func(text):\n    return sum(json.loads(text))",
  "import csv, io\ndef task_func(text):\n    return list(csv.DictReader(io.StringIO(text)))",
  'import re\ndef task_func(text):\n    return re.findall(r"\\b[A-Z]\\w*", text)',
  "import os\ndef task_func(directory):\n    return sorted(n for n in os.listdir(directory) if os.path.getsize(os.path.join(directory, n)) == 0)",
  "import statistics\ndef task_func(values):\n    if not values:\n        raise ValueError\n    return statistics.mean(values), statistics.median(values)",
];

const config = { gt_time_limit: 2, subprocess_timeout: 5 };

describe.skipIf(skipWithoutBubblewrap)("bigcodebench", () => {
  let server: Awaited<ReturnType<typeof codeServer>>;
  beforeAll(async () => {
    server = await codeServer(app, new URL("./", import.meta.url), config);
  });
  afterAll(() => server.close());
  const verify: typeof server.verify = (index, code) => server.verify(index, code);

  it("rewards programs that pass all unit tests", async () => {
    const bodies = await Promise.all(programs.map((code, index) => verify(index, code)));
    expect(bodies.map(({ status }) => status)).toEqual(Array(5).fill("pass"));
  });

  it("reports failed tests, time-outs, errors and programs that end the process", async () => {
    expect(await verify(0, "def task_func(text):\n    return 6")).toMatchObject({
      ...{ reward: 0, status: "fail", details: { test_empty: expect.stringContaining("6 != 0") } },
    });
    expect(await verify(0, "def task_func(text):\n    while True: pass")).toMatchObject({
      status: "timeout",
    });
    expect(await verify(0, "syntax error(")).toMatchObject({
      status: "fail",
      details: { ALL: expect.any(String) },
    });
    expect(await verify(0, "import os\nos._exit(0)")).toMatchObject({ reward: 0, status: "error" });
  });
});
