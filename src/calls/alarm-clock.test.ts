import { describe, expect, it } from "vitest";
import { AlarmClock } from "./alarm-clock.ts";

const wakeIn = (clock: AlarmClock, milliseconds: number, wake: () => void) => {
  const sleeper = { wakeAt: performance.now() + milliseconds, hasLeft: false, wake };
  clock.add(sleeper);
  return sleeper;
};

const woken = (clock: AlarmClock, delays: readonly number[]) =>
  Promise.all(
    delays.map(
      (delay, index) =>
        new Promise<{ index: number; at: number }>((resolve) => {
          wakeIn(clock, delay, () => resolve({ index, at: performance.now() }));
        }),
    ),
  );

describe("AlarmClock", () => {
  it("wakes all, in the order of their times, and not too early", async () => {
    const clock = new AlarmClock();
    const delays = Array.from({ length: 300 }, (_, index) => ((index * 7_919) % 83) + 1);
    const order: number[] = [];
    const times: number[] = [];
    const began = performance.now();
    await Promise.all(
      delays.map(
        (delay) =>
          new Promise<void>((resolve) => {
            const { wakeAt } = wakeIn(clock, delay, () => {
              expect(performance.now() - began).toBeGreaterThanOrEqual(delay - 1);
              order.push(wakeAt);
              resolve();
            });
            times.push(wakeAt);
          }),
      ),
    );
    expect(order).toEqual(times.sort((a, b) => a - b));
    expect(clock.size).toBe(0);
  });

  it("wakes one who comes later but sleeps shorter first", async () => {
    const clock = new AlarmClock();
    const late = woken(clock, [60]);
    const [soon] = await woken(clock, [5]);
    const [last] = await late;
    expect(soon?.at).toBeLessThan(last?.at ?? 0);
  });

  it("lets the event loop work while thousands wake at once", async () => {
    const clock = new AlarmClock();
    let turns = 0;
    let over = false;
    const count = () => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const busy = () => {
      for (const end = performance.now() + 0.05; performance.now() < end; );
    };
    await Promise.all(
      Array.from({ length: 3_000 }, () =>
        new Promise<void>((resolve) => wakeIn(clock, 10, resolve)).then(busy),
      ),
    );
    over = true;
    // In one go they would hold the loop for 150 ms; at most 64 are woken in a turn.
    expect(turns).toBeGreaterThan(3_000 / 64);
  });

  it("passes over those who have left, and wakes who comes from a wake", async () => {
    const clock = new AlarmClock();
    const heard: string[] = [];
    const gone = wakeIn(clock, 1, () => heard.push("gone"));
    gone.hasLeft = true;
    await new Promise<void>((resolve) => {
      wakeIn(clock, 5, () => {
        heard.push("first");
        wakeIn(clock, 0, () => {
          heard.push("second");
          resolve();
        });
      });
    });
    expect(heard).toEqual(["first", "second"]);
    expect(clock.size).toBe(0);
  });

  it("waits for nobody when all have left", () => {
    const clock = new AlarmClock();
    const sleepers = [30_000, 20_000, 40_000].map((delay) => wakeIn(clock, delay, () => {}));
    for (const sleeper of sleepers) {
      sleeper.hasLeft = true;
      clock.left(sleeper);
    }
    expect(clock.size).toBe(0);
  });
});
