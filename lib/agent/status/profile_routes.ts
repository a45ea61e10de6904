/**
 * Profiles of the agent under `/debug/pprof/`, as V8 makes them: files that Chrome's developer tools, VS Code and
 * speedscope read. What Go's pages of these names have and V8 does not is answered with 501 and the reason.
 *
 * Permissions: sys (inspector).
 *
 * @module
 */
import { Session } from "node:inspector";
import { getHeapSnapshot } from "node:v8";
import { localOnly } from "../../http/local_only.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";

/** Seconds of a profile: those of Go's page by default. */
const SECONDS = { default: 30, longest: 300 };

const INDEX = `profile?seconds=30  CPU, for Chrome's developer tools (.cpuprofile)
allocs?seconds=30   sampled allocations that are still alive (.heapprofile)
heap                all objects, with their references (.heapsnapshot); the agent stands still meanwhile
cmdline             the command line
`;

/** Pages of Go that have no counterpart, with the reason. */
const ABSENT: Readonly<Record<string, string>> = {
  goroutine: "JavaScript has no goroutines",
  threadcreate: "V8 keeps no record of the threads that it makes",
  block: "nothing blocks: waiting is not a state of a thread here",
  mutex: "there are no locks",
  symbol: "profiles carry the names of functions",
  trace: "V8's tracing is not part of the runtime's interface; profile shows what runs",
};

/** The pages, for this machine alone. One profile is made at a time; another request is answered with 409. */
export function profileRoutes(): Route[] {
  let isBusy = false;
  const alone = (make: (request: HttpRequest) => Promise<HttpResponse>) => async (request: HttpRequest) => {
    if (isBusy) return textResponse(409, "another profile is being made\n");
    isBusy = true;
    try {
      return await make(request);
    } finally {
      isBusy = false;
    }
  };
  const page = (path: string, handle: Route["handle"]): Route => ({
    methods: ["GET"],
    path: `/debug/pprof${path}`,
    guards: [localOnly],
    handle,
  });
  return [
    page("", () => textResponse(200, INDEX)),
    page("/profile", alone(cpuProfile)),
    page("/allocs", alone(allocations)),
    page("/heap", alone(heapSnapshot)),
    page("/cmdline", () => textResponse(200, [Deno.execPath(), ...Deno.args].join("\0"))),
    ...Object.entries(ABSENT).map(([name, why]) => page(`/${name}`, () => textResponse(501, `${why}\n`))),
  ];
}

async function cpuProfile(request: HttpRequest): Promise<HttpResponse> {
  return await during(request, async (post, wait) => {
    await post("Profiler.enable");
    await post("Profiler.start");
    await wait();
    const { profile } = await post("Profiler.stop");
    return file(JSON.stringify(profile), "agent.cpuprofile");
  });
}

async function allocations(request: HttpRequest): Promise<HttpResponse> {
  return await during(request, async (post, wait) => {
    await post("HeapProfiler.startSampling");
    await wait();
    const { profile } = await post("HeapProfiler.stopSampling");
    return file(JSON.stringify(profile), "agent.heapprofile");
  });
}

function heapSnapshot(): Promise<HttpResponse> {
  return Promise.resolve({ ...file("", "agent.heapsnapshot"), parts: getHeapSnapshot() });
}

type Post = (method: string) => Promise<{ readonly profile: unknown }>;

/** Does something with a session of V8's inspector, for as long as the request says. */
async function during(
  { query, signal }: HttpRequest,
  make: (post: Post, wait: () => Promise<void>) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const seconds = query.has("seconds") ? Number(query.get("seconds")) : SECONDS.default;
  if (!(seconds > 0 && seconds <= SECONDS.longest)) {
    const given = JSON.stringify(query.get("seconds"));
    return textResponse(400, `seconds: got ${given}, expected a number above 0, at most ${SECONDS.longest}\n`);
  }
  const session = new Session();
  session.connect();
  try {
    return await make(poster(session), () => pause(seconds * 1000, signal));
  } finally {
    // This ends what the session has begun.
    session.disconnect();
  }
}

function poster(session: Session): Post {
  return (method) =>
    new Promise((resolve, reject) => {
      session.post(method, (error: Error | null, result: { profile: unknown }) => {
        if (error === null || error === undefined) resolve(result);
        else reject(error);
      });
    });
}

/** @throws the signal's reason when the client goes away */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

function file(body: string, name: string): HttpResponse {
  const headers = { "content-type": "application/json", "content-disposition": `attachment; filename=${name}` };
  return { status: 200, headers, body };
}
