/** A stand-in for the orchestrator's API with config maps, which fails in every way on request. */
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";

/** A fault of the stand-in with one request. */
export type Fault =
  | { readonly fault: "status"; readonly status: number; readonly retryAfter?: string }
  /** No answer at all. */
  | { readonly fault: "hang" }
  /** A watch without events, or a list whose body does not come. */
  | { readonly fault: "silent" }
  /** The connection is cut in the middle of a list, or of the next event of a watch. */
  | { readonly fault: "cut" }
  /** Half a line, then a clean end. */
  | { readonly fault: "half" }
  /** An event of type ERROR, then a clean end. */
  | { readonly fault: "error"; readonly code: number }
  /** A line that is not JSON. */
  | { readonly fault: "garbage" }
  /** A clean end at once. */
  | { readonly fault: "end" };

interface Stored {
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string; readonly uid: string };
  readonly data: Readonly<Record<string, string>>;
}

interface Watcher {
  send(text: string): void;
  close(): void;
  cut(): void;
  readonly fault: Fault | undefined;
  readonly namespace: string;
}

const encoder = new TextEncoder();

/** See the file. */
export class ScriptedApi {
  /** Faults for the next requests, in order: lists and watches apart. */
  readonly faults: { list: Fault[]; watch: Fault[] } = { list: [], watch: [] };
  /** Requests, as `list ...` or `watch ...`, with their query. */
  readonly asked: string[] = [];
  readonly headers: Headers[] = [];
  /** Answers without pages, as an API server answers from its cache. */
  ignoresLimit = false;
  /** Sizes of the pieces of events, bytes; 0: whole. */
  pieces = 0;
  /** Any token is too old from now on. */
  tokensExpired = false;
  readonly #objects = new Map<string, Stored>();
  #history: { readonly version: number; readonly type: string; readonly object: Stored }[] = [];
  #oldest = 0;
  #version = 100;
  #uid = 0;
  readonly #watchers = new Set<Watcher>();
  readonly #hanging = new Set<() => void>();
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #port = 0;
  /** Page tokens by text: the remaining objects, and the version. */
  readonly #pages = new Map<string, { readonly rest: Stored[]; readonly version: number }>();

  constructor({ start = true } = {}) {
    if (start) this.start();
    else {
      // A known port without a listener.
      const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
      this.#port = (listener.addr as Deno.NetAddr).port;
      listener.close();
    }
  }

