/**
 * The node's exemption for probes: connections that processes of the node open to pods in ambient mode get a source
 * address of their own, by which the rules in the pod let them pass. Forwarded connections, such as those of services,
 * have no socket on the node and keep their source.
 *
 * All is in one table of nftables for each family. The table's chain is asked before the chains of other programs, by
 * its priority. A change replaces the table in one transaction.
 *
 * Permissions: the permissions of the given {@link Run}.
 *
 * @module
 */
import { families, type Family } from "../../iptables/model/names.ts";
import { failureOf, type Run } from "../../iptables/run.ts";
import { isObject } from "../config/network.ts";
import { canonical } from "../plugin/ownership.ts";

const TABLE = "mesh-probes";
const SET = "pods";

/** The table of a family, which is also the protocol in rules. */
const TABLES: Readonly<Record<Family, "ip" | "ip6">> = { 4: "ip", 6: "ip6" };

/** Before `srcnat`, 100: the first chain that gives a connection a source decides. */
const PRIORITY = 90;

/** Pods by address; the value is the pod's uid. */
export type ProbedPods = ReadonlyMap<string, string>;

/** The exemption of the node's probes. */
export class HostProbes {
  readonly #pods = new Map<string, string>();
  readonly #families: readonly Family[];
  readonly #run: Run;
  readonly #source: Readonly<Record<Family, string>>;
  #writing: Promise<void> | undefined;
  #again = false;

  /**
   * @param run Runs commands in the node's network namespace.
   * @param source The source address of probes, by family.
   * @param ipv6 False: IPv6 has no table.
   */
  constructor(run: Run, source: Readonly<Record<Family, string>>, ipv6: boolean) {
    this.#run = run;
    this.#source = source;
    this.#families = ipv6 ? families : [4];
  }

  /** Exempts the addresses of a pod, and no other address for this pod. */
  async put(uid: string, given: readonly string[]): Promise<void> {
    if (this.expect(uid, given)) await this.#write();
  }

  /** Has the next write, or {@link reconcile}, exempt the addresses of a pod. @returns False: they are expected already. */
  expect(uid: string, given: readonly string[]): boolean {
    const addresses = given.map(plainAddress);
    const before = this.of(uid);
    const isSame = before.length === addresses.length && addresses.every((address) => before.includes(address));
    if (isSame) return false;
    for (const address of before) this.#pods.delete(address);
    for (const address of addresses) this.#pods.set(address, uid);
    return true;
  }

  /** Ends the exemption of all pods but these. */
  async keepOnly(uids: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#pods].filter(([, uid]) => !uids.has(uid));
    for (const [address] of gone) this.#pods.delete(address);
    if (gone.length > 0) await this.#write();
  }

  /** Ends the exemption of a pod. An address that another pod has got meanwhile stays. */
  async drop(uid: string): Promise<void> {
    const gone = this.of(uid);
    for (const address of gone) this.#pods.delete(address);
    if (gone.length > 0) await this.#write();
  }

  /** The exempted addresses of a pod. */
  of(uid: string): string[] {
    return [...this.#pods].filter(([, owner]) => owner === uid).map(([address]) => address);
  }

  /** Writes the tables if the kernel's differ. @returns True for a difference. */
  async reconcile(): Promise<boolean> {
    const differs = (await Promise.all(this.#families.map((family) => this.#differs(family)))).includes(true);
    if (differs) await this.#write();
    return differs;
  }

  /** Takes the tables away. */
  async remove(): Promise<void> {
    await this.#nft(this.#families.map(removal).join(""));
  }

  /** One transaction at a time. Changes that come meanwhile are in the next. */
  #write(): Promise<void> {
    this.#again = true;
    this.#writing ??= (async () => {
      try {
        while (this.#again) {
          this.#again = false;
          await this.#nft(this.#families.map((family) => this.#text(family)).join(""));
        }
      } finally {
        this.#writing = undefined;
      }
    })();
    return this.#writing;
  }

  #text(family: Family): string {
    return probesText(family, this.#source[family], this.#ofFamily(family));
  }

