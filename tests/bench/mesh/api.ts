/**
 * A real API server with a mesh, for servers that follow the API.
 *
 * Permissions: the permissions of `tests/orch/support/server/api_server.ts`.
 *
 * @module
 */
import { noApiServer } from "../../orch/support/server/programs.ts";
import type { StoredObject } from "../../orch/support/server/objects.ts";
import { type ApiServer, startApiServer } from "../../orch/support/server/api_server.ts";
import { parse } from "yaml";
import { definitionFiles } from "../../conformance/support/definitions.ts";
import { service, type Shape } from "./configuration.ts";
import { GATEWAY, gatewayObject, routeObject } from "./gateway_routes.ts";
import { delay } from "./usage.ts";

/** Number of concurrent writes. */
const AT_ONCE = 32;

/** Kind of the routes at the Gateway. */
const ROUTE = { apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" } as const;

/** Pause between two looks at statuses, ms. */
const LOOK = 100;

/** Namespaces of this server and of Istio's server, for the roots of their authorities. */
const SYSTEM_NAMESPACES = ["mesh-system", "istio-system"];

/** A real API server with a mesh. Runs until disposal. */
export class BenchApi implements AsyncDisposable {
  readonly #server: ApiServer;

  private constructor(server: ApiServer, readonly shape: Shape) {
    this.#server = server;
  }

  /**
   * Starts a server and writes a service, and a slice with endpoints, for each service of the shape.
   *
   * @throws {Error} When this machine cannot run an API server.
   */
  static async start(shape: Shape): Promise<BenchApi> {
    if (noApiServer !== undefined) throw new Error(noApiServer);
    const api = new BenchApi(await startApiServer(), shape);
    try {
      await api.#fill();
      return api;
    } catch (error) {
      await api[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** File of the administrator's access. */
  get kubeconfig(): string {
    return this.#server.kubeconfig;
  }

  /** The last endpoint of the last service moves to another address. */
  async changeEndpoint(address: string): Promise<void> {
    await this.#server.objects.apply(slice(this.shape, this.shape.services - 1, address));
  }

  /** The header in the match of the Gateway's first route changes. */
  async changeGatewayRoute(routed: string): Promise<void> {
    await this.#server.objects.apply(routeObject(this.shape, 0, { routed }));
  }

  /**
   * Waits until each route at the Gateway has a status. A few routes are asked for before all are listed, because a list
   * of all routes takes the API server a second.
   *
   * @returns the time of the last look, `performance.now()`
   */
  async routesJudged(): Promise<number> {
    const { objects } = this.#server;
    const { routes = 0 } = this.shape.gateway ?? {};
    const some = Array.from({ length: 20 }, (_, i) => routeObject(this.shape, Math.floor(i * (routes - 1) / 19)));
    for (const { metadata: { name, namespace } } of some) {
      while (!isJudged(await objects.get({ ...ROUTE, metadata: { name, namespace } }))) await delay(LOOK);
    }
    while (true) {
      const looked = performance.now();
      const listed = await objects.list(ROUTE);
      if (listed.length === routes && listed.every(isJudged)) return looked;
      await delay(LOOK);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  async #fill(): Promise<void> {
    const { objects } = this.#server;
    const names = Array.from({ length: this.shape.namespaces }, (_, i) => `ns-${i}`);
    for (const name of [...SYSTEM_NAMESPACES, ...names]) {
      await objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    let next = 0;
    const write = async () => {
      for (let index = next++; index < this.shape.services; index = next++) {
        await objects.create(serviceObject(this.shape, index));
        await objects.create(slice(this.shape, index));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, write));
    if (this.shape.gateway !== undefined) await this.#fillGateway(this.shape.gateway.routes);
  }

  /** The Gateway API's definitions, the Gateway, and its routes. */
  async #fillGateway(routes: number): Promise<void> {
    const { objects } = this.#server;
    for (const path of await definitionFiles("v1.6.1")) await objects.define(parse(await Deno.readTextFile(path)));
    await objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: GATEWAY.namespace } });
    await objects.create(gatewayObject());
    let next = 0;
    const write = async () => {
      for (let index = next++; index < routes; index = next++) await objects.create(routeObject(this.shape, index));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, write));
  }
}

function isJudged(route: StoredObject | undefined): boolean {
  const { status } = (route ?? {}) as { readonly status?: { readonly parents?: readonly unknown[] } };
  return (status?.parents?.length ?? 0) > 0;
}

function serviceObject(shape: Shape, index: number) {
  const { name, namespace, ports } = service(shape, index);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      selector: { app: name },
      ports: ports.map(({ name, number }) => ({ name, port: number, targetPort: 8000 + number % 1000 })),
    },
  };
}

/** @param last Address of the last endpoint. Default: the initial address. */
function slice(shape: Shape, index: number, last?: string) {
  const { name, namespace, ports, endpoint } = service(shape, index);
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: ports.map(({ name, number }) => ({ name, port: 8000 + number % 1000, protocol: "TCP" })),
    endpoints: Array.from({ length: shape.endpoints }, (_, i) => ({
      addresses: [i === shape.endpoints - 1 ? last ?? endpoint(i) : endpoint(i)],
      conditions: { ready: true },
    })),
  };
}
