/**
 * V8's own profilers, through the inspector of this process.
 *
 * Permissions: sys (inspector).
 *
 * @module
 */
import { Session } from "node:inspector";

/** Calls of the inspector for a profile: calls before the wait, and a call that ends the profile. */
const CALLS = {
  cpu: { before: [["Profiler.enable"], ["Profiler.start"]], end: "Profiler.stop" },
  allocations: {
    // Objects collected meanwhile count too: the question is which code allocates.
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
 * @param signal ends the profile early
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
    // Disconnecting also ends the session's profile.
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
