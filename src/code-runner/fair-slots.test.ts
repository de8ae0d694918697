import { describe, expect, it } from "vitest";
import { FairSlots } from "./fair-slots.ts";

describe("FairSlots", () => {
  it("runs at most its limit of tasks, and alternates between keys", async () => {
    const slots = new FairSlots(1);
    const order: string[] = [];
    let running = 0;
    const task = (key: string, name: string) =>
      slots.run(key, async () => {
        running++;
        expect(running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(name);
        running--;
      });
    await Promise.all([
      ...["a1", "a2", "a3", "a4"].map((name) => task("a", name)),
      task("b", "b1"),
      task("c", "c1"),
      task("b", "b2"),
    ]);
    expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("removes aborted tasks from the queue, and continues after a failure", async () => {
    const slots = new FairSlots(1);
    const controller = new AbortController();
    const first = slots.run(
      "a",
      () => new Promise<never>((_, reject) => setTimeout(reject, 20, new Error("failed"))),
    );
    const waiting = slots.run("a", async () => "never", controller.signal);
    const last = slots.run("b", async () => "ran");
    controller.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(first).rejects.toThrow("failed");
    await expect(last).resolves.toBe("ran");
    await expect(slots.run("a", async () => "free")).resolves.toBe("free");
  });
});
