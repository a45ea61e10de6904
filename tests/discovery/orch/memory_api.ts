/** A stand-in for the orchestrator's API with any resource: lists, watches, discovery of groups by definitions. */

/** An object, written by a test. */
interface ApiObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

interface Watch {
  readonly path: string;
  readonly only: string | undefined;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const encoder = new TextEncoder();

/** See the file. Paths are for all namespaces: `/api/v1/services`. */
export class MemoryApi {
  /** Requests, as `list /path?query` or `watch ...`. */
  readonly asked: string[] = [];
  /** Groups without discovery, though their definitions exist. */
  readonly silentGroups = new Set<string>();
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #watches = new Set<Watch>();
  #version = 1;
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  readonly #port: number;
  /** A private loopback address, so that nobody else takes the port while the API is absent. */
  readonly #hostname = ["127", ...crypto.getRandomValues(new Uint8Array(2)), "9"].join(".");

  constructor() {
    const listener = Deno.listen({ port: 0, hostname: this.#hostname });
    this.#port = (listener.addr as Deno.NetAddr).port;
    listener.close();
  }

  get address(): string {
    return `http://${this.#hostname}:${this.#port}`;
  }

  start(): void {
    const options = { port: this.#port, hostname: this.#hostname, onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request)) as Deno.HttpServer<Deno.NetAddr>;
  }

  async stop(): Promise<void> {
    for (const { controller } of this.#watches) controller.close();
    this.#watches.clear();
    await this.#server?.shutdown();
  }

  /** Number of open watches. */
  get watching(): number {
    return this.#watches.size;
  }

  /** Resolves when a path is watched. */
  async watched(path: string): Promise<void> {
    const isWatched = () => [...this.#watches].some((watch) => watch.path === path);
    while (!isWatched()) await new Promise<void>((resolve) => this.#onWatch = resolve);
  }

  #onWatch = () => {};

  /** Like {@linkcode put}, but hidden from watches: the API has a mistake. */
  slip(path: string, object: ApiObject): void {
    this.#isSilent = true;
    this.put(path, object);
    this.#isSilent = false;
  }

  put(path: string, object: ApiObject): void {
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const shelf = this.#objects.get(path) ?? new Map<string, ApiObject>();
    this.#objects.set(path, shelf);
    const old = shelf.get(key);
    const uid = old?.metadata["uid"] ?? crypto.randomUUID();
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(++this.#version) } };
    shelf.set(key, stored);
    this.#tell(path, old === undefined ? "ADDED" : "MODIFIED", stored);
  }

  drop(path: string, name: string, namespace = ""): void {
    const shelf = this.#objects.get(path);
    const old = shelf?.get(`${namespace}/${name}`);
    if (old === undefined) return;
    shelf?.delete(`${namespace}/${name}`);
    this.#tell(path, "DELETED", { ...old, metadata: { ...old.metadata, resourceVersion: String(++this.#version) } });
  }

  /** Makes a definition. Its objects are at `/apis/GROUP/VERSION/PLURAL`. */
  define(plural: string, group: string, kind: string, versions: readonly string[]): void {
    this.put(DEFINITIONS, {
      metadata: { name: `${plural}.${group}` },
      spec: { group, names: { plural, kind }, versions },
    });
  }

  undefine(plural: string, group: string): void {
    this.drop(DEFINITIONS, `${plural}.${group}`);
  }

  #isSilent = false;

  #tell(path: string, type: string, object: ApiObject): void {
    if (this.#isSilent) return;
    for (const { path: watched, only, controller } of this.#watches) {
      if (watched === path && (only === undefined || only === object.metadata.name)) {
        controller.enqueue(encoder.encode(JSON.stringify({ type, object }) + "\n"));
      }
    }
  }

  #answer(request: Request): Response {
    const url = new URL(request.url);
    const isWatch = url.searchParams.get("watch") === "true";
    this.asked.push(`${isWatch ? "watch" : "list"} ${url.pathname}${url.search}`);
    const group = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname);
    if (group !== null) return this.#discovery(group[1] ?? "", group[2]);
    const path = url.pathname.replace(/\/namespaces\/[^/]+(?=\/)/, "");
    const only = /^metadata\.name=(.*)$/.exec(url.searchParams.get("fieldSelector") ?? "")?.[1];
    if (isWatch) return this.#watch(path, only);
    const items = [...this.#objects.get(path)?.values() ?? []].filter((one) =>
      only === undefined || one.metadata.name === only
    );
    return Response.json({ metadata: { resourceVersion: String(this.#version) }, items });
  }

  /** Nothing is lost between a list and its watch: the API answers both in one turn of the loop, before any change. */
  #watch(path: string, only: string | undefined): Response {
    let watch: Watch | undefined;
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#watches.add(watch = { path, only, controller });
          this.#onWatch();
          for (const object of this.#objects.get(path)?.values() ?? []) {
            if (only === undefined || only === object.metadata.name) {
              controller.enqueue(encoder.encode(JSON.stringify({ type: "MODIFIED", object }) + "\n"));
            }
          }
        },
        cancel: () => void (watch && this.#watches.delete(watch)),
      }),
    );
  }

  #discovery(group: string, version: string | undefined): Response {
    const specs = [...this.#objects.get(DEFINITIONS)?.values() ?? []].map(({ spec }) =>
      spec as { group: string; names: { plural: string }; versions: string[] }
    ).filter((spec) => spec.group === group && !this.silentGroups.has(group));
    if (specs.length === 0) return Response.json({ kind: "Status", code: 404 }, { status: 404 });
    if (version === undefined) {
      return Response.json({
        versions: [...new Set(specs.flatMap(({ versions }) => versions))].map((one) => ({ version: one })),
      });
    }
    return Response.json({
      resources: specs.filter(({ versions }) => versions.includes(version)).map(({ names }) => ({
        name: names.plural,
      })),
    });
  }
}
