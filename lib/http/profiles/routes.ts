/**
 * Profiles of a program under `/debug/pprof/`, in two forms:
 *
 * - pprof's form, the default: `go tool pprof http://host/debug/pprof/profile` reads it.
 * - V8's own form (`form=v8`), for Chrome's developer tools, VS Code and speedscope.
 *
 * Go's further profiles, without a counterpart in V8, are answered with 501 and the reason.
 *
 * Permissions: sys (inspector).
 *
 * @module
 */
import { getHeapSnapshot } from "node:v8";
import { type HttpRequest, type HttpResponse, textResponse } from "../message.ts";
import type { Guard, Route } from "../route.ts";
import { allocationPprof, cpuPprof, type V8AllocationProfile, type V8CpuProfile } from "./pprof.ts";
import { profileDuring } from "./inspector.ts";

/** Seconds of a profile. The default is Go's. */
const SECONDS = { default: 30, longest: 300 };

const INDEX = `profile?seconds=30  CPU, for go tool pprof; with form=v8 for Chrome's developer tools (.cpuprofile)
allocs?seconds=30   sampled allocations, likewise (.heapprofile)
heap                all objects, with their references, for Chrome's developer tools (.heapsnapshot);
                    the program stands still meanwhile
cmdline             the command line
`;

/** Go's pages without a counterpart, with the reason. */
const ABSENT: Readonly<Record<string, string>> = {
  goroutine: "JavaScript has no goroutines",
  threadcreate: "V8 keeps no record of the threads that it makes",
  block: "nothing blocks: waiting is not a state of a thread here",
  mutex: "there are no locks",
  symbol: "profiles carry the names of functions",
  trace: "V8's tracing is not part of the runtime's interface; profile shows what runs",
};

/** How a profile is asked for. */
interface ProfileRequest {
  readonly seconds: number;
  readonly form: "pprof" | "v8";
}

/**
 * The pages. One profile is made at a time; another request is answered with 409.
 *
 * @param name of the program, in the names of files
 * @param guards Decide which clients may see the pages.
 */
export function profileRoutes(name: string, guards: readonly Guard[]): Route[] {
  let isBusy = false;
  const busy = () => textResponse(409, "another profile is being made\n");
  const alone = (make: (request: HttpRequest) => Promise<HttpResponse>) => async (request: HttpRequest) => {
    if (isBusy) return busy();
    isBusy = true;
    try {
      return await make(request);
    } finally {
      isBusy = false;
    }
  };
  /**
   * A snapshot is as large as the heap, and stays in memory until the client has read the whole snapshot or goes away.
   */
  async function* snapshot(): AsyncGenerator<Uint8Array> {
    if (isBusy) throw new Error("another profile has begun since");
    isBusy = true;
    try {
      yield* getHeapSnapshot();
    } finally {
      isBusy = false;
    }
  }
  const page = (path: string, handle: Route["handle"]): Route => ({
    methods: ["GET"],
    path: `/debug/pprof${path}`,
    guards,
    handle,
  });
  return [
    page("", () => textResponse(200, INDEX)),
    page("/profile", alone((request) => cpuProfile(request, name))),
    page("/allocs", alone((request) => allocations(request, name))),
    page("/heap", () => isBusy ? busy() : heapResponse(name, snapshot())),
    page("/cmdline", () => textResponse(200, [Deno.execPath(), ...Deno.args].join("\0"))),
    ...Object.entries(ABSENT).map(([path, why]) => page(`/${path}`, () => textResponse(501, `${why}\n`))),
  ];
}

async function cpuProfile(request: HttpRequest, name: string): Promise<HttpResponse> {
  const asked = readQuery(request);
  if ("refused" in asked) return asked.refused;
  const profile = await profileDuring<V8CpuProfile>("cpu", asked.seconds, request.signal);
  return asked.form === "v8" ? json(profile, `${name}.cpuprofile`) : pprof(cpuPprof(profile), `${name}.cpu.pb.gz`);
}

async function allocations(request: HttpRequest, name: string): Promise<HttpResponse> {
  const asked = readQuery(request);
  if ("refused" in asked) return asked.refused;
  const profile = await profileDuring<V8AllocationProfile>("allocations", asked.seconds, request.signal);
  return asked.form === "v8"
    ? json(profile, `${name}.heapprofile`)
    : pprof(allocationPprof(profile), `${name}.allocs.pb.gz`);
}

function heapResponse(name: string, parts: AsyncIterable<Uint8Array>): HttpResponse {
  return { ...file("", "application/json", `${name}.heapsnapshot`), parts };
}

/** The parameters of a query, or a refusal with one line for each mistake. */
function readQuery({ query }: HttpRequest): ProfileRequest | { readonly refused: HttpResponse } {
  const seconds = query.has("seconds") ? Number(query.get("seconds")) : SECONDS.default;
  const form = query.get("form") ?? "pprof";
  const say = (name: string, expected: string) =>
    `${name}: got ${JSON.stringify(query.get(name))}, expected ${expected}\n`;
  const mistakes = [
    ...seconds > 0 && seconds <= SECONDS.longest
      ? []
      : [say("seconds", `a number above 0, at most ${SECONDS.longest}`)],
    ...form === "pprof" || form === "v8" ? [] : [say("form", "pprof or v8")],
  ];
  if (mistakes.length > 0) return { refused: textResponse(400, mistakes.join("")) };
  return { seconds, form: form === "v8" ? "v8" : "pprof" };
}

function json(value: unknown, name: string): HttpResponse {
  return file(JSON.stringify(value), "application/json", name);
}

function pprof(body: Uint8Array, name: string): HttpResponse {
  return file(body, "application/octet-stream", name);
}

function file(body: string | Uint8Array, type: string, name: string): HttpResponse {
  return {
    status: 200,
    headers: { "content-type": type, "content-disposition": `attachment; filename=${name}` },
    body,
  };
}
