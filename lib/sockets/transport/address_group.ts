/**
 * Groups clients by address, so that no group uses up limits that all clients share.
 *
 * @module
 */

/**
 * The group of a client without an identity: the address; for IPv6 the network of 64 bits, because a host may take any
 * address there.
 *
 * @param address `address:port`, or the path of a Unix socket
 */
export function addressGroup(address: string): string {
  const at = address.startsWith("/") ? -1 : address.lastIndexOf(":");
  const host = at < 0 ? address : address.slice(0, at);
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host);
  if (v4 !== null) return `address ${v4[1]}`;
  if (at < 0 || !host.includes(":")) return `address ${host}`;
  const [head = "", tail] = host.split("::");
  const groups = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const all = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill("0"), ...last];
  return `address ${all.slice(0, 4).join(":")}::/64`;
}
