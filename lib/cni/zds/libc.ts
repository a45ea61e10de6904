/**
 * Packet sockets with descriptors, by the machine's C library: the runtime has neither. Layouts are those of Linux with
 * 64 bits and little endian, x86_64 and aarch64.
 *
 * The code reads no memory through pointers. With a permission for single paths the runtime refuses such reads, so that
 * the library itself copies an error number, or tells the address of a buffer.
 *
 * Permissions: ffi (the paths of {@link LIBC_PATHS}).
 *
 * @module
 */

/** Paths of the library: Debian on both processors, others. The permission set has the same paths. */
export const LIBC_PATHS = [
  "/usr/lib/x86_64-linux-gnu/libc.so.6",
  "/usr/lib/aarch64-linux-gnu/libc.so.6",
  "/usr/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
] as const;

/** The functions in use. The manual's sections 2 and 3 describe each by name. */
const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  accept4: { parameters: ["i32", "pointer", "pointer", "i32"], result: "i32" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  sendmsg: { parameters: ["i32", "buffer", "i32"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  unlink: { parameters: ["buffer"], result: "i32" },
  fstat: { parameters: ["i32", "buffer"], result: "i32" },
  eventfd: { parameters: ["u32", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  /** Waits on a thread of the runtime's pool. */
  poll: { parameters: ["buffer", "u64", "i32"], result: "i32", nonblocking: true },
  __errno_location: { parameters: [], result: "pointer" },
  memcpy: { parameters: ["buffer", "pointer", "usize"], result: "pointer" },
  /** `memmove` of no bytes: it returns the address of its first argument. */
  addressOf: { name: "memmove", parameters: ["buffer", "buffer", "usize"], result: "u64" },
} as const;

const AF_UNIX = 1;
const SOCK_SEQPACKET = 5;
const NONBLOCK = 0o4000;
const CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const MSG_NOSIGNAL = 0x4000;
const SHUT_RDWR = 2;
const POLLIN = 1;
const [EINTR, EAGAIN, ECONNABORTED] = [4, 11, 103];

/** Longest path of a socket, bytes. */
const MAX_PATH = 107;

/** Connections that may wait for an accept. */
const BACKLOG = 16;

/** A failed call. */
export class LibcError extends Error {
  override readonly name = "LibcError";
}

type PacketBytes = Uint8Array<ArrayBuffer>;

/** The library's functions, with errors as exceptions. All descriptors are non-blocking. */
export class Libc {
  readonly #c: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

  private constructor(symbols: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"]) {
    this.#c = symbols;
  }

  /**
   * Opens the first library that there is.
   * @throws {LibcError} With the reason for each path.
   */
  static open(paths: readonly string[] = LIBC_PATHS): Libc {
    const reasons: string[] = [];
    for (const path of paths) {
      try {
        return new Libc(Deno.dlopen(path, SYMBOLS).symbols);
      } catch (error) {
        reasons.push(`${path}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      }
    }
    throw new LibcError(reasons.join("; "));
  }

  /**
   * Listens for packet connections. A socket that an earlier process left at the path is removed.
   * @throws {LibcError} When the path cannot be used.
   */
  listen(path: string): number {
    const bytes = new TextEncoder().encode(path);
    if (bytes.length > MAX_PATH) throw new LibcError(`${path}: expected a path of at most ${MAX_PATH} bytes`);
    this.#c.unlink(text(path));
    const fd = this.#check("socket", this.#c.socket(AF_UNIX, SOCK_SEQPACKET | NONBLOCK | CLOEXEC, 0));
    const address = new Uint8Array(2 + bytes.length + 1);
    address[0] = AF_UNIX;
    address.set(bytes, 2);
    this.#check(`bind ${path}`, this.#c.bind(fd, address, address.length));
    this.#check(`listen ${path}`, this.#c.listen(fd, BACKLOG));
    return fd;
  }

  /** The next waiting connection. Undefined: none waits. */
  accept(listener: number): number | undefined {
    const fd = this.#c.accept4(listener, null, null, NONBLOCK | CLOEXEC);
    return fd >= 0 ? fd : this.#retry("accept4", [EINTR, EAGAIN, ECONNABORTED]);
  }

  /** The next packet, at most `max` bytes. `none`: nothing has come yet. `end`: the other side has closed. */
  receive(fd: number, max: number): PacketBytes | "none" | "end" {
    const buffer = new Uint8Array(max);
    const length = Number(this.#c.recv(fd, buffer, BigInt(max), 0));
    if (length > 0) return buffer.slice(0, length);
    if (length === 0) return "end";
    return this.#errno() === EINTR || this.#errno() === EAGAIN ? "none" : "end";
  }

  /** Sends a packet, and a copy of a descriptor with it. False: the connection is broken, or takes no more. */
  send(fd: number, packet: PacketBytes, passed?: number): boolean {
    const vector = new Uint8Array(16);
    const part = new DataView(vector.buffer);
    part.setBigUint64(0, this.#addressOf(packet), true);
    part.setBigUint64(8, BigInt(packet.length), true);
    const control = new Uint8Array(24);
    const rights = new DataView(control.buffer);
    rights.setBigUint64(0, 20n, true);
    rights.setInt32(8, SOL_SOCKET, true);
    rights.setInt32(12, SCM_RIGHTS, true);
    rights.setInt32(16, passed ?? -1, true);
    const header = new Uint8Array(56);
    const message = new DataView(header.buffer);
    message.setBigUint64(16, this.#addressOf(vector), true);
    message.setBigUint64(24, 1n, true);
    if (passed !== undefined) {
      message.setBigUint64(32, this.#addressOf(control), true);
      message.setBigUint64(40, BigInt(control.length), true);
    }
    const sent = Number(this.#c.sendmsg(fd, header, MSG_NOSIGNAL));
    // The buffers are alive until here, whatever an engine makes of the lines above.
    return sent === packet.length && vector.length + control.length > 0;
  }

  /** Opens a file for passing on. Undefined: it cannot be opened. */
  openFile(path: string): number | undefined {
    const fd = this.#c.open(text(path), CLOEXEC);
    return fd < 0 ? undefined : fd;
  }

  /** Device and inode of an open file, `device:inode`. */
  identity(fd: number): string {
    const stat = new Uint8Array(144);
    this.#check("fstat", this.#c.fstat(fd, stat));
    const view = new DataView(stat.buffer);
    return `${view.getBigUint64(0, true)}:${view.getBigUint64(8, true)}`;
  }

  close(fd: number): void {
    this.#c.close(fd);
  }

  /** Closes a connection. While a wait has the descriptor, a close alone would leave the other side without an end. */
  hangUp(fd: number): void {
    this.#c.shutdown(fd, SHUT_RDWR);
    this.#c.close(fd);
  }

  /** A descriptor that {@link Libc.wake} makes readable. */
  waker(): number {
    return this.#check("eventfd", this.#c.eventfd(0, NONBLOCK | CLOEXEC));
  }

  wake(fd: number): void {
    this.#c.write(fd, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0), 8n);
  }

  unwake(fd: number): void {
    this.#c.read(fd, new Uint8Array(8), 8n);
  }

  /** Waits until descriptors are readable or have ended, and resolves with these. */
  async readable(fds: readonly number[]): Promise<number[]> {
    const buffer = new Uint8Array(8 * fds.length);
    const view = new DataView(buffer.buffer);
    fds.forEach((fd, i) => {
      view.setInt32(8 * i, fd, true);
      view.setInt16(8 * i + 4, POLLIN, true);
    });
    await this.#c.poll(buffer, BigInt(fds.length), -1);
    return fds.filter((_, i) => view.getInt16(8 * i + 6, true) !== 0);
  }

  #addressOf(bytes: PacketBytes): bigint {
    return this.#c.addressOf(bytes, bytes, 0n);
  }

  #errno(): number {
    const copy = new Uint8Array(4);
    this.#c.memcpy(copy, this.#c.__errno_location(), 4n);
    return new DataView(copy.buffer).getInt32(0, true);
  }

  #check(what: string, result: number): number {
    if (result < 0) throw new LibcError(`${what}: error ${this.#errno()}`);
    return result;
  }

  #retry(what: string, harmless: readonly number[]): undefined {
    const errno = this.#errno();
    if (!harmless.includes(errno)) throw new LibcError(`${what}: error ${errno}`);
    return undefined;
  }
}

/** A text with the end that the library expects. */
function text(value: string): PacketBytes {
  return new TextEncoder().encode(`${value}\0`);
}
