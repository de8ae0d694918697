/** A call of the provider; times are in seconds. */
export interface ProviderCall {
  function: "search" | "extract";
  status: "success";
  start_time: number;
  end_time: number;
  time_taken: number;
}

/** Runs a call of the provider and records it. */
export async function recorded<Value>(
  calls: ProviderCall[],
  name: ProviderCall["function"],
  call: () => Promise<Value>,
) {
  const start = Date.now();
  const from = performance.now();
  const value = await call();
  const taken = (performance.now() - from) / 1000;
  const start_time = start / 1000;
  calls.push({
    function: name,
    status: "success",
    start_time,
    end_time: start_time + taken,
    time_taken: taken,
  });
  return value;
}

/** Pages that are kept; the oldest is forgotten first. */
const maxPages = 1000;

export function remember(pages: Map<string, string>, url: string, content: string): void {
  const [oldest] = pages.keys();
  if (pages.size >= maxPages && oldest !== undefined) pages.delete(oldest);
  pages.set(url, content);
}
