/** An API of objects in memory behind a client: reads, merges, applies, lists and watches, counted. */
import type { ApiJson } from "../../../lib/orch/client/answer.ts";
import { type Clock, systemClock } from "../../../lib/kernel/time/clock.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";

interface MemoryObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly [field: string]: unknown;
  };
  readonly status?: ApiJson;
  readonly [field: string]: unknown;
}

const encoder = new TextEncoder();

/** See the file. */
export class ObjectsApi {
  /** Requests with changes, as `PATCH /path`. */
  readonly writes: string[] = [];
  /** Called before each change. May refuse the change with a status, or delay the change. */
  onWrite: (path: string) => number | undefined | Promise<number | undefined> = () => undefined;
  readonly client: ApiClient;
  readonly #objects = new Map<string, MemoryObject>();
  readonly #watches = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #version = 1;

  /** @param clock Of the client. Default: the machine's clock. */
  constructor(clock: Clock = systemClock) {
    const access = { server: "http://memory" };
    this.client = new ApiClient({
      ...{ access: { current: () => access, refused: () => {} }, clock },
      exchange: (url, init) => this.#answer(new URL(url), init),
    });
  }

  /** Makes or replaces the object at a path. */
  put(path: string, object: { readonly metadata: ApiJson; readonly [field: string]: unknown }): MemoryObject {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? "";
    const uid = (object.metadata["uid"] as string | undefined) ?? this.#objects.get(path)?.metadata.uid ??
      crypto.randomUUID();
    const metadata = { ...object.metadata, name, namespace, uid, resourceVersion: String(++this.#version) };
    const stored = { ...object, metadata };
    const type = this.#objects.has(path) ? "MODIFIED" : "ADDED";
    this.#objects.set(path, stored);
    if (path.includes("/configmaps/")) this.#tell(type, stored);
    return stored;
  }

  get(path: string): MemoryObject | undefined {
    return this.#objects.get(path);
  }

  /** Paths of all objects. */
  paths(): string[] {
    return [...this.#objects.keys()];
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
  }

  #tell(type: string, object: MemoryObject): void {
    for (const watch of this.#watches) watch.enqueue(encoder.encode(`${JSON.stringify({ type, object })}\n`));
  }

  async #answer({ pathname, searchParams }: URL, init: RequestInit): Promise<Response> {
    const path = pathname.replace(/\/status$/, "");
    let known = this.#objects.get(path);
    if (init.method === "GET") {
      if (pathname.endsWith("/configmaps")) {
        return searchParams.get("watch") === "true" ? this.#watch(init) : this.#list();
      }
      return known === undefined ? refusal(404) : Response.json(known);
    }
    const refused = await this.onWrite(pathname);
    init.signal?.throwIfAborted();
    if (refused !== undefined) return refusal(refused);
    this.writes.push(`${init.method} ${pathname}`);
    // Other changes may have come meanwhile.
    known = this.#objects.get(path);
    if (init.method === "DELETE") {
      if (known === undefined) return refusal(404);
      this.#objects.delete(path);
      this.#tell("DELETED", known);
      return Response.json(known);
    }
    const body = JSON.parse(String(init.body)) as ApiJson & { readonly metadata: ApiJson };
    if (searchParams.has("fieldManager")) return Response.json(this.put(path, body));
    if (known === undefined) return refusal(404);
    const version = body.metadata["resourceVersion"];
    if (version !== undefined && version !== known.metadata.resourceVersion) return refusal(409);
    const status = { ...known.status, ...body["status"] as ApiJson };
    return Response.json(this.put(path, { ...known, status }));
  }

  #list(): Response {
    const items = [...this.#objects].filter(([path]) => path.includes("/configmaps/")).map(([, object]) => object);
    return Response.json({ metadata: { resourceVersion: String(this.#version) }, items });
  }

  #watch(init: RequestInit): Response {
    let own: ReadableStreamDefaultController<Uint8Array> | undefined;
    const leave = () => void (own && this.#watches.delete(own));
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => void this.#watches.add(own = controller),
      cancel: leave,
    });
    init.signal?.addEventListener("abort", () => {
      if (own !== undefined && this.#watches.has(own)) own.error(init.signal!.reason);
      leave();
    }, { once: true });
    return new Response(stream);
  }
}

function refusal(code: number): Response {
  return Response.json({ kind: "Status", code, message: "refused" }, { status: code });
}
