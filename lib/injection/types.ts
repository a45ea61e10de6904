/**
 * The input and the result of injection.
 *
 * @module
 */
import type { LabelSelector, MeshConfig } from "../config/mesh/types.ts";
import type { ProxyConfigSpec } from "../config/kinds/proxy_config/schema.ts";
import type { InjectedPod } from "./pod.ts";
import type { InjectionValues } from "./values.ts";

/** The key `config` of the injector's configuration. */
export interface InjectionConfig {
  /** Whether a pod gets a proxy when no label, annotation or selector decides. */
  readonly policy: "enabled" | "disabled";
  /** Templates for pods that name no template. */
  readonly defaultTemplates: readonly string[];
  /**
   * Templates of the user by name, in the language of Istio's injector. A user's template replaces a built-in template
   * of the same name.
   */
  readonly templates: Readonly<Record<string, string>>;
  /** Names of groups of templates. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Pods without a proxy. */
  readonly neverInjectSelector: readonly LabelSelector[];
  /** Pods with a proxy, unless `neverInjectSelector` matches. */
  readonly alwaysInjectSelector: readonly LabelSelector[];
  /** Annotations for every injected pod. */
  readonly injectedAnnotations: Readonly<Record<string, string>>;
}

/** An object of kind ProxyConfig. */
export interface NamedProxyConfig {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since 1970; the oldest of several counts. */
  readonly createdAt: number;
  readonly spec: ProxyConfigSpec;
}

/** Settings for all pods. */
export interface InjectionSettings {
  readonly config: InjectionConfig;
  readonly values: InjectionValues;
  readonly mesh: MeshConfig;
  readonly proxyConfigs: readonly NamedProxyConfig[];
  /** Version of the program: the default tag of images. */
  readonly version: string;
  /** `REVISION`; empty: the default revision. */
  readonly revision: string;
  /** `ENABLE_NATIVE_SIDECARS`: the proxy is an init container that goes on running. */
  readonly nativeSidecars: boolean;
  /** The API's minor version (`1.MINOR`); undefined: not known, and native sidecars are assumed to be supported. */
  readonly apiMinor: number | undefined;
  /** `PLATFORM`: `openshift` takes users and groups from the namespace. */
  readonly platform: string;
  /** Cluster of the pods, if neither the URL nor the values name a cluster. */
  readonly clusterId: string;
  /** `PILOT_CERT_PROVIDER`, passed on to agents. */
  readonly certProvider: string;
  /** `COMPLIANCE_POLICY`, passed on to agents; empty: no policy. */
  readonly compliancePolicy: string;
  /** `PILOT_ENABLE_ON_DEMAND_SIDECARS`: sidecars ask for what their workloads call. Default false. */
  readonly onDemand?: boolean;
  /** Config map with the mesh's roots in each namespace. */
  readonly rootConfigMap: string;
  /** ClusterTrustBundle with the mesh's roots, in place of the config map; empty: the config map is used. */
  readonly trustBundle: string;
}

/** A pod to decide about. */
export interface InjectionRequest {
  readonly pod: InjectedPod;
  /** The namespace of the request. A pod need not name its namespace when it is created. */
  readonly namespace: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** The parameters of the URL: cluster and network, and variables of the proxy. */
  readonly parameters?: InjectionParameters;
}

/** Parameters in the URL of a webhook. They apply to all pods in requests with the URL. */
export interface InjectionParameters {
  readonly cluster?: string;
  readonly network?: string;
  /** Variables of the proxy by name. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The result of injection into a pod. */
export type InjectionResult =
  /** With lines for the pod's author, if the author probably wished for a proxy. */
  | { readonly kind: "skipped"; readonly reason: string; readonly warnings?: readonly string[] }
  /** With every reason why the pod cannot have the requested proxy. */
  | { readonly kind: "refused"; readonly problems: readonly string[] }
  /** With lines for the pod's author about wishes that injection could not fulfil. */
  | { readonly kind: "injected"; readonly pod: InjectedPod; readonly warnings: readonly string[] };
