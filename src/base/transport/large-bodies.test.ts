import { expect, it } from "vitest";
import { LargeBodies } from "./large-bodies.ts";

/** Bodies that wait to be read, and the names of those being read. */
function readers(bodies: LargeBodies) {
  const reading: string[] = [];
  const resumes = new Map<string, () => void>();
  return {
    reading,
    enter(name: string) {
      const resume = () => void reading.push(name);
      resumes.set(name, resume);
      if (bodies.enter(resume)) reading.push(name);
    },
    leave: (name: string) => bodies.leave(resumes.get(name) as () => void),
  };
}

it("reads a limited number of bodies at once, the others in order", () => {
  const { enter, leave, reading } = readers(new LargeBodies({ bodies: 2 }));
  for (const name of ["a", "b", "c", "d", "e"]) enter(name);
  expect(reading).toEqual(["a", "b"]);
  leave("d");
  leave("a");
  leave("b");
  expect(reading).toEqual(["a", "b", "c", "e"]);
});

it("reads no further body while callers have not read their replies", () => {
  const bodies = new LargeBodies({ bodies: 2, unread: 100 });
  const { enter, leave, reading } = readers(bodies);
  enter("a");
  const [first, second] = [bodies.replying(60), bodies.replying(60)];
  for (const name of ["b", "c", "d"]) enter(name);
  leave("a");
  expect(reading).toEqual(["a"]);
  first();
  expect(reading).toEqual(["a", "b", "c"]);
  second();
  expect(reading).toEqual(["a", "b", "c"]);
  leave("b");
  expect(reading).toEqual(["a", "b", "c", "d"]);
});

it("continues without a caller that has stopped reading", async () => {
  const bodies = new LargeBodies({ bodies: 2, unread: 100, unreadMs: 5 });
  const { enter, reading } = readers(bodies);
  bodies.replying(200);
  enter("a");
  expect(reading).toEqual([]);
  await expect.poll(() => reading).toEqual(["a"]);
});
