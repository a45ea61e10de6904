/**
 * TCP and UDP sockets of other network namespaces, by the machine's C library. A thread enters a namespace, makes a socket and
 * leaves within one turn of the event loop, so nothing else happens there; the socket keeps its namespace for life. The
 * runtime then takes the descriptor as one of its own sockets.
 *
 * Layouts are those of Linux with 64 bits and little endian, x86_64 and aarch64.
 *
 * Permissions: ffi (the C library); the capabilities SYS_ADMIN (namespaces) and NET_ADMIN (marks, foreign sources).
 *
 * @module
 */
import { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { LIBC_PATHS } from "../../../lib/cni/zds/libc.ts";
import { tunnelMark } from "../../../lib/iptables/model/ambient_config.ts";
import type { SocketAddress } from "../../../lib/simulate/types.ts";

const SYMBOLS = {
  setns: { parameters: ["i32", "i32"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  recvfrom: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "buffer"], result: "isize" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  recvmsg: { parameters: ["i32", "buffer", "i32"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  __errno_location: { parameters: [], result: "pointer" },
  /** Waits on a thread of the runtime's pool. */
  poll: { parameters: ["buffer", "u64", "i32"], result: "i32", nonblocking: true },
} as const;

const CLONE_NEWNET = 0x40000000;
const AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10;
const SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_SEQPACKET = 5, NONBLOCK = 0o4000, CLOEXEC = 0o2000000;
const SOL_IP = 0, SOL_SOCKET = 1, SOL_TCP = 6, SOL_IPV6 = 41;
const SO_REUSEADDR = 2, SO_ERROR = 4, SO_LINGER = 13, SO_REUSEPORT = 15, SO_MARK = 36;
const TCP_NODELAY = 1, IP_TRANSPARENT = 19, IPV6_V6ONLY = 26, IPV6_TRANSPARENT = 75;
/** The same number in both families. */
const SO_ORIGINAL_DST = 80;
const MSG_CMSG_CLOEXEC = 0x40000000, MSG_TRUNC = 0x20, MSG_CTRUNC = 0x8;
const SHUT_RDWR = 2;
const POLLIN = 1, POLLOUT = 4;
const [ETIMEDOUT, EINPROGRESS, EAFNOSUPPORT, EADDRNOTAVAIL] = [110, 115, 97, 99];

/** Connections that may wait for an accept. */
const BACKLOG = 256;

/** Longest packet of a question or an answer, bytes. */
const MAX_PACKET = 65_535;

/** A failed call. */
export class SocketError extends Error {
  override readonly name = "SocketError";

  constructor(what: string, readonly errno: number) {
    super(`${what}: error ${errno}`);
  }
}

/** A packet with the address of its sender, as the library has it. */
export interface SentPacket {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly from: Uint8Array<ArrayBuffer>;
}

/** A packet with the descriptors that came with it. */
export interface PassedPacket {
  readonly bytes: Uint8Array;
  readonly descriptors: readonly number[];
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The library's functions. */
export class NetworkSockets {
  readonly #c: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
  /** The program's own namespace. */
  readonly #own: number;

  constructor() {
    const path = LIBC_PATHS.find((one) => isThere(one));
    if (path === undefined) throw new Error(`no C library: expected one of ${LIBC_PATHS.join(", ")}`);
    this.#c = Deno.dlopen(path, SYMBOLS).symbols;
    this.#own = this.#check("open", this.#c.open(text("/proc/thread-self/ns/net"), CLOEXEC));
  }

  /** Listens on a port of all addresses of a family. Undefined: the namespace lacks the family. */
  listen(namespace: number, family: 4 | 6, port: number): number | undefined {
    return this.#listenAt(namespace, family, { ip: family === 4 ? "0.0.0.0" : "::", port });
  }

  /** Listens on a port of the loopback address. Undefined: the namespace lacks the family. */
  listenInside(namespace: number, family: 4 | 6, port: number): number | undefined {
    return this.#listenAt(namespace, family, { ip: loopback(family), port });
  }

  #listenAt(namespace: number, family: 4 | 6, at: SocketAddress): number | undefined {
    const fd = this.#bind(namespace, family, SOCK_STREAM, at);
    if (fd === undefined || this.#c.listen(fd, BACKLOG) === 0) return fd;
    const errno = this.#errno();
    this.#c.close(fd);
    throw new SocketError(`listen at port ${at.port}`, errno);
  }

  /**
   * Takes packets (UDP) at a port of the loopback address: a redirected packet goes there, and its answer must come from
   * there. Undefined: the namespace lacks the family.
   */
  listenForPackets(namespace: number, family: 4 | 6, port: number): number | undefined {
    return this.#bind(namespace, family, SOCK_DGRAM, { ip: loopback(family), port });
  }

  /** The next packet. Undefined: none waits. */
  receive(fd: number): SentPacket | undefined {
    const [bytes, from, length] = [new Uint8Array(MAX_PACKET), new Uint8Array(28), new Uint8Array(4)];
    length[0] = from.length;
    const size = Number(this.#c.recvfrom(fd, bytes, BigInt(bytes.length), 0, from, length));
    return size < 0 ? undefined : { bytes: bytes.slice(0, size), from: from.slice(0, length[0]) };
  }

  /** Sends a packet to the sender of another packet. */
  send(fd: number, bytes: Bytes, to: Bytes): void {
    this.#check("sendto", Number(this.#c.sendto(fd, bytes, BigInt(bytes.length), 0, to, to.length)));
  }

  /**
   * Sends a packet from a namespace, with the tunnel's mark, and waits for the packet that answers.
   *
   * @throws {SocketError} when there is none in time
   */
  async ask(namespace: number, to: SocketAddress, bytes: Bytes, timeout: number): Promise<Bytes> {
    const what = `ask ${to.ip} port ${to.port}`;
    const fd = this.#within(namespace, () => this.#beginDial(to, undefined, SOCK_DGRAM));
    try {
      this.#check(what, Number(this.#c.sendto(fd, bytes, BigInt(bytes.length), 0, null, 0)));
      await this.#ready(fd, POLLIN, timeout, what);
      const answer = this.receive(fd);
      if (answer === undefined) throw new SocketError(what, this.#errno());
      return answer.bytes;
    } finally {
      this.#c.close(fd);
    }
  }

  /** A socket of the tunnel at an address. Undefined: the namespace lacks the family. */
  #bind(namespace: number, family: 4 | 6, type: number, { ip, port }: SocketAddress): number | undefined {
    return this.#within(namespace, () => {
      const fd = this.#c.socket(family === 4 ? AF_INET : AF_INET6, type | NONBLOCK | CLOEXEC, 0);
      if (fd < 0 && this.#errno() === EAFNOSUPPORT) return undefined;
      this.#check("socket", fd);
      try {
        // An old and a new tunnel share the ports during an upgrade.
        for (const option of [SO_REUSEADDR, SO_REUSEPORT]) this.#set(fd, SOL_SOCKET, option, 1);
        this.#set(fd, SOL_SOCKET, SO_MARK, tunnelMark.value);
        if (family === 6) this.#set(fd, SOL_IPV6, IPV6_V6ONLY, 1);
        const address = encodeAddress({ ip, port });
        if (this.#c.bind(fd, address, address.length) < 0) {
          const errno = this.#errno();
          if (family === 6 && errno === EADDRNOTAVAIL) {
            this.#c.close(fd);
            return undefined;
          }
          throw new SocketError(`bind port ${port}`, errno);
        }
        return fd;
      } catch (error) {
        this.#c.close(fd);
        throw error;
      }
    });
  }

  /**
   * Connects from a namespace, with the tunnel's mark.
   *
   * @param source Address of a client, in whose name the connection is made. Undefined: an own address.
   * @throws {SocketError} when there is no connection in time
   */
  async dial(namespace: number, to: SocketAddress, source: string | undefined, timeout: number): Promise<number> {
    const fd = this.#within(namespace, () => this.#beginDial(to, source, SOCK_STREAM));
    try {
      const what = `connect to ${to.ip} port ${to.port}`;
      await this.#ready(fd, POLLOUT, timeout, what);
      const failure = new DataView(this.#get(fd, SOL_SOCKET, SO_ERROR, 4).buffer).getInt32(0, true);
      if (failure !== 0) throw new SocketError(what, failure);
      return fd;
    } catch (error) {
      this.#c.close(fd);
      throw error;
    }
  }

  /** @throws {SocketError} when the descriptor is not ready in time */
  async #ready(fd: number, events: number, timeout: number, what: string): Promise<void> {
    const waited = new Uint8Array(8);
    new DataView(waited.buffer).setInt32(0, fd, true);
    waited[4] = events;
    if (await this.#c.poll(waited, 1n, timeout) !== 1) throw new SocketError(what, ETIMEDOUT);
  }

  #beginDial(to: SocketAddress, source: string | undefined, type: number): number {
    const address = encodeAddress(to);
    const isV4 = address[0] === AF_INET;
    const fd = this.#check("socket", this.#c.socket(address[0]!, type | NONBLOCK | CLOEXEC, 0));
    try {
      this.#set(fd, SOL_SOCKET, SO_MARK, tunnelMark.value);
      if (type === SOCK_STREAM) this.#set(fd, SOL_TCP, TCP_NODELAY, 1);
      if (source !== undefined) {
        if (isV4) this.#set(fd, SOL_IP, IP_TRANSPARENT, 1);
        else this.#set(fd, SOL_IPV6, IPV6_TRANSPARENT, 1);
        const from = encodeAddress({ ip: source, port: 0 });
        this.#check(`bind ${source}`, this.#c.bind(fd, from, from.length));
      }
      if (this.#c.connect(fd, address, address.length) < 0 && this.#errno() !== EINPROGRESS) {
        throw new SocketError(`connect to ${to.ip} port ${to.port}`, this.#errno());
      }
      return fd;
    } catch (error) {
      this.#c.close(fd);
      throw error;
    }
  }

  /** The address that a redirected client dialled. Undefined: the connection was not redirected. */
  originalDestination(fd: number, family: 4 | 6): SocketAddress | undefined {
    try {
      const level = family === 4 ? SOL_IP : SOL_IPV6;
      return decodeAddress(this.#get(fd, level, SO_ORIGINAL_DST, family === 4 ? 16 : 28));
    } catch (error) {
      if (error instanceof SocketError) return undefined;
      throw error;
    }
  }

  /** The other end's address. */
  peer(fd: number): SocketAddress {
    const [address, length] = [new Uint8Array(28), new Uint8Array(4)];
    length[0] = address.length;
    this.#check("getpeername", this.#c.getpeername(fd, address, length));
    return decodeAddress(address);
  }

  /** The descriptor as a socket of the runtime, which closes it. An end of one side leaves the other side open. */
  stream(fd: number): Socket {
    return new Socket({ fd, allowHalfOpen: true, readable: true, writable: true });
  }

  /** Ends a connection with a reset: the other end sees a refusal, not an end. */
  reset(fd: number): void {
    this.#c.setsockopt(fd, SOL_SOCKET, SO_LINGER, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0), 8);
    this.#c.close(fd);
  }

  close(fd: number): void {
    this.#c.close(fd);
  }

  /** Ends a connection in both directions. Who waits for its bytes gets the end; the descriptor stays. */
  shut(fd: number): void {
    this.#c.shutdown(fd, SHUT_RDWR);
  }

  /** Connects to a socket of packets. Undefined: nobody listens. */
  connectPackets(path: string): number | undefined {
    const fd = this.#check("socket", this.#c.socket(AF_UNIX, SOCK_SEQPACKET | NONBLOCK | CLOEXEC, 0));
    const bytes = text(path);
    const address = new Uint8Array(2 + bytes.length);
    address[0] = AF_UNIX;
    address.set(bytes, 2);
    if (this.#c.connect(fd, address, address.length) === 0) return fd;
    this.#c.close(fd);
    return undefined;
  }

  /**
   * The next packet with its descriptors. Undefined: the other side has closed.
   *
   * @throws {SocketError} when the packet is longer than `max` bytes
   */
  receivePassed(fd: number, max: number): PassedPacket | undefined {
    const [data, control, vector, header] = [max, 64, 16, 56].map((length) => new Uint8Array(length)) as [
      Bytes,
      Bytes,
      Bytes,
      Bytes,
    ];
    const pointer = (bytes: Bytes) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
    const part = new DataView(vector.buffer);
    part.setBigUint64(0, pointer(data), true);
    part.setBigUint64(8, BigInt(max), true);
    const message = new DataView(header.buffer);
    message.setBigUint64(16, pointer(vector), true);
    message.setBigUint64(24, 1n, true);
    message.setBigUint64(32, pointer(control), true);
    message.setBigUint64(40, BigInt(control.length), true);
    const length = Number(this.#c.recvmsg(fd, header, MSG_CMSG_CLOEXEC));
    if (length <= 0) return undefined;
    const flags = message.getInt32(48, true);
    if ((flags & (MSG_TRUNC | MSG_CTRUNC)) !== 0) throw new SocketError(`a packet of more than ${max} bytes`, flags);
    const rights = new DataView(control.buffer);
    const end = Number(message.getBigUint64(40, true)) === 0 ? 0 : Number(rights.getBigUint64(0, true));
    const descriptors: number[] = [];
    for (let at = 16; at + 4 <= end; at += 4) descriptors.push(rights.getInt32(at, true));
    return { bytes: data.slice(0, length), descriptors };
  }

  /** Does something in a namespace. No other code runs in the meantime. */
  #within<T>(namespace: number, work: () => T): T {
    this.#check("setns", this.#c.setns(namespace, CLONE_NEWNET));
    try {
      return work();
    } finally {
      // In a foreign namespace the program must not go on.
      if (this.#c.setns(this.#own, CLONE_NEWNET) !== 0) Deno.exit(70);
    }
  }

  #set(fd: number, level: number, option: number, value: number): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setInt32(0, value, true);
    this.#check(`setsockopt ${level} ${option}`, this.#c.setsockopt(fd, level, option, bytes, 4));
  }

  #get(fd: number, level: number, option: number, size: number): Bytes {
    const [value, length] = [new Uint8Array(size), new Uint8Array(4)];
    length[0] = size;
    this.#check(`getsockopt ${level} ${option}`, this.#c.getsockopt(fd, level, option, value, length));
    return value;
  }

  #errno(): number {
    return new Deno.UnsafePointerView(this.#c.__errno_location()!).getInt32();
  }

  #check(what: string, result: number): number {
    if (result < 0) throw new SocketError(what, this.#errno());
    return result;
  }
}

function loopback(family: 4 | 6): string {
  return family === 4 ? "127.0.0.1" : "::1";
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A text with the end that the library expects. */
function text(value: string): Bytes {
  return new TextEncoder().encode(`${value}\0`);
}

function encodeAddress({ ip, port }: SocketAddress): Bytes {
  const address = ipaddr.parse(ip);
  const bytes = address.toByteArray();
  const head = [address.kind() === "ipv4" ? AF_INET : AF_INET6, 0, port >> 8, port & 255];
  return Uint8Array.from(
    address.kind() === "ipv4"
      ? [...head, ...bytes, 0, 0, 0, 0, 0, 0, 0, 0]
      : [...head, 0, 0, 0, 0, ...bytes, 0, 0, 0, 0],
  );
}

function decodeAddress(bytes: Uint8Array): SocketAddress {
  const ip = bytes[0] === AF_INET ? bytes.subarray(4, 8) : bytes.subarray(8, 24);
  return { ip: ipaddr.fromByteArray([...ip]).toString(), port: bytes[2]! << 8 | bytes[3]! };
}
