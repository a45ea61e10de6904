/**
 * Services known only from manifests. Proxies have no clusters and endpoints for such services yet. A request to such
 * a service passes through to its virtual address, and the orchestrator chooses the endpoint.
 *
 * @module
 */
import type { FactView, ServiceFact, WorkloadFact } from "../../config/facts/view.ts";
import { isIp } from "../../registry/address.ts";
import { portProtocol } from "../../registry/protocol.ts";
import type { Protocol } from "../../registry/types.ts";

/** An endpoint that the orchestrator may choose for a connection. */
export interface ManifestEndpoint {
  /** Absent: the manifest of a workload has no address. The pods get addresses when they run. */
  readonly address?: string;
  readonly port: number;
  /** Key of the workload behind the pods; absent: the endpoints do not name the workload. */
  readonly workload?: string;
}

type FactPort = ServiceFact["fact"]["spec"]["ports"][number];

export class ManifestServices {
  readonly #facts: FactView;

  constructor(facts: FactView) {
    this.#facts = facts;
  }

  /** The service of a full host. */
  find(host: string): ServiceFact | undefined {
    return this.#facts.service(host);
  }

  /** The service with a virtual address. The cost grows with the number of services. */
  at(ip: string): ServiceFact | undefined {
    return this.#facts.hosts().map((host) => this.#facts.service(host)).find((one) => addressOf(one) === ip);
  }

  /** Ready endpoints: the endpoints in manifests, or else the pods that the selector finds. */
  endpoints(service: ServiceFact, port: number): readonly ManifestEndpoint[] {
    const servicePort = service.fact.spec.ports.find((one) => one.port === port);
    if (servicePort === undefined) return [];
    const listed = this.#facts.endpoints(service.host).flatMap(({ endpoints, ports }) => {
      const found = ports.find(({ name }) => name === servicePort.name)?.port;
      return found === undefined ? [] : endpoints.filter(({ ready }) => ready)
        .flatMap(({ addresses: [address = ""] }) => isIp(address) ? [{ address, port: found }] : []);
    });
    return listed.length > 0 ? listed : this.#selected(service, servicePort);
  }

  #selected({ fact: { meta, spec } }: ServiceFact, port: FactPort): ManifestEndpoint[] {
    if (Object.keys(spec.selector).length === 0) return [];
    const workloads = this.#facts.workloadsWith(meta.namespace, spec.selector);
    const names = new Set(workloads.map(({ kind, meta: { name } }) => `${kind}/${name}`));
    return workloads.flatMap((workload) => {
      const { owner, addresses: [address] = [] } = workload.spec;
      const target = targetPort(port, workload);
      // The pods of a known workload are listed with the workload, not separately.
      if (target === undefined || (address === undefined && owner !== undefined && names.has(owner))) return [];
      return [{ ...(address === undefined ? {} : { address }), port: target, workload: workload.key }];
    }).sort((a, b) => Number(a.address === undefined) - Number(b.address === undefined));
  }
}

/** The virtual address of a service; undefined: no address, or an address that the orchestrator will choose. */
export function addressOf(service: ServiceFact | undefined): string | undefined {
  return service?.fact.spec.clusterIPs.find(isIp);
}

/** The protocol of a port of the service; undefined: the service lacks the port. */
export function protocolOf({ fact: { spec } }: ServiceFact, port: number): Protocol | undefined {
  const found = spec.ports.find((one) => one.port === port);
  if (found === undefined) return undefined;
  const { name, protocol: transport, appProtocol } = found;
  return portProtocol({ port, name, transport, ...(appProtocol === undefined ? {} : { appProtocol }) });
}

function targetPort({ port, targetPort = port }: FactPort, { spec }: WorkloadFact): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  return spec.containers.flatMap(({ ports }) => ports).find(({ name }) => name === targetPort)?.port;
}
