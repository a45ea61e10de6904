/**
 * A second injector in a cluster: a webhook that behaves like Istio's. The injector adds its proxy and its status to each
 * pod, also to a pod with another proxy.
 *
 * Permissions: net (localhost); the permissions of `../../certificates.ts`.
 * @module
 */
import { Buffer } from "node:buffer";
import { Authority } from "../../certificates.ts";
import type { ApiServer } from "./server/api_server.ts";

const KIND = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };
const STATUS = { containers: ["istio-proxy"], initContainers: ["istio-init"], revision: "default" };

interface Pod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly initContainers?: readonly unknown[] };
}

function patchOf({ metadata, spec }: Pod): object[] {
  const image = "docker.io/istio/proxyv2:1.30.0";
  const annotations = { ...metadata.annotations, "sidecar.istio.io/status": JSON.stringify(STATUS) };
  return [
    { op: "add", path: "/metadata/annotations", value: annotations },
    { op: "add", path: "/spec/containers/-", value: { name: "istio-proxy", image, args: ["proxy", "sidecar"] } },
    {
      ...{ op: "add", path: "/spec/initContainers" },
      value: [...spec.initContainers ?? [], { name: "istio-init", image, args: ["istio-iptables"] }],
    },
  ];
}

/** Installs the injector for pods of namespaces with `istio-injection: enabled` until disposed of. */
export async function toyInjector({ objects }: ApiServer, name: string): Promise<AsyncDisposable> {
  const authority = await Authority.make("toy injector");
  const { certificate: cert, key } = await authority.sign("localhost");
  const listening = Promise.withResolvers<number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen: ({ port }) => listening.resolve(port) },
    async (request) => {
      const { apiVersion, kind, request: { uid, object } } = await request.json();
      const patch = Buffer.from(JSON.stringify(patchOf(object))).toString("base64");
      return Response.json({ apiVersion, kind, response: { uid, allowed: true, patchType: "JSONPatch", patch } });
    },
  );
  const configuration = {
    ...{ ...KIND, metadata: { name, labels: { "istio.io/rev": "default" } } },
    webhooks: [{
      name: "namespace.sidecar-injector.istio.io",
      clientConfig: {
        url: `https://localhost:${await listening.promise}/inject`,
        caBundle: Buffer.from(authority.certificate).toString("base64"),
      },
      namespaceSelector: { matchLabels: { "istio-injection": "enabled" } },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      ...{ failurePolicy: "Fail", sideEffects: "None", admissionReviewVersions: ["v1"] },
    }],
  };
  await objects.create(configuration);
  return {
    [Symbol.asyncDispose]: async () => {
      await objects.delete(configuration);
      await server.shutdown();
    },
  };
}
