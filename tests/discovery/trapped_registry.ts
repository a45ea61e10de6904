/**
 * Services whose translation throws, for tests of the cost of an exception.
 * @module
 */
import type { Registry, RegistrySink } from "../../lib/registry/types.ts";
import { plainEndpoint, plainService } from "../../lib/registry/mock.ts";
import { serviceKey } from "../../lib/registry/types.ts";

/** The packages of trapped builders. */
const BUILDERS = /\/lib\/translate\/(?:cluster|route|listener|endpoint|destination|gateway)\//;

/** A registry of services. Some services throw when a builder touches them. */
export class TrappedRegistry implements Registry {
  readonly provider = "Mock";
  readonly clusterId = "Orch";
  #sink: RegistrySink | undefined;
  #sprung = 0;

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  /** Whether traps go off. */
  armed = true;

  /** How often a trap went off. */
  get sprung(): number {
    return this.#sprung;
  }

  /**
   * Adds or changes a service with one endpoint.
   *
   * @param where Stacks in which a trapped service throws; default: any builder.
   */
  set(name: string, address: string, created: number, trapped = false, where = BUILDERS): void {
    const ports = [{ name: "http", port: 80, protocol: "HTTP" as const }];
    const service = plainService({
      hostname: `${name}.example.com`,
      namespace: "x",
      ports,
      creationTimestamp: created,
    });
    const place = { clusterId: "Orch", namespace: "x", workloadName: name };
    const endpoint = plainEndpoint({ address, port: 80, portName: "http", ...place });
    this.#sink?.services([trapped ? this.#trap(service, where) : service], []);
    this.#sink?.endpoints(serviceKey(service), "Mock/Orch", [trapped ? this.#trap(endpoint, where) : endpoint]);
  }

  #trap<T extends object>(target: T, where: RegExp): T {
    return new Proxy(target, {
      get: (of, key) => {
        if (this.armed && where.test(new Error().stack ?? "")) {
          this.#sprung++;
          throw new Error("a builder meets what it did not expect");
        }
        return Reflect.get(of, key);
      },
    });
  }
}
