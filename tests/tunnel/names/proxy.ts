/**
 * The DNS proxy of the pods: answers questions about names of the mesh, and asks name servers about other names, from
 * the network of the pod that asks.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import type { Socket } from "node:net";
import { frame, FrameParser } from "../../../lib/dns/packet/tcp_frames.ts";
import type { ServedPod } from "../node/pods.ts";
import { type QuestionEvent, say } from "../path/log.ts";
import type { TunnelWorld } from "../path/world.ts";
import { answerMessage, failureMessage, isAddressType, type NameQuestion, readNameQuestion } from "./messages.ts";
import { type NameAnswer, resolveName } from "./resolve.ts";

/** Longest wait for a name server, ms. */
const TIMEOUT = 5000;

const DNS_PORT = 53;

type Bytes = Uint8Array<ArrayBuffer>;
type Transport = QuestionEvent["by"];

/** The proxy. */
export class NameProxy {
  readonly #world: TunnelWorld;
  readonly #domain: string;
  readonly #servers: readonly string[];

  /** @param servers Addresses of name servers, in order. */
  constructor(world: TunnelWorld, domain: string, servers: readonly string[]) {
    this.#world = world;
    this.#domain = domain;
    this.#servers = servers;
  }

  /** Takes a packet. */
  async packet(pod: ServedPod, packet: Bytes, reply: (answer: Bytes) => void): Promise<void> {
    const answer = await this.#answer(pod, packet, "udp");
    try {
      if (answer !== undefined) reply(answer);
    } catch (error) {
      say({ event: "question", uid: pod.uid, by: "udp", refused: (error as Error).message });
    }
  }

  /** Takes a connection, and answers its questions in turn. */
  async take(pod: ServedPod, fd: number): Promise<void> {
    const stream = this.#world.sockets.stream(fd);
    const parser = new FrameParser();
    try {
      // The stream lives after the client's end until the last answer is written.
      for await (const part of stream.iterator({ destroyOnReturn: false })) {
        parser.push(part);
        for (let packet = parser.next(); packet !== undefined; packet = parser.next()) {
          const answer = await this.#answer(pod, packet.slice(), "tcp");
          if (answer === undefined) return;
          stream.write(frame(answer));
        }
      }
      stream.end();
    } catch (error) {
      say({ event: "question", uid: pod.uid, by: "tcp", refused: (error as Error).message });
    } finally {
      if (!stream.writableEnded) stream.destroy();
    }
  }

  /** Undefined: the packet has no question. */
  async #answer(pod: ServedPod, packet: Bytes, by: Transport): Promise<Bytes | undefined> {
    const common = { event: "question", uid: pod.uid, by } as const;
    let question: NameQuestion | undefined;
    try {
      question = readNameQuestion(packet);
      const { name, type } = question;
      const known = await this.#known(pod, question);
      say({ ...common, name, type, answer: known === undefined ? "a name server" : known.addresses });
      return known === undefined ? await this.#forward(pod, packet, by) : answerMessage(packet, known);
    } catch (error) {
      say({ ...common, ...question, refused: (error as Error).message });
      return question && failureMessage(packet);
    }
  }

  async #known(pod: ServedPod, { name, type }: NameQuestion): Promise<NameAnswer | undefined> {
    const client = await this.#world.workloadOf(pod);
    if (!isAddressType(type)) return undefined;
    const { held } = this.#world;
    return resolveName({ name, type }, client, {
      domain: this.#domain,
      addresses: held.state.addresses,
      servicesNamed: (host) => held.servicesNamed(host),
    });
  }

  /** Asks by the transport of the client. */
  async #forward({ namespace }: ServedPod, packet: Bytes, by: Transport): Promise<Bytes> {
    const { sockets } = this.#world;
    const failures: string[] = [];
    for (const ip of this.#servers) {
      const to = { ip, port: DNS_PORT };
      try {
        if (by === "udp") return await sockets.ask(namespace, to, packet, TIMEOUT);
        return await askByStream(sockets.stream(await sockets.dial(namespace, to, undefined, TIMEOUT)), packet);
      } catch (error) {
        failures.push(`${ip}: ${(error as Error).message}`);
      }
    }
    throw new Error(failures.join("; ") || "no name server");
  }
}

async function askByStream(stream: Socket, packet: Bytes): Promise<Bytes> {
  try {
    stream.setTimeout(TIMEOUT, () => stream.destroy(new Error("no answer in time")));
    stream.write(frame(packet));
    const parser = new FrameParser();
    for await (const part of stream) {
      parser.push(part);
      const answer = parser.next();
      if (answer !== undefined) return answer.slice();
    }
    throw new Error("the connection ended without an answer");
  } finally {
    stream.destroy();
  }
}
