/**
 * A single form for all texts of a rule. Versions and back ends of the kernel's tools print the same rule in different
 * words. Two rules are the same if their normal forms are equal.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import { withoutDots } from "./address.ts";

const longNames: Readonly<Record<string, string>> = {
  "--source": "-s",
  "--src": "-s",
  "--destination": "-d",
  "--dst": "-d",
  "--in-interface": "-i",
  "--out-interface": "-o",
  "--protocol": "-p",
  "--match": "-m",
  "--jump": "-j",
  "--to-port": "--to-ports",
  "--set-mark": "--set-xmark",
  "--source-port": "--sport",
  "--destination-port": "--dport",
  "--destination-ports": "--dports",
};

const protocols: Readonly<Record<string, string>> = { "6": "tcp", "17": "udp" };

/** Words of a line, with the quoting of the tools. */
export function ruleWords(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map((m) => m[2] ?? (m[1] ?? "").replace(/\\(.)/g, "$1"));
}

/** Normal form of a rule: its text without chain, in any spelling. */
export function normalRule(line: string): string {
  const base: string[] = [];
  const groups: string[][] = [];
  let target: string[] = [];
  let into = base;
  let not = "";
  let last = "";
  const words = ruleWords(line);
  for (let at = 0; at < words.length; at++) {
    const word = longNames[words[at] ?? ""] ?? words[at] ?? "";
    const value = words[at + 1] ?? "";
    if (word === "!") not = "! ";
    else if (word === "-m") {
      // Options of the protocol's own match may appear without the match's name.
      into = /^(tcp|udp)$/.test(value) ? base : [value];
      if (into !== base) groups.push(into);
      at++;
    } else if (word === "-j" || word === "-g") {
      target = [`${word} ${value}`];
      into = target;
      at++;
    } else if (/^-[sdiop]$/.test(word)) {
      const text = baseValue(word, value);
      if (text !== "") base.push(`${not}${word} ${text}`);
      not = "";
      at++;
    } else if (word.startsWith("--")) {
      const hasValue = at + 1 < words.length && !/^(!$|-)/.test(value);
      last = word;
      const text = optionText(word, hasValue ? value : "");
      if (text !== "") into.push(not + text);
      not = "";
      if (hasValue) at++;
    } else into.push(`${last}:${word}`);
  }
  return [base.sort(), ...groups.map(sortedTail).sort(byText), sortedTail(target)].flat().join(" ");
}

function sortedTail([head, ...rest]: string[]): string[] {
  return head === undefined ? [] : [head, ...rest.sort()];
}

function byText(a: string[], b: string[]): number {
  const [left, right] = [a.join(" "), b.join(" ")];
  return left < right ? -1 : left > right ? 1 : 0;
}

function baseValue(option: string, value: string): string {
  if (option === "-p") return protocols[value] ?? value;
  return option === "-s" || option === "-d" ? normalRange(value) : value;
}

/** `address/bits`, canonical. Empty for all addresses. A text that is not a range stays. */
function normalRange(text: string): string {
  try {
    const [address, bits] = text.includes("/") ? ipaddr.parseCIDR(withoutDots(text)) : hostRange(withoutDots(text));
    return bits === 0 ? "" : `${address.toString()}/${bits}`;
  } catch {
    return text;
  }
}

function hostRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function optionText(option: string, value: string): string {
  switch (option) {
    case "--on-ip":
      return "";
    case "--nfmask":
    case "--ctmask":
      return Number(value) === 0xffffffff ? "" : `${option} ${value}`;
    case "--mark":
    case "--set-xmark":
    case "--tproxy-mark":
      return `${option} ${normalMark(value)}`;
    case "--uid-owner":
    case "--gid-owner":
      return `${option} ${singleId(value)}`;
    case "--ctstate":
    case "--dports":
      return `${option} ${value.split(",").sort().join(",")}`;
    default:
      return value === "" ? option : `${option} ${value}`;
  }
}

/** A range of a single id becomes the id. */
function singleId(value: string): string {
  const [first = "", last, ...more] = value.split("-");
  return first === last && more.length === 0 && /^\d+$/.test(first) ? first : value;
}

/** A mark in decimal, with its mask unless the mask has all bits. */
function normalMark(text: string): string {
  const [value = "", mask] = text.split("/");
  const bits = mask === undefined || Number(mask) === 0xffffffff ? "" : `/${Number(mask)}`;
  return `${Number(value)}${bits}`;
}
