import { constants } from "node:os";

/** The handle behind `process.on("SIGINT")`. */
interface SignalHandle {
  onsignal: (signal: number) => void;
  start(signal: number): number;
  unref(): void;
}

/**
 * Listens for signals in a worker thread, which `process.on` does for the main thread only; the main thread hears them
 * all the same. Where the runtime does not let us, nothing is heard.
 */
export function onSignals(
  names: readonly NodeJS.Signals[],
  heard: (name: NodeJS.Signals, number: number) => void,
): void {
  const Signal = signalHandle();
  if (!Signal) return;
  for (const name of names) {
    const number = constants.signals[name];
    const handle = new Signal();
    handle.onsignal = () => heard(name, number);
    handle.start(number);
    handle.unref();
  }
}

function signalHandle(): (new () => SignalHandle) | undefined {
  const { binding } = process as unknown as {
    binding?: (name: string) => { Signal: new () => SignalHandle };
  };
  const { noDeprecation } = process;
  try {
    // There is no other way to this handle, and the user of a server cannot do anything about the warning.
    process.noDeprecation = true;
    return binding?.("signal_wrap").Signal;
  } catch {
    return undefined;
  } finally {
    process.noDeprecation = noDeprecation ?? false;
  }
}
