/**
 * The data of injection's templates, with the field's names: fields of objects begin with a capital, as Go's do; keys of
 * maps (labels, annotations, the values) are as they are written.
 *
 * @module
 */
import { encodeField } from "../../config/schema/encode.ts";
import { proxySettings } from "../../config/mesh/proxy_schema.ts";
import { writtenMeshConfig } from "../../config/mesh/print.ts";
import type { JsonTree } from "../merge.ts";
import { imageOf } from "../sidecar/image.ts";
import type { SidecarInput } from "../sidecar/input.ts";

/** Fields that hold maps with keys of users. */
const MAPS = [
  "labels",
  "annotations",
  "proxyMetadata",
  "runtimeValues",
  "limits",
  "requests",
  "matchLabels",
  "nodeSelector",
];

/** What a template may name. */
export function templateValues(input: SidecarInput): JsonTree {
  const { request: { pod, namespace }, settings, proxy, owner, uid, gid, native } = input;
  const { values, mesh, revision } = settings;
  const { labels = {}, annotations = {}, ...metadata } = pod.metadata;
  return {
    TypeMeta: { APIVersion: "v1", Kind: "Pod" },
    DeploymentMeta: { Name: owner.name, Namespace: namespace },
    ObjectMeta: {
      ...goFields({ name: "", namespace, ...metadata }) as JsonTree,
      Labels: inBothSpellings(labels),
      Annotations: inBothSpellings(annotations),
    },
    Spec: goFields({ serviceAccountName: "", initContainers: [], volumes: [], imagePullSecrets: [], ...pod.spec }),
    ProxyConfig: withGetters(goFields(encodeField(proxySettings, proxy)) as JsonTree),
    MeshConfig: goFields(writtenMeshConfig(mesh)),
    Values: values,
    Revision: revision || "default",
    ProxyImage: imageOf(settings, values.global.proxy.image, proxy.image?.imageType),
    ...{ ProxyUID: uid, ProxyGID: gid, NativeSidecars: native },
  };
}

/** Fields of an object as Go names them. */
function goFields(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(goFields);
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([key, one]) =>
      [key.charAt(0).toUpperCase() + key.slice(1), MAPS.includes(key) ? one : goFields(one)] as const
    ),
  );
}

/** Wrapped values have a method in Go, by which templates read them. */
function withGetters(proxy: JsonTree): JsonTree {
  const wrapped = ["Concurrency", "HoldApplicationUntilProxyStarts"]
    .filter((key) => proxy[key] !== undefined).map((key) => [key, { GetValue: proxy[key] }]);
  return { Image: { ImageType: "" }, ProxyMetadata: {}, ...proxy, ...Object.fromEntries(wrapped) };
}

/** Templates of the field name Istio's keys, those for this project ours. */
function inBothSpellings(texts: Readonly<Record<string, string>>): Record<string, string> {
  const both: Record<string, string> = {};
  for (const [key, text] of Object.entries(texts)) {
    const other = key.includes("istio.io/")
      ? key.replace("istio.io/", "mesh.io/")
      : key.replace("mesh.io/", "istio.io/");
    both[other] ??= text;
  }
  return { ...both, ...texts };
}
