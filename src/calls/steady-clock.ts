/**
 * Milliseconds of a clock that nobody can set and that stops while the machine sleeps. Unlike `performance.now()` it has the
 * same origin in all processes of a machine, so they can exchange its values.
 */
export function steadyNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
