/**
 * The expected part of a golden: the differences of its proxies' resources from a plain world.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { decodeNameTable } from "../../../lib/dns/table/name_table_wire.ts";
import { TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { messageJson } from "../../../lib/pb/json.ts";
import type { EncodedResource } from "../../../lib/resource/encoded.ts";
import { NAME_TABLE_TYPE_URL } from "../../../lib/translate/name_table/encode.ts";
import { withBlocks } from "./blocks.ts";
import { compact, difference, likeness, sizeOf } from "./difference.ts";
import { EXPECTED, type Golden, type GoldenProxy, GROUND, proxiesOf, readGolden } from "./read.ts";
import { yamlText } from "./text.ts";
import { GoldenWorld, type Resources } from "./world.ts";

/** The text of a golden's file as produced by the present code. */
export function goldenText(text: string): string {
  const golden = readGolden(text);
  return golden.input + EXPECTED + yamlText(expected(golden));
}

/** The world of a golden. */
export function worldOf({ head, objects }: Golden): GoldenWorld {
  return new GoldenWorld(objects, head);
}

function expected(golden: Golden): Record<string, unknown> {
  const { head, objects } = golden;
  const { kinds = GROUND, proxy: over = {}, ...settings } = head.plain === "nothing" ? {} : head.plain ?? {};
  const plain = new GoldenWorld(objects.filter(({ kind }) => kinds.includes(kind)), settings);
  const before = (proxy: GoldenProxy) =>
    head.plain === "nothing" ? new Map() : plain.resourcesOf({ ...proxy, ...over });
  const world = worldOf(golden);
  const proxies = proxiesOf(head);
  const changed = [...proxies].map(([name, proxy]) => {
    return [name, differences(before(proxy), world.resourcesOf(proxy), head.show)] as const;
  });
  const known = plain.findings();
  const findings = world.findings().filter((finding) => !known.includes(finding));
  return {
    ...(head.proxies ? Object.fromEntries(changed) : changed[0]![1]),
    ...(findings.length > 0 ? { findings } : {}),
  };
}

/** Length of a change, in characters, from which the change refers to another change. */
const LONG = 300;

function differences(before: Resources, now: Resources, show: readonly string[] = ["*"]): Record<string, unknown> {
  const patterns = show.map((pattern) => new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`));
  const all = [...new Set([...before.keys(), ...now.keys()])].sort();
  const seen: { readonly key: string; readonly own: unknown }[] = [];
  const whole: string[] = [];
  const shown: Record<string, unknown> = {};
  for (const key of all.filter((key) => patterns.some((pattern) => pattern.test(key)))) {
    const [old, resource] = [before.get(key), now.get(key)];
    const own = resource === undefined
      ? "gone"
      : old === undefined
      ? ofNew(key, resource, [...whole, mainOf(key)], now)
      : difference(opened(old), opened(resource));
    if (own === undefined) continue;
    const same = typeof own === "string" ? undefined : seen.find((other) => isDeepStrictEqual(other.own, own));
    shown[key] = same !== undefined ? `as ${same.key}` : old === undefined ? own : changedAs(own, seen, key);
    if (same === undefined) seen.push({ key, own });
    if (old === undefined && !Object.hasOwn(own as object, "like")) whole.push(key);
  }
  return shown;
}

/** A new resource, as the difference from a similar resource of the type, except the name. */
function ofNew(key: string, resource: EncodedResource, others: readonly string[], now: Resources): unknown {
  const found = others.flatMap((other) => {
    const like = other === key ? undefined : now.get(other);
    if (like === undefined || like.typeUrl !== resource.typeUrl) return [];
    const [name, own] = [like.name, resource.name];
    const renamed = renamedTree(opened(like), name, own);
    const beside = likeness(renamed, opened(resource));
    return beside === undefined ? [] : [{ like: other === mainOf(key) ? "its main" : other, ...beside }];
  });
  return found.length > 0 ? found.reduce((a, b) => sizeOf(b) < sizeOf(a) ? b : a) : compact(opened(resource));
}

/** A change, as the difference from a similar earlier change of another resource, except the name. */
function changedAs(own: unknown, seen: readonly { readonly key: string; readonly own: unknown }[], key: string) {
  const nameOf = (key: string) => key.slice(key.indexOf("/") + 1);
  const found = seen.flatMap((other) => {
    const beside = likeness(renamedTree(other.own, nameOf(other.key), nameOf(key)), own);
    return beside === undefined ? [] : [{ "changed as": other.key, ...beside }];
  });
  return found.length > 0 && sizeOf(own) > LONG ? found.reduce((a, b) => sizeOf(b) < sizeOf(a) ? b : a) : own;
}

/** The same tree with another name of the resource, and another host in the name of a cluster. */
function renamedTree(tree: unknown, from: string, to: string): unknown {
  const hostOf = (name: string) => name.includes("|") ? name.slice(name.lastIndexOf("|") + 1) : "";
  const [host, other] = [hostOf(from), hostOf(to)];
  const named = JSON.stringify(tree).replaceAll(from, () => to);
  return JSON.parse(host === "" || other === "" ? named : named.replaceAll(host, () => other));
}

/**
 * The resource of the whole service for a resource of a subset: `cluster/outbound|80||a` for
 * `cluster/outbound|80|v1|a`.
 */
function mainOf(key: string): string {
  return key.replace(/^((?:cluster|endpoints)\/outbound\|\d+\|)[^|]+\|/, "$1|");
}

function opened({ typeUrl, value, causes = [] }: EncodedResource): Record<string, unknown> {
  const by = causes.length > 0 ? { by: [...new Set(causes)] } : {};
  const type = typeUrl.slice(TYPE_URL_PREFIX.length);
  const message = typeUrl === NAME_TABLE_TYPE_URL ? decodeNameTable(value) : messageJson(type, value, "shown");
  return { ...by, ...withBlocks(message) as object };
}
