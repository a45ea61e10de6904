/**
 * A real API server with a mesh, for servers that follow the API.
 *
 * Permissions: those of `tests/orch/support/server/api_server.ts`.
 *
 * @module
 */
import { noApiServer } from "../../orch/support/server/programs.ts";
import { type ApiServer, startApiServer } from "../../orch/support/server/api_server.ts";
import { service, type Shape } from "./configuration.ts";

/** Number of concurrent writes. */
const AT_ONCE = 32;

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
  }
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
