/**
 * The last pushes as a picture: a bar for each push, as high as its time.
 *
 * @module
 */
import type { PushRecord } from "../xds/push_record.ts";
import { type Html, markup } from "./html.ts";
import { pushBytes, pushTone } from "../debug/pushes.ts";
import { bytesText, counted, millisecondsText } from "../debug/words.ts";

/** Pushes in the picture. */
const TIMELINE_LENGTH = 60;

const WIDTH = 960;
const HEIGHT = 110;
/** Room below the bars. */
const FOOT = 14;

/** Empty when there is no push. @param pushes newest first */
export function timeline(pushes: readonly PushRecord[]): Html {
  const shown = pushes.slice(0, TIMELINE_LENGTH).reverse();
  if (shown.length === 0) return markup``;
  const most = Math.max(1, ...shown.map(({ lastAckMs }) => lastAckMs));
  const step = WIDTH / TIMELINE_LENGTH;
  return markup`
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Time of the last pushes">
      <text x="0" y="10">${millisecondsText(most)} to the last acknowledgement</text>
      <line class="axis" x1="0" x2="${WIDTH}" y1="${HEIGHT - FOOT}" y2="${HEIGHT - FOOT}" />
      ${shown.map((push, i) => bar(push, i * step, step, most))}
    </svg>
  `;
}

function bar(push: PushRecord, x: number, step: number, most: number): Html {
  const room = HEIGHT - FOOT - 16;
  const height = Math.max(2, Math.round((push.lastAckMs / most) * room));
  const every = push.id % 10 === 0 && markup`
    <text x="${x}" y="${HEIGHT - 2}">${push.id}</text>
  `;
  return markup`
    <a href="/debug/pushes#push-${push.id}" id="bar-${push.id}"><title>${title(push)}</title>
      <rect
        class="bar ${pushTone(push)}"
        x="${x + 1}"
        y="${HEIGHT - FOOT - height}"
        width="${step - 2}"
        height="${height}"
      />${every}</a>
  `;
}

function title(push: PushRecord): string {
  const { id, objects, touched, streams, lastAckMs, slowest, pending } = push;
  return [
    `push ${id}: ${counted(objects.length, "object")}`,
    `${touched} of ${counted(streams, "proxy", "proxies")}, ${bytesText(pushBytes(push))}`,
    `${millisecondsText(lastAckMs)}${slowest === "" ? "" : `, slowest ${slowest}`}`,
    ...(pending > 0 ? [`${pending} have not acknowledged it yet`] : []),
  ].join("\n");
}
