/**
 * InferencePool of the Gateway API's Inference Extension (group `inference.networking.k8s.io`), with the limits of the
 * definition of v1.6.0.
 *
 * @module
 */
import { list, map } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { limitedList, limitedMap, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string } from "../../schema/scalars.ts";
import { group, kindName, objectName, portNumber } from "./common.ts";

const labelValue = limitedText(
  keepZero(string()),
  "the value of a label",
  { max: 63 },
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
);

const selector = message({
  /** Labels that a pod must have, all of them; keys as written. */
  matchLabels: required(limitedMap(map(labelValue), { max: 64 }), "1 to 64 labels of pods"),
});

const port = message({
  /** Number of the port. */
  number: required(portNumber, "a port number, 1 to 65535"),
});

const endpointPickerRef = message({
  /** Group of the endpoint picker's object; empty: the core group. */
  group: withDefault(group, ""),
  /** Kind of the endpoint picker's object. */
  kind: withDefault(kindName, "Service"),
  /** Name of the endpoint picker's Service, in the namespace of the pool. */
  name: required(objectName, "the name of the endpoint picker's Service"),
  /** Port of the Service. */
  port,
  /** Requests while the endpoint picker does not answer: the proxy picks an endpoint, or refuses the request. */
  failureMode: withDefault(enumOf("FailOpen", "FailClose"), "FailClose"),
});

/** The program that picks endpoints. */
export interface EndpointPickerReference extends Of<typeof endpointPickerRef> {}

export const inferencePool = message({
  /** The pods of the pool, in the namespace of the pool. */
  selector: required(selector, "a selector with labels of pods"),
  /** Ports of the pods. Each port of each pod is an endpoint. */
  targetPorts: required(limitedList(list(port), { min: 1, max: 8 }), "1 to 8 ports"),
  /** Protocol of all ports: HTTP/1.1, or HTTP/2 without TLS. */
  appProtocol: withDefault(enumOf("http", "kubernetes.io/h2c"), "http"),
  /** The program that picks the endpoint of each request; absent: requests to the pool are refused. */
  endpointPickerRef,
});

/** An InferencePool of the Gateway API's Inference Extension: pods among which a program picks one for each request. */
export interface InferencePoolSpec extends Of<typeof inferencePool> {}
