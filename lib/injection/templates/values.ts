/**
 * The data of injection's templates, with the names of Istio's injector. Fields of objects begin with a capital, like
 * Go's fields. Keys of maps (labels, annotations, values) are unchanged.
 *
 * @module
 */
import { writtenMeshConfig } from "../../config/mesh/print.ts";
import { proxySettings } from "../../config/mesh/proxy_schema.ts";
import { encodeField } from "../../config/schema/encode.ts";
import type { JsonTree } from "../merge.ts";
import { proxyConfigVariable } from "../proxy_settings.ts";
import { imageOf } from "../sidecar/image.ts";
import type { SidecarInput } from "../sidecar/input.ts";
import { goFields, withSource } from "./go_fields.ts";

/** The values for a template. */
export function templateValues(input: SidecarInput): JsonTree {
  const { request: { pod, namespace }, settings, reader, proxy, owner, uid, gid, native } = input;
  const { values, mesh, revision } = settings;
  const { labels = {}, annotations = {}, ...metadata } = pod.metadata;
  const image = (otherwise: string) =>
    imageOf(settings, reader.text("sidecar.mesh.io/proxyImage", otherwise), proxy.image?.imageType);
  return {
    TypeMeta: { APIVersion: owner.apiVersion, Kind: owner.kind },
    DeploymentMeta: { Name: owner.name, Namespace: namespace },
    ObjectMeta: withSource({
      ...goFields({ name: "", namespace, ...metadata }) as JsonTree,
      Labels: inBothSpellings(labels),
      Annotations: inBothSpellings(annotations),
    }, pod.metadata),
    Spec: withSource(
      goFields({
        serviceAccountName: "",
        initContainers: [],
        volumes: [],
        imagePullSecrets: [],
        ...pod.spec,
      }) as object,
      pod.spec,
    ),
    ProxyConfig: withSource(
      { ProxyMetadata: {}, Image: { ImageType: "" }, ...goFields(encodeField(proxySettings, proxy)) as JsonTree },
      JSON.parse(proxyConfigVariable(proxy)),
    ),
    MeshConfig: goFields(writtenMeshConfig(mesh)),
    Values: values,
    Revision: revision,
    ...{ ProxyImage: image(values.global.proxy.image), ProxyInitImage: image(values.global.proxy_init.image) },
    ...{ ProxyUID: uid, ProxyGID: gid, NativeSidecars: native },
    ...{
      InboundTrafficPolicyMode: mesh.inboundTrafficPolicy.mode.toLowerCase(),
      CompliancePolicy: settings.compliancePolicy,
    },
  };
}

/** Templates for Istio use Istio's keys, templates for this project use its own keys. Loops see each key once. */
export function inBothSpellings(texts: Readonly<Record<string, string>>): Record<string, string> {
  const both = withSource({ ...texts }, texts);
  for (const [key, value] of Object.entries(texts)) {
    const other = key.includes("istio.io/")
      ? key.replace("istio.io/", "mesh.io/")
      : key.replace("mesh.io/", "istio.io/");
    if (!Object.hasOwn(both, other)) Object.defineProperty(both, other, { value });
  }
  return both;
}
