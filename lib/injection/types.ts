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
  /** Whether pods get a proxy that no label, annotation or selector decides about. */
  readonly policy: "enabled" | "disabled";
  /** Templates of pods that name none. */
  readonly defaultTemplates: readonly string[];
  /** Templates of the user by name, in the language of Istio's injector. One of a built-in's name takes its place. */
  readonly templates: Readonly<Record<string, string>>;
  /** Names that stand for several templates. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Pods that get no proxy. */
  readonly neverInjectSelector: readonly LabelSelector[];
  /** Pods that get one, where the other selector does not hold. */
  readonly alwaysInjectSelector: readonly LabelSelector[];
  /** Annotations that every injected pod gets. */
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

/** Settings that hold for all pods. */
export interface InjectionSettings {
  readonly config: InjectionConfig;
  readonly values: InjectionValues;
  readonly mesh: MeshConfig;
  readonly proxyConfigs: readonly NamedProxyConfig[];
  /** Version of this program: the tag of images where the values name none. */
  readonly version: string;
  /** `REVISION`; empty: the default one. */
  readonly revision: string;
  /** `ENABLE_NATIVE_SIDECARS`: the proxy is an init container that goes on. */
  readonly nativeSidecars: boolean;
  /** The API's minor version (`1.MINOR`); undefined: not known, so native sidecars are taken as understood. */
  readonly apiMinor: number | undefined;
  /** `PLATFORM`: `openshift` takes users and groups from the namespace. */
  readonly platform: string;
  /** Cluster of the pods, where neither the URL nor the values name one. */
  readonly clusterId: string;
  /** `PILOT_CERT_PROVIDER`, which agents learn. */
  readonly certProvider: string;
  /** `COMPLIANCE_POLICY`, which agents keep to as well; empty: none. */
  readonly compliancePolicy: string;
  /** Config map that holds the mesh's roots in each namespace. */
  readonly rootConfigMap: string;
  /** ClusterTrustBundle that holds them instead; empty: none. */
  readonly trustBundle: string;
}

/** One pod that is to be decided about. */
export interface InjectionRequest {
  readonly pod: InjectedPod;
  /** The namespace of the request, because a pod that is created need not name it. */
  readonly namespace: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** The parameters of the URL: cluster and network, and variables of the proxy. */
  readonly parameters?: InjectionParameters;
}

/** Parameters in the URL of a webhook, for all pods that come by it. */
export interface InjectionParameters {
  readonly cluster?: string;
  readonly network?: string;
  /** Variables of the proxy by name. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The result of injection into a pod. */
export type InjectionResult =
  | { readonly kind: "skipped"; readonly reason: string }
  /** Every reason why it cannot have the proxy that it asks for. */
  | { readonly kind: "refused"; readonly problems: readonly string[] }
  /** With lines for the pod's author: what injection could not do as it was meant. */
  | { readonly kind: "injected"; readonly pod: InjectedPod; readonly warnings: readonly string[] };
