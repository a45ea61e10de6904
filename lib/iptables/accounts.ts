/**
 * Numbers of users and groups, by name.
 *
 * @module
 */
import { before } from "../kernel/text/edges.ts";

/** Largest number: the kernel keeps 4294967295 for "none". */
const MAX_ID = 0xfffffffe;

/**
 * The number of a user or group.
 *
 * @param text A decimal number or a name.
 * @param database `/etc/passwd` or `/etc/group`: in both, the third field is the number.
 */
export function parseAccount(text: string, database: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text) <= MAX_ID ? Number(text) : undefined;
  for (const line of database.split("\n")) {
    const [name, , id] = line.split(":");
    if (name === text && id !== undefined && /^\d+$/.test(id)) return Number(id);
  }
  return undefined;
}

/** Addresses of the name servers of `/etc/resolv.conf`, without zones. */
export function nameServersOf(resolvConf: string): string[] {
  return resolvConf.split("\n").flatMap((line) => {
    const [, address] = /^\s*nameserver\s+(\S+)/.exec(line) ?? [];
    return address === undefined ? [] : [before(address, "%")];
  });
}
