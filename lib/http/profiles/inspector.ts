/**
 * V8's own profilers, by the inspector of this process.
 *
 * Permissions: sys (inspector).
 *
 * @module
 */
import { Session } from "node:inspector";

/** Calls of the inspector that make a profile: those before the wait, and the one that ends it. */
const CALLS = {
  cpu: { before: [["Profiler.enable"], ["Profiler.start"]], end: "Profiler.stop" },
  allocations: {
    // Objects that are collected meanwhile count too: the question is which code allocates.
    before: [["HeapProfiler.startSampling", {
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    }]],
    end: "HeapProfiler.stopSampling",
  },
} as const;

/**
 * Profiles the process for a time.
 *
 * @param signal ends it early
 * @throws the signal's reason
 */
export async function profileDuring<T>(kind: keyof typeof CALLS, seconds: number, signal: AbortSignal): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    const { before, end } = CALLS[kind];
    for (const [method, params] of before) await post(session, method, params);
    await pause(seconds * 1000, signal);
    return (await post(session, end)).profile as T;
  } finally {
    // This ends the profile that the session has begun.
    session.disconnect();
  }
}

function post(session: Session, method: string, params: object = {}): Promise<{ readonly profile: unknown }> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error: Error | null, result?: object) => {
      if (error === null || error === undefined) resolve(result as { readonly profile: unknown });
      else reject(error);
    });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
