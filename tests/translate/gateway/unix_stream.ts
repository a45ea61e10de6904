/**
 * A Unix socket as a Node stream.
 *
 * `node:net` is not usable: on Deno 2.8.3 it closes the descriptor of a Unix socket twice. Test files run as threads of
 * one process. If a thread opens a file between the two closes, the second close takes away the file.
 *
 * Permissions: read and write of the socket's path.
 *
 * @module
 */
import { Duplex } from "node:stream";

/** Connects; the stream owns the connection. */
export async function unixStream(path: string): Promise<Duplex> {
  const connection = await Deno.connect({ transport: "unix", path });
  return new Duplex({
    allowHalfOpen: false,
    read() {
      const buffer = new Uint8Array(16 * 1024);
      connection.read(buffer).then(
        (length) => this.push(length === null ? null : buffer.subarray(0, length)),
        (error) => this.destroy(error),
      );
    },
    write(bytes: Uint8Array, _encoding, done) {
      writeAll(connection, bytes).then(() => done(), done);
    },
    final(done) {
      connection.closeWrite().then(() => done(), done);
    },
    destroy(error, done) {
      connection.close();
      done(error);
    },
  });
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}
