/** Time limit for writing a record, so that a disk that hangs does not block the run. */
const RECORD_LIMIT_MS = 30_000;

/** Settles like `work`, but rejects after the time limit. A later result is ignored. */
export async function withinLimit<T>(work: Promise<T>, limitMs: number = RECORD_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not written within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