  #ofFamily(family: Family): ProbedPods {
    return new Map([...this.#pods].filter(([address]) => address.includes(":") === (family === 6)));
  }

  /**
   * The addresses of a pod that the tables of the kernel exempt. A table that is missing, or not as written here,
   * exempts nothing.
   */
  async exempted(uid: string): Promise<string[]> {
    const comment = commentOf(uid);
    const tables = await Promise.all(this.#families.map(async (family) => {
      const seen = await this.#read(family);
      return seen?.source === this.#source[family] ? [...seen.pods] : [];
    }));
    return tables.flat().filter(([, owner]) => owner === comment).map(([address]) => address);
  }

  /** The addresses among some that can be exempted: those of families with a table. */
  ofFamilies(addresses: readonly string[]): string[] {
    return addresses.map(plainAddress).filter((one) => this.#families.includes(one.includes(":") ? 6 : 4));
  }

  /** The table of a family. Undefined: it is not there, or not as written here. */
  async #read(family: Family): Promise<ReturnType<typeof readProbes>> {
    const listed = await this.#run("nft", ["-j", "list", "table", TABLES[family], TABLE]);
    return listed.code === 0 ? readProbes(listed.stdout) : undefined;
  }

  async #differs(family: Family): Promise<boolean> {
    const seen = await this.#read(family);
    const wanted = this.#ofFamily(family);
    return seen === undefined || seen.source !== this.#source[family] || seen.pods.size !== wanted.size ||
      [...wanted].some(([address, uid]) => seen.pods.get(address) !== uid);
  }

  async #nft(text: string): Promise<void> {
    const ran = await this.#run("nft", ["-f", "-"], text);
    if (ran.code !== 0) throw new Error(`nft: ${failureOf(ran)}`);
  }
}

/** An address in one spelling, without brackets. */
function plainAddress(address: string): string {
  return canonical(address).replace(/^\[|\]$/g, "");
}

/** The comment with a pod's uid. No uid can end the comment. */
function commentOf(uid: string): string {
  return uid.replace(/[^\w.-]/g, "");
}

/** A table that may not be there is made before it is deleted. */
function removal(family: Family): string {
  const table = TABLES[family];
  return `add table ${table} ${TABLE}\ndelete table ${table} ${TABLE}\n`;
}

/**
 * The table of a family, in place of the present one.
 *
 * The set names its key by `typeof`, never by `type`: nft 1.1 stores the form of the key with the set, and the nft 1.0.6
 * of a node (Debian 12) or of a kube-proxy ends by a segmentation fault at each command while a set with `type` exists.
 */
export function probesText(family: Family, source: string, pods: ProbedPods): string {
  const table = TABLES[family];
  const elements = [...pods].map(([address, uid]) => `${address} comment "${commentOf(uid)}"`);
  return `${removal(family)}table ${table} ${TABLE} {
  set ${SET} {
    typeof ${table} daddr
${elements.length === 0 ? "" : `    elements = { ${elements.join(", ")} }\n`}  }
  chain postrouting {
    type nat hook postrouting priority ${PRIORITY}; policy accept;
    meta l4proto tcp meta skuid 0-4294967295 ${table} daddr @${SET} snat to ${source}
  }
}
`;
}

/** The pods and the source in a list of nft as JSON. Undefined: the table is not as written here. */
export function readProbes(text: string): { readonly pods: ProbedPods; readonly source: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parts = isObject(value) && Array.isArray(value["nftables"]) ? value["nftables"].filter(isObject) : [];
  const found = (key: string) => parts.map((part) => part[key]).filter(isObject);
  const [set] = found("set");
  const rules = found("rule").map((rule) => JSON.stringify(rule["expr"]));
  const source = /\{"snat":\{"addr":"([^"]+)"\}\}\]$/.exec(rules[0] ?? "")?.[1];
  if (set === undefined || rules.length !== 1 || source === undefined || found("chain").length !== 1) return undefined;
  const elements: readonly unknown[] = Array.isArray(set["elem"]) ? set["elem"] : [];
  return { source, pods: new Map(elements.map(readElement)) };
}

/** An element with a comment is an object, an element without is a text. */
function readElement(element: unknown): [address: string, uid: string] {
  const one = isObject(element) ? element["elem"] : undefined;
  return isObject(one) ? [String(one["val"]), String(one["comment"])] : [JSON.stringify(element), ""];
}
