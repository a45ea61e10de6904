/**
 * Transcripts of streams, as text for review by people: the server's resources, the client's requests, and the server's
 * answers.
 *
 *     # An edit reaches a client that subscribed to everything.
 *     stream delta
 *     has: cluster a=1 b=1
 *     client: cluster *
 *     server: #1 cluster a=1 b=1
 *     client: cluster ack #1
 *     has: cluster a=2
 *     server: #2 cluster a=2
 *
 * `has` changes the server's resources (`-a` removes; `; ` stands between types) and lets the server push. A client's
 * line has a type, then subscribed names (`-a`: unsubscribed), `known` before the versions from an earlier stream, and
 * `ack #1` or `nack #1 "words"`. In state of the world the names are the whole subscription. `stream delta again` is the
 * next stream of the same client.
 *
 * @module
 */
import {
  CLUSTER,
  ENDPOINTS,
  EXTENSION_CONFIG,
  LISTENER,
  ROUTE,
  SECRET,
  VIRTUAL_HOST,
} from "../../../lib/xds/protocol/types.ts";
import { MemorySource, textResource } from "./memory_source.ts";
import { StreamClient } from "./stream_client.ts";

const TYPES: Readonly<Record<string, string>> = {
  cluster: CLUSTER,
  endpoints: ENDPOINTS,
  listener: LISTENER,
  route: ROUTE,
  secret: SECRET,
  extension: EXTENSION_CONFIG,
  host: VIRTUAL_HOST,
};
const SHORT = new Map(Object.entries(TYPES).map(([short, url]) => [url, short]));

/** A server and a client. */
class Exchange {
  readonly lines: string[] = [];
  readonly #source = new MemorySource().serve(...Object.values(TYPES).filter((type) => type !== VIRTUAL_HOST));
  #client: StreamClient | undefined;
  #earlier: StreamClient["has"] = new Map();

  /** Does the step of a line, and notes the server's answers. Lines of the server are skipped. */
  take(line: string): void {
    if (line.startsWith("server:")) return;
    this.lines.push(line);
    const [word, rest = ""] = split(line);
    if (word === "stream") this.#open(rest);
    else if (word === "has:") this.#has(rest);
    else if (word === "client:") this.#ask(rest);
    else if (word !== "" && word !== "#") throw new Error(`a line that is no step: ${line}`);
    this.#note();
  }

  #open(how: string): void {
    if (!how.endsWith(" again")) this.#earlier = new Map();
    else if (this.#client !== undefined) this.#earlier = this.#client.has;
    this.#client?.close();
    this.#client = new StreamClient(this.#source, how.startsWith("delta"));
  }

  #has(text: string): void {
    for (const change of text.split("; ")) this.#change(change);
    this.#client?.stream.reconcile();
  }

  #change(text: string): void {
    const [short, rest = ""] = split(text);
    const type = typeOf(short);
    const words = rest.split(" ").filter((word) => word !== "");
    const upserts = words.filter((word) => !word.startsWith("-")).map((word) => {
      const name = word.split("=")[0]!;
      return textResource(type, name, word, type === CLUSTER ? { warms: [name] } : {});
    });
    this.#source.change(type, upserts, words.filter((word) => word.startsWith("-")).map((word) => word.slice(1)));
  }

  #ask(text: string): void {
    const client = this.#client!;
    const quoted = /"([^"]*)"/.exec(text)?.[1];
    const [short, ...words] = text.replace(/"[^"]*"/, "").trim().split(/\s+/);
    const type = typeOf(short!);
    const at = words.findIndex((word) => word === "ack" || word === "nack");
    const answered = at < 0 ? undefined : client.received[Number(words[at + 1]!.slice(1)) - 1]!;
    const names = (at < 0 ? words : words.slice(0, at)).filter((word) => word !== "known");
    if (answered !== undefined && words[at] === "ack") client.apply(answered);
    const versions = words.includes("known")
      ? Object.fromEntries([...this.#earlier.get(type) ?? []].map(([name, { version }]) => [name, version]))
      : {};
    client.ask(type, {
      names: names.filter((name) => !name.startsWith("-") && name !== "*"),
      unsubscribe: names.filter((name) => name.startsWith("-")).map((name) => name.slice(1)),
      versions,
      nonce: answered?.nonce ?? "",
      ...(quoted === undefined ? {} : { error: quoted }),
      ...(answered === undefined ? {} : { version: answered.version }),
    });
  }

  #note(): void {
    const client = this.#client;
    if (client === undefined) return;
    const before = client.received.length - client.inbox.length;
    for (const [index, response] of client.inbox.splice(0).entries()) {
      const parts = [
        ...[...response.resources.values()].map(({ value }) => value).sort(),
        ...response.removed.map((name) => `-${name}`).sort(),
      ];
      const what = parts.length === 0 ? "nothing" : parts.join(" ");
      this.lines.push(`server: #${before + index + 1} ${SHORT.get(response.typeUrl)} ${what}`);
    }
  }
}

function split(line: string): [string, string] {
  const at = line.indexOf(" ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

function typeOf(short: string): string {
  const type = TYPES[short];
  if (type === undefined) throw new Error(`no type is called ${short}`);
  return type;
}

/** The transcript with the server's real lines. */
export function played(transcript: string): string {
  const exchange = new Exchange();
  for (const line of transcript.trimEnd().split("\n")) exchange.take(line);
  return `${exchange.lines.join("\n")}\n`;
}
