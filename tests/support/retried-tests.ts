import type { Reporter, TestCase } from "vitest/node";

/** Prints why a test needed its second attempt; the reason would be lost if the test passes in the end. */
export class RetriedTests implements Reporter {
  readonly #retried: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#retried.push(test);
  }

  onTestRunEnd(): void {
    for (const test of this.#retried) {
      const reasons = (test.result().errors ?? []).map(({ stack, message }) => stack || message);
      console.log(`\nOnly passed at the second try: ${test.module.relativeModuleId} > ${test.fullName}`);
      for (const reason of reasons) console.log(reason);
    }
  }
}