  start(): void {
    const options = { port: this.#port, hostname: "127.0.0.1", onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request)) as Deno.HttpServer<Deno.NetAddr>;
    this.#port = this.#server.addr.port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  client(clock: Clock = systemClock, within = 30_000): ApiClient {
    return new ApiClient({ access: { current: () => ({ server: this.address }), refused: () => {} }, clock, within });
  }

  /** The objects as `namespace/name uid value`, sorted. */
  state(): string[] {
    return [...this.#objects].map(([key, { metadata, data }]) => `${key} ${metadata.uid} ${data["v"]}`).sort();
  }

  has(namespace: string, name: string, uid: string): boolean {
    return this.#objects.get(`${namespace}/${name}`)?.metadata.uid === uid;
  }

  get watching(): number {
    return this.#watchers.size;
  }

  put(name: string, v: string, namespace = "default"): void {
    const key = `${namespace}/${name}`;
    const old = this.#objects.get(key);
    const version = ++this.#version;
    const uid = old?.metadata.uid ?? `u${++this.#uid}`;
    const object = { metadata: { namespace, name, uid, resourceVersion: String(version) }, data: { v } };
    this.#objects.set(key, object);
    this.#tell(version, old === undefined ? "ADDED" : "MODIFIED", object);
  }

  drop(name: string, namespace = "default"): void {
    const key = `${namespace}/${name}`;
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    const version = ++this.#version;
    this.#tell(version, "DELETED", { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } });
  }

  /** Begins again with the present objects at lower versions, like a server restored from a backup. */
  restore(): void {
    this.#version = 10;
    this.#history = [];
    this.#oldest = 10;
    for (const [key, object] of this.#objects) {
      const resourceVersion = String(++this.#version);
      this.#objects.set(key, { ...object, metadata: { ...object.metadata, resourceVersion } });
    }
    for (const watcher of [...this.#watchers]) watcher.close();
  }

  /** Forgets events before now: a client with an older version must list. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.#version;
  }

  bookmark(): void {
    const object = { kind: "ConfigMap", metadata: { resourceVersion: String(this.#version) } };
    for (const watcher of this.#watchers) watcher.send(JSON.stringify({ type: "BOOKMARK", object }) + "\n");
  }

  /** Ends all watches: cleanly, or by cutting the connections. */
  endWatches(how: "close" | "cut"): void {
    for (const watcher of [...this.#watchers]) watcher[how]();
  }

  async stop(): Promise<void> {
    this.endWatches("close");
    for (const free of this.#hanging) free();
    await this.#server?.shutdown();
    this.#server = undefined;
  }

  #tell(version: number, type: string, object: Stored): void {
    this.#history.push({ version, type, object });
    const line = JSON.stringify({ type, object }) + "\n";
    for (const watcher of [...this.#watchers]) {
      if (watcher.namespace !== "" && watcher.namespace !== object.metadata["namespace"]) continue;
      if (watcher.fault?.fault === "silent") continue;
      if (watcher.fault?.fault === "cut" || watcher.fault?.fault === "half") {
        watcher.send(line.slice(0, line.length / 2));
        if (watcher.fault.fault === "cut") watcher.cut();
        else watcher.close();
      } else watcher.send(line);
    }
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isWatch = url.searchParams.get("watch") === "true";
    this.asked.push(`${isWatch ? "watch" : "list"} ${url.pathname}${url.search}`);
    this.headers.push(request.headers);
    const fault = (isWatch ? this.faults.watch : this.faults.list).shift();
    if (fault?.fault === "status") {
      const headers = fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
      return status(fault.status, headers);
    }
    if (fault?.fault === "hang") {
      const over = Promise.withResolvers<void>();
      this.#hanging.add(over.resolve);
      request.signal.addEventListener("abort", () => over.resolve());
      await over.promise;
      this.#hanging.delete(over.resolve);
      return status(503);
    }
    const namespace = /\/namespaces\/([^/]+)\//.exec(url.pathname)?.[1] ?? "";
    return isWatch ? this.#watch(url, namespace, fault) : this.#list(url, namespace, fault);
  }

  #list(url: URL, namespace: string, fault: Fault | undefined): Response {
    const token = url.searchParams.get("continue");
    const found = token === null ? undefined : this.#pages.get(token);
    if (token !== null && (this.tokensExpired || found === undefined)) {
      this.tokensExpired = false;
      return status(410);
    }
    // After some seconds an API server answers a request for a future version like this.
    const notOlder = url.searchParams.get("resourceVersionMatch") === "NotOlderThan";
    if (notOlder && Number(url.searchParams.get("resourceVersion")) > this.#version) return status(504);
    const of = (object: Stored) => namespace === "" || object.metadata["namespace"] === namespace;
    const { rest, version } = found ?? { rest: [...this.#objects.values()].filter(of), version: this.#version };
    const limit = this.ignoresLimit ? rest.length : Number(url.searchParams.get("limit") ?? rest.length);
    const next = rest.length > limit ? `t${this.#pages.size}` : undefined;
    if (next !== undefined) this.#pages.set(next, { rest: rest.slice(limit), version });
    const metadata = { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) };
    const text = JSON.stringify({ kind: "ConfigMapList", metadata, items: rest.slice(0, limit) });
    switch (fault?.fault) {
      case "silent":
        return new Response(this.#body((watcher) => watcher.send(text.slice(0, 20))));
      case "cut":
        return new Response(this.#body((watcher) => {
          watcher.send(text.slice(0, text.length / 2));
          watcher.cut();
        }));
      case "half":
        return new Response(text.slice(0, text.length / 2));
      case "garbage":
        return new Response("<html>");
      case "error":
        return status(fault.code);
      case "end":
        return new Response("");
    }
    return new Response(text, { headers: { "content-type": "application/json" } });
  }

  #watch(url: URL, namespace: string, fault: Fault | undefined): Response {
    const since = Number(url.searchParams.get("resourceVersion"));
    // A future version is refused like an old version: the server does not tell the two apart for ever.
    const tooOld = since < this.#oldest || since > this.#version;
    return new Response(this.#body((watcher) => {
      if (tooOld || fault?.fault === "error") {
        const code = tooOld ? 410 : (fault as Fault & { code: number }).code;
        const object = { kind: "Status", code, message: "as the test wants" };
        watcher.send(JSON.stringify({ type: "ERROR", object }) + "\n");
        return watcher.close();
      }
      if (fault?.fault === "garbage") watcher.send("{no\n");
      if (fault?.fault === "end") return watcher.close();
      if (fault?.fault === "silent") return;
      for (const { version, type, object } of this.#history) {
        if (version > since && (namespace === "" || namespace === object.metadata["namespace"])) {
          watcher.send(JSON.stringify({ type, object }) + "\n");
        }
      }
    }, { namespace, fault }));
  }

  #body(
    begin: (watcher: Watcher) => void,
    { namespace = "", fault }: { namespace?: string; fault?: Fault | undefined } = {},
  ) {
    let watcher: Watcher | undefined;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const leave = () => watcher !== undefined && this.#watchers.delete(watcher);
        const size = this.pieces;
        watcher = {
          ...{ namespace, fault },
          send(text) {
            const bytes = encoder.encode(text);
            for (let at = 0; at < bytes.length; at += size || bytes.length) {
              controller.enqueue(bytes.slice(at, at + (size || bytes.length)));
            }
          },
          close: () => void (leave() && controller.close()),
          cut: () => void (leave() && controller.error(new Error("cut by the test"))),
        };
        this.#watchers.add(watcher);
        begin(watcher);
      },
      cancel: () => void (watcher && this.#watchers.delete(watcher)),
    });
  }
}

function status(code: number, headers: Record<string, string> = {}): Response {
  return Response.json({ kind: "Status", code, message: "as the test wants" }, { status: code, headers });
}

/** The machine's clock with waits of a fraction of their time. */
export function quickClock(factor = 50): Clock {
  return {
    now: systemClock.now,
    monotonic: () => systemClock.monotonic() * factor,
    after: (ms, fire) => systemClock.after(ms / factor, fire),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
