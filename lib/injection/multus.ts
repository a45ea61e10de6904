/**
 * The annotation with which Multus attaches networks to a pod: a list of names, or JSON.
 *
 * Form: https://github.com/k8snetworkplumbingwg/multi-net-spec (network attachment selection annotation)
 *
 * @module
 */

/** The network whose plugin redirects traffic: namespace and name. */
export const CHAINED_NETWORK = "default/mesh-cni";

/** The annotation with another network. A network in the annotation is not added again. */
export function withNetwork(written: string, network: string): string {
  const text = written.trim();
  if (text === "") return network;
  const [namespace, name] = network.split("/");
  if (!text.startsWith("[")) {
    const names = text.split(",").map((one) => one.trim());
    return names.includes(network) ? text : `${text}, ${network}`;
  }
  try {
    const list = JSON.parse(text) as readonly { readonly name?: unknown; readonly namespace?: unknown }[];
    const there = list.some((one) => one?.name === name && (one?.namespace ?? "default") === namespace);
    return there ? text : JSON.stringify([...list, { name, namespace }]);
  } catch {
    // Multus itself reports such a text. An added network would be lost.
    return text;
  }
}
