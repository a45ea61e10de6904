/**
 * A stand-in for the orchestrator's API with any resource: lists, watches, single objects and their writes, discovery of
 * groups by definitions.
 */
import { isDeepStrictEqual } from "node:util";
import { type ApiObject, type ApiPlace, appliedObject, isSelected, mergedObject, readPlace } from "./stored_objects.ts";

interface Watch {
  readonly path: string;
  readonly only: string | undefined;
  readonly labels: string;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const encoder = new TextEncoder();

/** See the file. Paths are for all namespaces: `/api/v1/services`. */
export class MemoryApi {
  /** Requests, as `list /path?query` or `watch ...`; other requests with their method, such as `PATCH /path?query`. */
  readonly asked: string[] = [];
  /** Writes that are refused, by a part of `METHOD /path`, and the status of the answer. */
  readonly refusals = new Map<string, number>();
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
    this.#tell(path, old === undefined ? "ADDED" : "MODIFIED", stored, old);
    this.#onWrite();
  }

  /** A stored object. */
  get(path: string, name: string, namespace = ""): ApiObject | undefined {
    return this.#objects.get(path)?.get(`${namespace}/${name}`);
  }

  /** Changes a stored object by a merge patch. */
  edit(path: string, name: string, namespace: string, change: Readonly<Record<string, unknown>>): void {
    const old = this.get(path, name, namespace);
    if (old === undefined) throw new Error(`${path}: no ${namespace}/${name}`);
    this.put(path, mergedObject(old, change) as ApiObject);
  }

  /** Resolves when a condition of the stored objects or of the requests holds. */
  async becomes(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Requests that write. */
  get writes(): readonly string[] {
    return this.asked.filter((one) => /^(POST|PUT|PATCH|DELETE) /.test(one));
  }

  #waiting: (() => void)[] = [];

  #onWrite(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  drop(path: string, name: string, namespace = ""): void {
    const shelf = this.#objects.get(path);
    const old = shelf?.get(`${namespace}/${name}`);
    if (old === undefined) return;
    shelf?.delete(`${namespace}/${name}`);
    this.#tell(path, "DELETED", { ...old, metadata: { ...old.metadata, resourceVersion: String(++this.#version) } });
    this.#onWrite();
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

  #tell(path: string, type: string, object: ApiObject, old = object): void {
    if (this.#isSilent) return;
    for (const { path: watched, only, labels, controller } of this.#watches) {
      if (watched !== path || (only !== undefined && only !== object.metadata.name)) continue;
      const [was, is] = [isSelected(old, labels), isSelected(object, labels)];
      if (was || is) controller.enqueue(encoder.encode(JSON.stringify({ type: is ? type : "DELETED", object }) + "\n"));
    }
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const { searchParams, pathname } = url;
    const isWatch = searchParams.get("watch") === "true";
    const place = readPlace(pathname);
    const ofList = request.method === "GET" && (place === undefined || place.name === "");
    const verb = isWatch ? "watch" : ofList ? "list" : request.method;
    this.asked.push(`${verb} ${pathname}${url.search}`);
    this.#onWrite();
    if (pathname === "/version") return Response.json({ major: "1", minor: "34" });
    const group = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(pathname);
    if (group !== null) return this.#discovery(group[1] ?? "", group[2]);
    if (place === undefined) return refusal(404);
    if (!ofList) return await this.#object(request, place, searchParams);
    const only = /^metadata\.name=(.*)$/.exec(searchParams.get("fieldSelector") ?? "")?.[1];
    const labels = searchParams.get("labelSelector") ?? "";
    if (isWatch) return this.#watch(place.path, only, labels);
    const items = [...this.#objects.get(place.path)?.values() ?? []].filter((one) =>
      (only === undefined || one.metadata.name === only) && isSelected(one, labels)
    );
    return Response.json({ metadata: { resourceVersion: String(this.#version) }, items });
  }

  /** Reads or writes one object. */
  async #object(request: Request, place: ApiPlace, query: URLSearchParams): Promise<Response> {
    const { path, namespace } = place;
    const what = `${request.method} ${new URL(request.url).pathname}`;
    const refused = [...this.refusals].find(([part]) => what.includes(part));
    if (refused !== undefined) return refusal(refused[1]);
    const text = await request.text();
    const body = text === "" ? undefined : JSON.parse(text);
    const name = place.name || body.metadata.name;
    const old = this.get(path, name, namespace);
    if (
      request.method === "POST" ? old !== undefined : body?.metadata?.resourceVersion !== undefined &&
        body.metadata.resourceVersion !== old?.metadata["resourceVersion"]
    ) return refusal(409);
    const isApply = request.headers.get("content-type")?.startsWith("application/apply-patch") ?? false;
    if (old === undefined && request.method !== "POST" && !isApply) return refusal(404);
    if (request.method === "DELETE") {
      this.drop(path, name, namespace);
      return Response.json({ kind: "Status", status: "Success" });
    }
    let next: ApiObject | number | undefined;
    if (isApply) next = appliedObject(old, body, query.get("fieldManager") ?? "", query.get("force") === "true");
    else if (request.method === "PATCH") next = mergedObject(old ?? {}, body) as ApiObject;
    else if (request.method !== "GET") next = body;
    if (typeof next === "number") return refusal(next);
    if (next !== undefined) this.put(path, withGeneration(next, old));
    return Response.json(this.get(path, name, namespace));
  }

  /** Nothing is lost between a list and its watch: the API answers both in one turn of the loop, before any change. */
  #watch(path: string, only: string | undefined, labels: string): Response {
    let watch: Watch | undefined;
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#watches.add(watch = { path, only, labels, controller });
          this.#onWatch();
          for (const object of this.#objects.get(path)?.values() ?? []) {
            if ((only === undefined || only === object.metadata.name) && isSelected(object, labels)) {
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

function refusal(code: number): Response {
  return Response.json({ kind: "Status", code, message: `the stand-in answers ${code}` }, { status: code });
}

/** Each change of a spec is a generation. */
function withGeneration(next: ApiObject, old: ApiObject | undefined): ApiObject {
  const before = Number(old?.metadata["generation"] ?? 0);
  const isChanged = !isDeepStrictEqual(next["spec"], old?.["spec"]);
  return { ...next, metadata: { ...next.metadata, generation: isChanged ? before + 1 : before } };
}
