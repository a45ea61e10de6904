/** A stand-in for the orchestrator's API: pods, namespaces, daemon sets, events; list, watch, patch, delete. */

/** An object in the API's form. */
// deno-lint-ignore no-explicit-any -- objects of an API, of which tests write any part
export type ApiObject = any;

/** The stand-in. */
export class FakeOrch {
  readonly pods = new Map<string, ApiObject>();
  readonly namespaces = new Map<string, Record<string, string>>();
  readonly daemonSets = new Map<string, ApiObject>();
  readonly events: ApiObject[] = [];
  /** Requests, as `GET /path`. */
  readonly asked: string[] = [];
  /** When set, the answer to every request. */
  refusal: { status: number; body: string } | undefined;
  token = "secret";
  private version = 100;
  /** Every change, for watches from any version on. */
  private readonly history: ApiObject[] = [];
  private readonly watchers = new Set<(event: ApiObject) => void>();
  private readonly server: Deno.HttpServer<Deno.NetAddr>;

  constructor(tls?: { cert: string; key: string }) {
    const options = { port: 0, hostname: "127.0.0.1", onListen() {}, ...tls };
    this.server = Deno.serve(options, (request) => this.answer(request)) as Deno.HttpServer<Deno.NetAddr>;
    this.scheme = tls === undefined ? "http" : "https";
  }

  private readonly scheme: string;

  get address(): string {
    return `${this.scheme}://127.0.0.1:${this.server.addr.port}`;
  }

  /** Puts a pod, new or changed, and sends the pod to watchers. */
  put(pod: ApiObject): ApiObject {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const type = this.pods.has(key) ? "MODIFIED" : "ADDED";
    const stored = structuredClone(pod);
    stored.metadata.uid ??= crypto.randomUUID();
    stored.metadata.resourceVersion = String(++this.version);
    this.pods.set(key, stored);
    this.tell({ type, object: stored });
    return stored;
  }

