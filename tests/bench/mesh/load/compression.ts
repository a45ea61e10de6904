/**
 * grpc-js clients with and without the offer of gzip, and what their messages weigh on the wire.
 *
 * grpc-js offers gzip always and has no option against that, and it tells nobody how long a message was before it was
 * unpacked. Both are decided in its compression filter, the only place where it is touched.
 *
 * Permissions: none.
 *
 * @module
 */
import { CompressionFilter } from "@grpc/grpc-js/build/src/compression-filter.js";

/** Counts wire bytes of all calls of this process, and takes the offer of gzip away if told to. */
export function watchCompression(gzip: boolean, onBytes: (bytes: number) => void): void {
  const filter = CompressionFilter.prototype;
  const { sendMetadata, sendMessage, receiveMessage } = filter;
  filter.sendMetadata = async function (metadata) {
    const headers = await sendMetadata.call(this, metadata);
    if (!gzip) headers.remove("grpc-accept-encoding");
    return headers;
  };
  filter.sendMessage = async function (message) {
    const sent = await sendMessage.call(this, message);
    onBytes(sent.message.length);
    return sent;
  };
  filter.receiveMessage = async function (message) {
    const received = await message;
    onBytes(received.length);
    return await receiveMessage.call(this, Promise.resolve(received));
  };
}
