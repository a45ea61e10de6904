/**
 * The facts about an orchestrator's Ingresses and their classes (`networking.k8s.io/v1`).
 *
 * @module
 */

/** The destination of requests of an Ingress. */
export interface IngressBackendData {
  /** Absent: the backend is not a service. */
  readonly service?: {
    readonly name: string;
    /** Number or name of a port of the service; absent: none is written. */
    readonly port?: number | string;
  };
}

/** A path of an Ingress. */
export interface IngressPathData {
  /** Empty: every path. */
  readonly path: string;
  /** `Exact`, `Prefix`, or `ImplementationSpecific`; every other text means the last. */
  readonly pathType: string;
  readonly backend: IngressBackendData;
}

/** The rules of an Ingress for one host. */
export interface IngressRuleData {
  /** Empty: every host. */
  readonly host: string;
  /** Absent: the rule says nothing about HTTP. */
  readonly paths?: readonly IngressPathData[];
}

/** A certificate of an Ingress. */
export interface IngressTlsData {
  /** Empty: every host. */
  readonly hosts: readonly string[];
  /** Empty: none is named. */
  readonly secretName: string;
}

/** An address in an Ingress's status: either field. */
export interface IngressAddressData {
  readonly ip?: string;
  readonly hostname?: string;
}

export interface IngressData {
  /** Name of the IngressClass; absent: `spec.ingressClassName` is not written. */
  readonly className?: string;
  readonly defaultBackend?: IngressBackendData;
  readonly rules: readonly IngressRuleData[];
  readonly tls: readonly IngressTlsData[];
  /** The addresses in the present status, whoever wrote the status. */
  readonly addresses: readonly IngressAddressData[];
}

/** A class of Ingresses. */
export interface IngressClassData {
  /** Name of the controller for the Ingresses of the class; empty: none. */
  readonly controller: string;
}
