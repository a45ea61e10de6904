/**
 * Findings about manifests of an orchestrator: injection, ports of services and workloads, secrets.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const MANIFESTS = {
  "namespace-not-injected": {
    code: "MSH0102",
    title: "namespace is not injected",
    meaning: "A Namespace has no label that asks for injection or excludes it.",
    effect: "Pods of the namespace get no proxy, unless a pod asks for one itself.",
    fix: "Add label `mesh-injection: enabled`, or `disabled` to say that this is meant.",
  },
  "several-injection-labels": {
    code: "MSH0123",
    title: "several injection labels",
    meaning: "A Namespace has labels that ask for injection in ways that exclude each other.",
    effect:
      "A label for injection has precedence over a label for a revision, and both have precedence over a label for ambient mode.",
    fix: "Keep one of the labels.",
  },
  "pod-without-proxy": {
    code: "MSH0103",
    title: "pod lacks the proxy",
    meaning: "A running Pod of an injected namespace has no proxy. Read only from an orchestrator's own objects.",
    effect: "Its traffic bypasses the mesh; peers that require mutual TLS refuse it.",
    fix: "Create the pod again: it is older than the injection.",
  },
  "image-auto-without-injection": {
    code: "MSH0146",
    title: "image auto without injection",
    meaning: "A Deployment has a proxy container with `image: auto`, which injection fills in, and is not injected.",
    effect: "Pods of the Deployment fail to pull an image with the name auto.",
    fix: 'Label the namespace `mesh-injection: enabled`, or the pods `sidecar.mesh.io/inject: "true"`.',
  },
  "image-auto-in-pod": {
    code: "MSH0147",
    title: "image auto was not filled in",
    meaning: "A running Pod has a proxy container with `image: auto`, so it was not injected.",
    effect: "The pod fails to pull an image with the name auto.",
    fix: "Enable injection and create the pod again.",
  },
  "reserved-user": {
    code: "MSH0144",
    title: "user of the proxy",
    meaning: "A container runs as user 1337, which is reserved for the proxy.",
    effect: "Outbound traffic of the container counts as the proxy's own and bypasses the mesh.",
    fix: "Run the container as another user.",
  },
  "services-differ-in-transport": {
    code: "MSH0116",
    title: "services differ in transport",
    meaning: "Several services of one Deployment have the same port with different transport protocols.",
    effect: "Proxies serve the port only for TCP; datagrams bypass the proxies.",
    fix: "Use one transport protocol for the port, or another port.",
  },
  "services-differ-in-port": {
    code: "MSH0137",
    title: "services share a target port",
    meaning: "Several services of one Deployment lead from different ports to the same port of the Deployment.",
    effect: "One of the services decides how the port is served.",
    fix: "Use the same port in all services, or several ports of the workload.",
  },
  "port-without-protocol": {
    code: "MSH0118",
    title: "port says no protocol",
    meaning: "A port of a Service has neither `appProtocol` nor a name that begins with a protocol.",
    effect: "The protocol is detected from the first bytes of each connection; server-first protocols wait in vain.",
    fix: "Set appProtocol, or name the port `http-...`, `grpc-...`, `tcp-...`.",
  },
  "incomplete-credential": {
    code: "MSH0161",
    title: "credential is incomplete",
    meaning:
      "The Secret or ConfigMap that the `credentialName` of a Gateway or of a DestinationRule names lacks a key that its TLS mode needs.",
    effect: "The proxy cannot present a certificate, or verify the other side: connections are refused.",
    fix: "Add the missing key to the object.",
  },
  "unusable-credential": {
    code: "MSH0161",
    title: "credential cannot be used",
    meaning:
      "The Secret or ConfigMap that the `credentialName` of a Gateway or of a DestinationRule names has a certificate, a key, authorities or a revocation list that Envoy does not take, that is not valid now, or that does not belong to the others. Where something else stands for them (sops, templates) nothing is said.",
    effect:
      "The proxy cannot present a certificate that the other side accepts, or verify it: connections are refused.",
    fix:
      "Put a valid certificate, its own key without a password, and lists of each authority into the Secret, each block of PEM on lines of its own.",
  },
  "missing-credential": {
    code: "MSH0201",
    title: "credential is not there",
    warningTitle: "credential is not known",
    meaning:
      "The Secret or ConfigMap that the `credentialName` of a Gateway or of a DestinationRule names is not there. Of files it is said where others of its namespace are there, or with `--whole`.",
    effect:
      "The proxy has no certificate to present, or nothing to verify the other side with: connections are refused.",
    fix: "Create the object, or name another one.",
  },
  "refused-credential": {
    code: "MSH0186",
    title: "credential is refused",
    meaning:
      "The Secret or ConfigMap that the `credentialName` of a Gateway or of a DestinationRule names is there, but its text is refused, and no earlier version is in force.",
    effect:
      "The proxy has no certificate to present, or nothing to verify the other side with: connections are refused.",
    fix: "Correct the text of the object: its own finding says what is wrong.",
  },
  "suites-without-certificate": {
    code: "MSH0202",
    title: "cipher suites that no certificate fits",
    meaning:
      "A server of a Gateway allows only TLS 1.2 and older, with cipher suites for another type of key than the type in its certificates.",
    effect: "Every handshake fails.",
    fix: "Add a suite for the certificate's key, ECDHE-ECDSA-... or ECDHE-RSA-..., or allow TLS 1.3.",
  },
  "ingress-backend-unavailable": {
    code: "MSH1024",
    title: "backend of an Ingress is not there",
    meaning: "A path of an Ingress names no service, a port of a name that its service does not have, or no port.",
    effect: "Requests for the path are answered with 503; no shorter path gets them.",
    fix: "Name a service and one of its ports.",
  },
  "ingress-part-left-out": {
    code: "MSH1025",
    title: "part of an Ingress is left out",
    meaning: "A host, a path or a certificate of an Ingress is not valid, or is incomplete.",
    effect: "This part is not served; the rest of the Ingress is.",
    fix: "Write an expected value, or remove the part.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;
