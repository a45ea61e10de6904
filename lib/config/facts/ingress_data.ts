/**
 * The facts about an orchestrator's Ingresses and their classes (`networking.k8s.io/v1`).
 *
 * @module
 */

/** The destination of requests of an Ingress. */
export interface IngressBackendData {
  /** Absent: the backend is no service. */
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
  /** `Exact`, `Prefix`, or `ImplementationSpecific`, which is also what any other text means. */
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

/** An address that an Ingress says it is reached at: one of the two. */
export interface IngressAddressData {
  readonly ip?: string;
  readonly hostname?: string;
}

export interface IngressData {
  /** Name of its IngressClass; absent: none is named in `spec.ingressClassName`. */
  readonly className?: string;
  readonly defaultBackend?: IngressBackendData;
  readonly rules: readonly IngressRuleData[];
  readonly tls: readonly IngressTlsData[];
  /** Its status, as somebody has written it. */
  readonly addresses: readonly IngressAddressData[];
}

/** A class of Ingresses. */
export interface IngressClassData {
  /** Name of the controller that serves its Ingresses; empty: none. */
  readonly controller: string;
}