  /** Removes a pod and tells watchers. */
  drop(key: string): void {
    const pod = this.pods.get(key);
    this.pods.delete(key);
    if (pod === undefined) return;
    const last = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++this.version) } };
    this.tell({ type: "DELETED", object: last });
  }

  /** Ends all watches, like a restarting API server. */
  breakWatches(): void {
    this.tell(undefined);
  }

  get watching(): number {
    return this.watchers.size;
  }

  async stop(): Promise<void> {
    this.breakWatches();
    this.namespaceWatchers.clear();
    for (const close of this.closers) {
      try {
        close();
      } catch {
        // The client was first.
      }
    }
    await this.server.shutdown();
  }

  private tell(event: ApiObject): void {
    if (event !== undefined) this.history.push(event);
    for (const watcher of [...this.watchers]) watcher(event);
  }

  private async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.asked.push(`${request.method} ${url.pathname}`);
    if (this.refusal !== undefined) return new Response(this.refusal.body, { status: this.refusal.status });
    if (request.headers.get("authorization") !== `Bearer ${this.token}`) return status(401, "Unauthorized");
    const pod = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(\/status)?$/.exec(url.pathname);
    if (pod !== null) return await this.onePod(request, `${pod[1]}/${pod[2]}`);
    if (url.pathname === "/api/v1/pods") return this.manyPods(url);
    if (url.pathname === "/api/v1/namespaces") return this.manyNamespaces(url);
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(url.pathname)?.[1];
    if (namespace !== undefined) {
      const labels = this.namespaces.get(namespace);
      return labels === undefined ? status(404, "NotFound") : Response.json({ metadata: { name: namespace, labels } });
    }
    const set = /\/namespaces\/([^/]+)\/daemonsets\/([^/]+)$/.exec(url.pathname);
    if (set !== null) {
      const found = this.daemonSets.get(`${set[1]}/${set[2]}`);
      return found === undefined ? status(404, "NotFound") : Response.json(found);
    }
    if (url.pathname.endsWith("/events")) this.events.push(await request.json());
    return Response.json({});
  }

  private async onePod(request: Request, key: string): Promise<Response> {
    const pod = this.pods.get(key);
    if (pod === undefined) return status(404, "NotFound");
    if (request.method === "PATCH") {
      const { metadata } = await request.json();
      if (metadata.uid !== undefined && metadata.uid !== pod.metadata.uid) return status(409, "Conflict");
      const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
      for (const [key, value] of Object.entries(annotations)) if (value === null) delete annotations[key];
      const labels = { ...pod.metadata.labels, ...metadata.labels };
      this.put({ ...pod, metadata: { ...pod.metadata, labels, annotations } });
    } else if (request.method === "DELETE") {
      const { preconditions } = await request.json();
      const { uid, resourceVersion } = pod.metadata;
      if (preconditions.uid !== uid || preconditions.resourceVersion !== resourceVersion) {
        return status(409, "Conflict");
      }
      this.drop(key);
    }
    return Response.json(this.pods.get(key) ?? pod);
  }

  /** Sets the labels of a namespace, and tells watchers. */
  label(namespace: string, labels: Record<string, string>): void {
    const type = this.namespaces.has(namespace) ? "MODIFIED" : "ADDED";
    this.namespaces.set(namespace, labels);
    this.namespaceVersions.set(namespace, ++this.version);
    for (const tell of this.namespaceWatchers) tell({ type, object: this.namespaceObject(namespace) });
  }

  private readonly namespaceVersions = new Map<string, number>();
  private readonly namespaceWatchers = new Set<(event: ApiObject) => void>();

  private namespaceObject(name: string): ApiObject {
    const resourceVersion = String(this.namespaceVersions.get(name) ?? 1);
    return { metadata: { name, uid: name, resourceVersion, labels: this.namespaces.get(name) } };
  }

  private manyNamespaces(url: URL): Response {
    if (url.searchParams.get("watch") !== "true") {
      const items = [...this.namespaces.keys()].map((name) => this.namespaceObject(name));
      return Response.json({ metadata: { resourceVersion: String(this.version) }, items });
    }
    let watcher = (_event: ApiObject) => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        watcher = (event) => controller.enqueue(new TextEncoder().encode(JSON.stringify(event) + "\n"));
        this.namespaceWatchers.add(watcher);
        this.closers.add(() => controller.close());
        watcher({ type: "BOOKMARK", object: {} });
        const since = Number(url.searchParams.get("resourceVersion"));
        for (const [name, version] of this.namespaceVersions) {
          if (version > since) watcher({ type: "MODIFIED", object: this.namespaceObject(name) });
        }
      },
      cancel: () => void this.namespaceWatchers.delete(watcher),
    });
    return new Response(body);
  }

  private readonly closers = new Set<() => void>();

  private manyPods(url: URL): Response {
    const labels = selector(url.searchParams.get("labelSelector"));
    const fields = selector(url.searchParams.get("fieldSelector"));
    const fits = (pod: ApiObject) =>
      labels.every(([key, value]) => pod.metadata.labels?.[key] === value) &&
      fields.every(([key, value]) => key !== "spec.nodeName" || (pod.spec?.nodeName ?? "") === value);
    if (url.searchParams.get("watch") !== "true") {
      const items = [...this.pods.values()].filter(fits);
      return Response.json({ metadata: { resourceVersion: String(this.version) }, items });
    }
    let watcher = (_event: ApiObject) => {};
    const since = Number(url.searchParams.get("resourceVersion"));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (event: ApiObject) => controller.enqueue(new TextEncoder().encode(JSON.stringify(event) + "\n"));
        watcher = (event) => {
          if (event === undefined) {
            this.watchers.delete(watcher);
            controller.close();
          } else if (fits(event.object)) send(event);
        };
        this.watchers.add(watcher);
        send({ type: "BOOKMARK", object: {} });
        for (const event of this.history) {
          if (fits(event.object) && Number(event.object.metadata.resourceVersion) > since) send(event);
        }
      },
      cancel: () => void this.watchers.delete(watcher),
    });
    return new Response(body);
  }
}

function selector(text: string | null): [string, string][] {
  return (text ?? "").split(",").filter((part) => part !== "").map((part) => {
    const [key = "", value = ""] = part.split("=");
    return [key, value];
  });
}

function status(code: number, reason: string): Response {
  return Response.json({ kind: "Status", code, reason }, { status: code });
}

/** A pod after injection. */
export function injectedPod(namespace: string, name: string, more: ApiObject = {}): ApiObject {
  const { annotations = {}, labels = {}, spec = {}, proxy = {} } = more;
  return {
    metadata: { namespace, name, labels, annotations: { "sidecar.mesh.io/status": "{}", ...annotations } },
    spec: {
      containers: [{ name: "app" }, { name: "mesh-proxy", args: ["proxy", "sidecar"], ...proxy }],
      ...spec,
    },
  };
}
